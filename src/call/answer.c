// SPDX-License-Identifier: Apache-2.0
#include "call/answer.h"

#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/lock.h"
#include "base/secret.h"
#include "base/utf8.h"
#include "call/private.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/repo/remotes.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "verbs/sequencer/operation_state.h"

/* All cursors; those of one owner, and the arguments of these, by al_json_bytes(). */
#define CURSORS_MAX       4096
#define OWNER_CURSORS_MAX 256
#define OWNER_BYTES_MAX   ((size_t)4 << 20)
/* A cursor has so many hexadecimal digits. */
#define CURSOR_CHARS 16

static const char cursor_name[] = "cursor", max_bytes_name[] = "max_bytes";

struct entry {
    struct entry *next; /* an older one */
    char word[CURSOR_CHARS + 1];
    uint64_t owner;                   /* of the session */
    const struct al_session *session; /* compared, never followed */
    uint64_t number;                  /* of the session: a later one may be at its address */
    const struct al_tool *tool;
    json_t *arguments; /* without cursor and max_bytes */
    size_t nbytes;     /* of these */
    struct al_cursor_place place;
};

static struct {
    pthread_mutex_t lock;
    struct entry *newest;
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const struct entry *find_locked(const struct al_session *session, const char *word)
{
    const struct entry *entry = store.newest;

    while (entry && !(entry->session == session && entry->number == session->number &&
                      !strcmp(entry->word, word)))
        entry = entry->next;
    return entry;
}

/* Put a cursor in front, and forget the older ones that are too many or too large.  The cursors of
 * an owner are limited, so that nobody can make the few of another one be forgotten. */
static void add_locked(struct entry *added)
{
    size_t all = 0, count = 0, bytes = 0;

    added->next = store.newest;
    store.newest = added;
    for (struct entry **at = &store.newest; *at;) {
        struct entry *entry = *at;
        const bool is_owners = entry->owner == added->owner;

        all++;
        count += is_owners;
        bytes += is_owners ? entry->nbytes : 0;
        if (all == 1 || (all <= CURSORS_MAX &&
                         !(is_owners && (count > OWNER_CURSORS_MAX || bytes > OWNER_BYTES_MAX)))) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        json_decref(entry->arguments);
        free(entry);
    }
}

static int refuse(const char *why, struct al_error *err)
{
    return al_error_remedy(al_error_set(err, AL_ERR_BAD_ARGS, "cursor: %s", why), err,
                           "Make the call again without cursor, with the arguments it had.");
}

static int refuse_unknown(struct al_error *err)
{
    return refuse("it is not of this session, or too old to go on from", err);
}

static bool is_paging(const char *name)
{
    return !strcmp(name, cursor_name) || !strcmp(name, max_bytes_name) || !strcmp(name, "maxBytes");
}

/* The arguments that say what the call is about.  The caller owns the reference. */
static json_t *without_paging(const json_t *arguments)
{
    json_t *rest = al_json_object(), *value;
    const char *name;

    json_object_foreach((json_t *)arguments, name, value)
    {
        if (!is_paging(name))
            al_json_set(rest, name, json_deep_copy(value));
    }
    return rest;
}

void al_cursor_add(const struct al_call *call, const struct al_cursor_place *place,
                   struct al_str *out)
{
    const struct al_session *session = al_call_session(call);
    struct entry *entry = al_calloc(1, sizeof(*entry));

    *entry = (struct entry){ .owner = session->owner,
                             .session = session,
                             .number = session->number,
                             .tool = al_call_tool(call),
                             .arguments = without_paging(al_call_arguments(call)),
                             .place = *place };
    entry->nbytes = al_json_bytes(entry->arguments);
    al_random_hex(CURSOR_CHARS / 2, entry->word);
    al_str_adds(out, entry->word);
    al_hold(&store.lock);
    add_locked(entry);
}

int al_cursor_find(const struct al_session *session, const char *cursor,
                   struct al_cursor_place *ret_place, struct al_error *err)
{
    const struct entry *entry;

    al_hold(&store.lock);
    entry = find_locked(session, cursor);
    if (!entry)
        return refuse_unknown(err);
    *ret_place = entry->place;
    return 0;
}

/* The value that a tool's parameter has among the arguments, under any of its spellings. */
static const json_t *value_of(const struct al_tool *tool, const char *name, const json_t *arguments)
{
    const struct al_param *param = al_params_find(tool->params, tool->nparams, name);

    return param ? al_args_given_as(param, arguments) : json_object_get(arguments, name);
}

/* Give the arguments of before the ones that may be new, and refuse others. */
static int merge(const struct al_tool *tool, const json_t *given, json_t *whole,
                 struct al_error *err)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)given, name, value)
    {
        const json_t *before = value_of(tool, name, whole);

        if (is_paging(name))
            al_json_set(whole, name, json_deep_copy(value));
        else if (!before || !json_equal(before, value))
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "cursor: it goes on with the arguments of the call it is from, "
                                "where '%.64s' was not this; give the cursor alone, or leave it "
                                "out for another call",
                                name);
    }
    return 0;
}

int al_cursor_expand(const struct al_session *session, const struct al_tool *tool,
                     const json_t *given, json_t **ret_arguments, struct al_error *err)
{
    const char *cursor = json_string_value(json_object_get(given, cursor_name));
    al_auto(al_json_decrefp) json_t *whole = NULL;
    const struct entry *entry;
    int r;

    *ret_arguments = NULL;
    if (!cursor)
        return 0; /* the decoder refuses what is no string */
    al_hold(&store.lock);
    entry = find_locked(session, cursor);
    if (!entry)
        return refuse_unknown(err);
    if (entry->tool != tool)
        return al_error_set(err, AL_ERR_BAD_ARGS, "cursor: it goes on with %s, not with %s",
                            entry->tool->name, tool->name);
    whole = json_deep_copy(entry->arguments);
    r = merge(tool, given, whole, err);
    if (r == 0)
        *ret_arguments = al_take(&whole);
    return r;
}

/* Kept for the lines at the end: what is left, and the cursor. */
#define TAIL_BYTES 700u

void al_pages_clear(struct al_pages *pages)
{
    al_str_clear(&pages->text);
}

int al_pages_begin(struct al_pages *pages, struct al_call *call, const struct al_page *page,
                   struct al_error *err)
{
    int r;

    pages->call = call;
    pages->max_bytes = (size_t)page->max_bytes.value - TAIL_BYTES;
    sha256_init(&pages->passed);
    if (!page->cursor)
        return 0;
    r = al_cursor_find(al_call_session(call), page->cursor, &pages->from, err);
    pages->part = pages->from.part;
    return r;
}

/* The digest of what was added so far, and `len` bytes more. */
static void digest_before(const struct al_pages *pages, const char *unit, size_t len,
                          uint8_t digest[SHA256_DIGEST_SIZE])
{
    struct sha256_ctx sum = pages->passed;

    sha256_update(&sum, len, (const uint8_t *)unit);
    sha256_digest(&sum, SHA256_DIGEST_SIZE, digest);
}

static bool is_continued(const struct al_pages *pages)
{
    return pages->from.unit || pages->from.offset;
}

/* The unit in which the page begins: what is before has to be what it was. */
static bool is_where_it_was(const struct al_pages *pages, const char *unit, size_t len)
{
    uint8_t digest[SHA256_DIGEST_SIZE];

    if (pages->from.offset > len)
        return false;
    digest_before(pages, unit, pages->from.offset, digest);
    return !memcmp(digest, pages->from.before, sizeof(digest));
}

bool al_pages_shows(const struct al_pages *pages)
{
    return pages->at >= pages->from.unit;
}

static void stop_at(struct al_pages *pages, const char *unit, uint64_t offset)
{
    pages->full = true;
    pages->next =
        (struct al_cursor_place){ .part = pages->part, .unit = pages->at, .offset = offset };
    digest_before(pages, unit, offset, pages->next.before);
}

void al_pages_lead(struct al_pages *pages, const char *line)
{
    if (!is_continued(pages) || pages->at != pages->from.unit || pages->text.len)
        return;
    al_text_sanitize(line, strlen(line), &pages->text);
    pages->base = pages->text.len;
}

void al_pages_stop(struct al_pages *pages, const char *more)
{
    if (pages->full || pages->moved)
        return;
    stop_at(pages, "", 0);
    pages->stopped = more;
}

/* The part has become shorter than the cursor's place, or ends there and was another. */
static bool is_not_reached(const struct al_pages *pages)
{
    return pages->at < pages->from.unit || (pages->at == pages->from.unit && is_continued(pages) &&
                                            !pages->full && !is_where_it_was(pages, "", 0));
}

void al_pages_begin_part(struct al_pages *pages, uint64_t part, const char *id, size_t len)
{
    if (pages->full || pages->moved)
        return;
    if (part != pages->from.part) {
        pages->moved = is_not_reached(pages);
        pages->from = (struct al_cursor_place){ .part = part };
    }
    pages->part = part;
    sha256_init(&pages->passed);
    sha256_update(&pages->passed, len, (const uint8_t *)id);
    pages->at = 1;
}

/* The part of a unit that does not fit which is shown: nothing if it fits on a page of its own,
 * else the lines there is room for, else a part of its first line. */
static size_t part_to_show(struct al_pages *pages, const char *text, size_t len, size_t room)
{
    const char *end;

    if (len <= pages->max_bytes && pages->text.len > pages->base)
        return 0;
    end = room ? memrchr(text, '\n', room) : NULL;
    if (end)
        return (size_t)(end - text) + 1;
    if (pages->text.len > pages->base)
        return 0;
    pages->cut_in_line = true;
    return al_utf8_floor(text, room);
}

static void show(struct al_pages *pages, const char *unit, size_t skipped, size_t len)
{
    const char *text = unit + skipped;
    size_t left = len - skipped, room, part;

    room = pages->max_bytes > pages->text.len ? pages->max_bytes - pages->text.len : 0;
    if (left <= room) {
        al_str_add(&pages->text, text, left);
        return;
    }
    part = part_to_show(pages, text, left, room);
    al_str_add(&pages->text, text, part);
    stop_at(pages, unit, skipped + part);
}

static bool add_safe(struct al_pages *pages, const char *unit, size_t len)
{
    bool here = pages->at == pages->from.unit;

    if (here && is_continued(pages) && !is_where_it_was(pages, unit, len)) {
        pages->moved = true;
        return false;
    }
    if (al_pages_shows(pages))
        show(pages, unit, here ? pages->from.offset : 0, len);
    if (pages->full)
        return false;
    sha256_update(&pages->passed, len, (const uint8_t *)unit);
    pages->at++;
    return true;
}

bool al_pages_add(struct al_pages *pages, const char *unit, size_t len)
{
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;

    if (pages->full || pages->moved)
        return false;
    al_text_sanitize(unit, len, &safe);
    return add_safe(pages, safe.buf, safe.len);
}

bool al_pages_adds(struct al_pages *pages, const char *unit)
{
    return al_pages_add(pages, unit, strlen(unit));
}

bool al_pages_addf(struct al_pages *pages, const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str unit = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&unit, fmt, args);
    va_end(args);
    return al_pages_add(pages, unit.buf, unit.len);
}

/* The advice to a user at a terminal, whose next call cannot have a cursor of this one. */
static void add_larger(const struct al_pages *pages, struct al_str *out)
{
    if (pages->stopped)
        al_str_addf(out, "%s\n", pages->stopped);
    else if (pages->max_bytes + TAIL_BYTES < AL_ANSWER_MAX_BYTES)
        al_str_addf(out, "max_bytes=%d shows more\n", AL_ANSWER_MAX_BYTES);
    else
        al_str_adds(out, "max_bytes cannot be larger; ask for a part\n");
}

static void add_tail(struct al_pages *pages, const char *left)
{
    struct al_str *out = &pages->text;

    if (out->len && out->buf[out->len - 1] != '\n')
        al_str_addc(out, '\n');
    al_str_adds(out, "-- ");
    if (pages->cut_in_line)
        al_str_adds(out, "cut in the middle of a line -- ");
    if (*left)
        al_str_addf(out, "%s -- ", left);
    if (al_call_session(pages->call)->is_one_call) {
        add_larger(pages, out);
        return;
    }
    al_str_adds(out, "go on with cursor \"");
    al_cursor_add(pages->call, &pages->next, out);
    al_str_adds(out, "\"\n");
}

int al_pages_end(struct al_pages *pages, const char *left, struct al_result *result,
                 struct al_error *err)
{
    if (pages->moved || is_not_reached(pages))
        return refuse("the repository has changed since, and what follows would not fit what was "
                      "shown",
                      err);
    if (pages->full)
        add_tail(pages, left);
    result->truncated = pages->full;
    al_answer_text(&pages->text, result);
    return 0;
}

void al_answer_text(struct al_str *text, struct al_result *result)
{
    al_str_trim_end(text);
    al_str_clear(&result->text);
    result->text = *text;
    *text = AL_STR_INIT;
}

struct al_counted al_counted(uint64_t count, const char *one, const char *many)
{
    const char *noun = count == 1 ? one : many;
    struct al_counted counted;
    char number[32] = "";
    size_t at = sizeof(number) - 1;

    for (size_t digits = 0; !digits || count; digits++, count /= 10) {
        if (digits && digits % 3 == 0)
            number[--at] = ',';
        number[--at] = (char)('0' + count % 10);
    }
    snprintf(counted.text, sizeof(counted.text), "%s%s%s", number + at, noun ? " " : "",
             noun ? noun : "");
    return counted;
}

void al_answer_add_more(uint64_t count, uint64_t max, const char *one, const char *many,
                        struct al_str *out)
{
    al_str_addf(out, "%s%s", count > max ? "more than " : "",
                al_counted(count > max ? max : count, one, many).text);
}

void al_answer_add_items(const struct al_strv *items, size_t max_bytes, struct al_str *out)
{
    al_answer_add_items_of(items, items->count, max_bytes, out);
}

void al_answer_add_items_of(const struct al_strv *items, size_t total, size_t max_bytes,
                            struct al_str *out)
{
    size_t begin = out->len, i;

    for (i = 0; i < items->count; i++) {
        if (i && out->len - begin + strlen(items->items[i]) > max_bytes)
            break;
        al_str_addf(out, "%s%s", i ? ", " : "", items->items[i]);
    }
    if (i < total)
        al_str_addf(out, ", … and %s more", al_counted(total - i, NULL, NULL).text);
}

void al_answer_add_plain(const char *param, const char *text, struct al_str *out)
{
    if (strpbrk(text, "|[") || strstr(text, ".*") || strstr(text, "\\("))
        al_str_addf(out, "%s is plain text; regex: true makes it an expression\n", param);
}

#define REMOTES "refs/remotes/"

static void add_tracking(const struct al_worktree_state *state, struct al_str *out)
{
    if (!state->upstream)
        return;
    if (state->is_gone)
        al_place_addf(out, ", its upstream %s is gone", state->upstream);
    else if (state->ahead && state->behind)
        al_place_addf(out, " %" PRIu64 " ahead of and %" PRIu64 " behind %s", state->ahead,
                      state->behind, state->upstream);
    else if (state->ahead || state->behind)
        al_place_addf(out, " %" PRIu64 " %s %s", state->ahead + state->behind,
                      state->ahead ? "ahead of" : "behind", state->upstream);
    else if (*state->head)
        al_place_addf(out, " even with %s", state->upstream);
}

static void read_pushed(struct al_call *call, struct al_worktree_state *state)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    al_auto(al_freep) char *name = NULL;
    al_auto(al_freep) char *tracking = NULL;
    size_t ahead, behind;

    if (state->upstream || !state->branch || !state->head || !*state->head)
        return;
    name = al_remote_push_default(repo, state->branch);
    if (!name)
        name = al_remote_default(repo, state->branch);
    if (al_remote_find(repo, name, &remote, NULL) == 0)
        tracking = al_remote_tracking(&remote, state->branch);
    if (!tracking || !al_starts_with(tracking, REMOTES) || !al_ref_exists(&repo->at, tracking) ||
        al_git_count_apart(repo, state->head, tracking, &ahead, &behind, NULL) < 0)
        return;
    state->upstream = al_strdup(tracking + strlen(REMOTES));
    state->ahead = ahead;
    state->behind = behind;
}

void al_state_add_branch(struct al_call *call, struct al_worktree_state *state, struct al_str *out)
{
    read_pushed(call, state);
    if (!state->branch && !state->is_broken) {
        al_str_addf(out, "detached at %.*s", AL_SHORT_ID, state->head ? state->head : "");
        return;
    }
    al_place_add_name(state->branch ? state->branch : "HEAD", out);
    add_tracking(state, out);
    if (!state->head || !*state->head)
        al_str_adds(out, state->is_broken ? ", its reference is broken" : ", no commits yet");
}

void al_state_add_operation(const struct al_repo *repo, struct al_str *out)
{
    enum al_operation_state state = al_git_operation_state(repo);
    unsigned long step, last;

    if (state == AL_IN_PROGRESS_NONE)
        return;
    al_str_adds(out, state == AL_IN_PROGRESS_AM ? "git am" : al_operation_state_name(state));
    if (al_git_operation_step(repo, &step, &last))
        al_str_addf(out, " %lu/%lu", step, last);
}

void al_state_add_waiting(struct al_call *call, struct al_str *out)
{
    const struct al_repo *repo = al_call_repo(call);
    const enum al_operation_state state = al_git_operation_state(repo);
    al_auto(al_freep) char *saved = al_operation_oid(repo, AL_WAITING_CHANGES);
    al_auto(al_freep) char *base = al_asprintf("%s^1", saved ? saved : "");
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;

    if (!saved)
        return;
    /* git may have removed it: it is in the store then. */
    (void)al_git_list_changed(repo, base, saved, &files, NULL);
    al_str_adds(out, "Uncommitted changes");
    if (files.count)
        al_str_addf(out, " of %s", al_counted(files.count, "file", "files").text);
    if (state != AL_IN_PROGRESS_NONE)
        al_str_addf(out, " wait until the %s ends.\n", al_operation_state_noun(state));
    else
        al_str_adds(out, " wait: git_conflicts with action continue brings them back.\n");
}

static void add_number(size_t count, const char *what, struct al_str *out)
{
    if (count)
        al_str_addf(out, ", %s", al_counted(count, what, what).text);
}

/* Append e.g. "main 3 ahead of origin/main, 2 staged, 1 not staged, rebase 2/5, 1 conflict", with a
 * newline.  One git child; when it fails, only what git's files say. */
static void state_line(struct al_call *call, struct al_str *out)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;
    al_auto(al_str_clear) struct al_str operation = AL_STR_INIT;
    al_auto(al_freep) char *waiting = NULL;

    if (!repo)
        return;
    if (al_location_is_bare(&repo->at) ||
        al_git_read_worktree_state(repo, "no", NULL, NULL, &state, NULL) < 0)
        al_worktree_state_read_head(repo, &state);
    waiting = al_operation_oid(repo, AL_WAITING_CHANGES);
    al_state_add_branch(call, &state, out);
    add_number(state.staged, "staged", out);
    add_number(state.unstaged, "not staged", out);
    al_state_add_operation(repo, &operation);
    if (operation.len)
        al_str_addf(out, ", %s", operation.buf);
    else if (waiting)
        al_str_adds(out, ", uncommitted changes wait");
    add_number(state.conflicts, state.conflicts == 1 ? "conflict" : "conflicts", out);
    al_str_addc(out, '\n');
}

void al_answer_done(struct al_call *call, struct al_result *result)
{
    al_auto(al_str_clear) struct al_str whole = AL_STR_INIT;

    al_text_sanitize(result->text.buf, result->text.len, &whole);
    result->truncated = al_text_truncate(&whole, AL_ANSWER_DEFAULT_BYTES);
    if (whole.len && whole.buf[whole.len - 1] != '\n')
        al_str_addc(&whole, '\n');
    state_line(call, &whole);
    al_answer_text(&whole, result);
}

void al_place_add_name(const char *name, struct al_str *out)
{
    al_text_add_shown_line(name, out);
}

void al_place_addf(struct al_str *out, const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    const bool ends = al_ends_with(fmt, "\n");
    va_list args;

    va_start(args, fmt);
    al_str_addv(&line, fmt, args);
    va_end(args);
    al_str_truncate(&line, line.len - ends);
    al_place_add_name(line.buf, out);
    al_str_adds(out, ends ? "\n" : "");
}

/* The length of the leading components that both paths have, with their '/'. */
static size_t common_len(const char *dir, const char *path)
{
    size_t common = 0;

    for (size_t i = 0;; i++) {
        if (dir[i] == '\0' && path[i] == '/')
            return i + 1;
        if (dir[i] != path[i] || dir[i] == '\0')
            return common;
        if (dir[i] == '/')
            common = i + 1;
    }
}

void al_place_add(const struct al_repo *repo, const char *path, struct al_str *out)
{
    const char *dir = al_fs_beneath(repo->at.top, repo->at.dir);
    size_t common;

    if (!dir || !*dir) {
        al_place_add_name(*path ? path : ".", out);
        return;
    }
    common = common_len(dir, path);
    if (common > strlen(dir))
        dir += strlen(dir);
    else
        dir += common;
    for (bool in_name = false; *dir; dir++) {
        if (*dir != '/' && !in_name)
            al_str_adds(out, "../");
        in_name = *dir != '/';
    }
    if (path[common])
        al_place_add_name(path + common, out);
    else if (out->len && out->buf[out->len - 1] == '/')
        al_str_truncate(out, out->len - 1);
    else
        al_str_adds(out, ".");
}

char *al_place(const struct al_repo *repo, const char *path)
{
    struct al_str out = AL_STR_INIT;

    al_place_add(repo, path, &out);
    return al_str_detach(&out);
}

int al_place_from_argument(const struct al_repo *repo, const char *param, const char *given,
                           char **ret_path, struct al_error *err)
{
    al_auto(al_freep) char *word = NULL, *abs = NULL;
    int r = al_repo_file(repo, param, *given ? given : ".", &word, err);
    const char *rest;

    if (r < 0)
        return r;
    abs = al_beneath_join(repo->at.dir, word);
    rest = al_fs_beneath(repo->at.top, abs);
    *ret_path = al_strdup(rest ? rest : "");
    return 0;
}

/** A directory is opened while this many lines are left for what is in it. */
#define LINES_MIN 3

struct group {
    size_t first, count;
    size_t len; /* of the path with its '/'; 0: a file */
};

struct collapse {
    const struct al_strv *paths;
    void (*take)(void *payload, const char *path, size_t count, size_t index);
    void *payload;
};

/* The group at `first`: a file, or all paths in one directory below `prefix_len` bytes. */
static struct group group_at(const struct al_strv *paths, size_t first, size_t end,
                             size_t prefix_len)
{
    struct group group = { .first = first, .count = 1 };
    const char *path = paths->items[first], *slash = strchr(path + prefix_len, '/');

    group.len = slash && slash[1] ? (size_t)(slash - path) + 1 : 0;
    while (group.len && first + group.count < end &&
           !strncmp(paths->items[first + group.count], path, group.len))
        group.count++;
    return group;
}

static size_t count_groups(const struct al_strv *paths, size_t first, size_t end, size_t prefix_len)
{
    size_t count = 0;

    for (size_t at = first; at < end; count++)
        at += group_at(paths, at, end, prefix_len).count;
    return count;
}

static void take_files(const struct collapse *to, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        to->take(to->payload, to->paths->items[i], 1, i);
}

static void walk(const struct collapse *to, size_t first, size_t end, size_t prefix_len,
                 size_t max_lines);

/* Show a directory: its files if there is room, else what is in it collapsed, else its number.
 * Returns the lines it may have taken. */
static size_t take_group(const struct collapse *to, const struct group *group, size_t share)
{
    if (group->count <= share || !group->len) {
        take_files(to, group->first, group->first + group->count);
        return group->count;
    }
    if (share < LINES_MIN ||
        count_groups(to->paths, group->first, group->first + group->count, group->len) > share) {
        al_auto(al_freep) char *path = al_strndup(to->paths->items[group->first], group->len);

        to->take(to->payload, path, group->count, group->first);
        return 1;
    }
    walk(to, group->first, group->first + group->count, group->len, share);
    return share;
}

/* Each group has one line; what is left is shared by the groups in their order. */
static void walk(const struct collapse *to, size_t first, size_t end, size_t prefix_len,
                 size_t max_lines)
{
    size_t groups = count_groups(to->paths, first, end, prefix_len);
    size_t lines = max_lines;

    for (size_t at = first; at < end && groups; groups--) {
        struct group group = group_at(to->paths, at, end, prefix_len);
        size_t share = lines > groups ? lines - groups + 1 : 1, used;

        if (lines <= 1 && groups > 1) { /* too many even so */
            to->take(to->payload, "", end - at, at);
            return;
        }
        used = take_group(to, &group, groups > 1 && group.count > share / 2 ? share / 2 : share);
        lines -= used < lines ? used : lines;
        at += group.count;
    }
}

void al_collapse(const struct al_strv *paths, size_t max_lines,
                 void (*take)(void *payload, const char *path, size_t count, size_t index),
                 void *payload)
{
    const struct collapse to = { .paths = paths, .take = take, .payload = payload };

    if (paths->count <= max_lines)
        take_files(&to, 0, paths->count);
    else
        walk(&to, 0, paths->count, 0, max_lines);
}
