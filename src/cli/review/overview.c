// SPDX-License-Identifier: Apache-2.0
#include "cli/review/overview.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/redact.h"
#include "guard/rules/effects.h"
#include "guard/text.h"
#include "history/journal.h"
#include "util/fs.h"
#include "util/json.h"

/* The journal cuts a longer summary (AL_JOURNAL_RECORD_MAX_BYTES).  What is redacted after the cut
 * may be a little different there, so less is compared. */
#define COMPARED_BYTES 2048u

struct al_review_match al_review_match_begin(const struct al_review_list *waiting)
{
    return (struct al_review_match){
        .waiting = waiting,
        .seen = al_calloc((waiting ? waiting->count : 0) + 1, sizeof(bool)),
    };
}

void al_review_match_clear(struct al_review_match *match)
{
    free(al_take(&match->seen));
}

static bool has_tool(const json_t *entry, const json_t *call)
{
    const char *asked = al_json_get_string(entry, "tool"), *runs = al_json_get_string(call, "tool");

    return asked && runs && !strcmp(asked, runs);
}

/* The journal has the summary without secrets, and a question has it whole. */
static bool has_summary(const json_t *entry, const json_t *call)
{
    const char *asked = al_json_get_string(entry, "summary");
    const char *runs = al_json_get_string(call, "summary");
    al_auto(al_str_clear) struct al_str clean = AL_STR_INIT;

    if (!asked || !runs)
        return false;
    al_redact_text(asked, strlen(asked), &clean);
    return !strncmp(clean.buf, runs, COMPARED_BYTES);
}

bool al_review_match_take(struct al_review_match *match, long pid, const json_t *call)
{
    for (size_t i = 0; match->waiting && i < match->waiting->count; i++) {
        const struct al_review_waiting *question = &match->waiting->items[i];

        if (!match->seen[i] && question->pid == pid && has_tool(question->entry, call) &&
            has_summary(question->entry, call))
            return match->seen[i] = true;
    }
    return false;
}

/* A larger record is not shown; stores and records that are looked at. */
#define RECORD_MAX_BYTES (4u << 20)
#define NAMES_MAX        1000
#define FILES_SHOWN_MAX  200

/* Forget them. */
static void overview_clear_staged(struct al_overview *shown)
{
    for (size_t i = 0; i < shown->nstaged; i++) {
        struct al_overview_staged *staged = &shown->staged[i];

        free(staged->id);
        free(staged->time);
        free(staged->title);
        free(staged->worker);
        free(staged->text);
    }
    free(al_take(&shown->staged));
    shown->nstaged = 0;
}

static char *line_of(const json_t *object, const char *name)
{
    const char *text = al_json_get_string(object, name);

    return al_text_join_shown_lines(text ? text : "");
}

/* The first line of the message that is not empty.  Caller frees. */
static char *title_of(const char *message)
{
    const char *at = message + strspn(message, " \t\r\n");
    al_auto(al_freep) char *line = al_strndup(at, strcspn(at, "\n"));

    return al_text_join_shown_lines(line);
}

/* The whole message and the files.  Caller frees. */
static char *text_of(const json_t *record, const char *message)
{
    const json_t *files = json_object_get(record, "files");
    const size_t count = json_array_size(files);
    struct al_str text = AL_STR_INIT;

    al_text_sanitize_shown(message, strlen(message), &text);
    al_str_trim_end(&text);
    al_str_addf(&text, "\n\n%zu file%s:\n", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count && i < FILES_SHOWN_MAX; i++) {
        const json_t *file = json_array_get(files, i);
        al_auto(al_freep) char *path = line_of(file, "path");
        al_auto(al_freep) char *operation = line_of(file, "operation");

        al_str_addf(&text, "  %s: %s\n", operation, *path ? path : "(a name that is not UTF-8)");
    }
    if (count > FILES_SHOWN_MAX)
        al_str_addf(&text, "  and %zu more\n", count - FILES_SHOWN_MAX);
    return al_str_detach(&text);
}

/* Keep the newest ones, newest first. */
static void add_record(struct al_overview *shown, const json_t *record)
{
    const char *message = al_json_get_string(record, "message");
    const char *time = al_json_get_string(record, "createdAt");
    size_t at = shown->nstaged;

    if (!message || !time || !al_json_get_string(record, "id") ||
        shown->nstaged == AL_OVERVIEW_STAGED_MAX)
        return;
    shown->staged = al_reallocarray(shown->staged, shown->nstaged + 1, sizeof(*shown->staged));
    while (at > 0 && strcmp(shown->staged[at - 1].time, time) < 0)
        at--;
    memmove(&shown->staged[at + 1], &shown->staged[at],
            (shown->nstaged - at) * sizeof(*shown->staged));
    shown->staged[at] = (struct al_overview_staged){
        .id = line_of(record, "id"),
        .time = line_of(record, "createdAt"),
        .title = title_of(message),
        .worker = line_of(record, "worker"),
        .files = json_array_size(json_object_get(record, "files")),
        .text = text_of(record, message),
    };
    shown->nstaged++;
}

static void read_store(struct al_overview *shown, int stores_fd, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(name, "staged");
    al_auto(al_closep) int fd =
        openat(stores_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_closedirp) DIR *records = fd < 0 ? NULL : al_fs_list_at(fd);
    const struct dirent *entry;

    for (int i = 0; records && i < NAMES_MAX && (entry = readdir(records)); i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_json_decrefp) json_t *record = NULL;

        if (!al_ends_with(entry->d_name, ".json") ||
            al_fs_read(fd, entry->d_name, RECORD_MAX_BYTES, &text) < 0)
            continue;
        record = json_loadb(text.buf, text.len, 0, NULL);
        /* One that was pushed is staged no longer. */
        if (!json_object_get(record, "pushed"))
            add_record(shown, record);
    }
}

/* Read the staged commits below a state directory, newest first.  Appends what tells them apart
 * from other ones to `ret_seen`. */
static void overview_read_staged(struct al_overview *shown, const char *state_dir,
                                 struct al_str *ret_seen)
{
    al_auto(al_freep) char *path = state_dir ? al_fs_join(state_dir, "staging") : NULL;
    al_auto(al_closep) int fd =
        path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    al_auto(al_closedirp) DIR *stores = fd < 0 ? NULL : al_fs_list_at(fd);
    const struct dirent *entry;

    overview_clear_staged(shown);
    for (int i = 0; stores && i < NAMES_MAX && (entry = readdir(stores)); i++)
        if (entry->d_name[0] != '.')
            read_store(shown, fd, entry->d_name);
    for (size_t i = 0; i < shown->nstaged; i++)
        al_str_addf(ret_seen, "%s\n", shown->staged[i].id);
}

/* How far back the journal is read at first, in bytes of each of its last two files. */
#define READ_BACK_BYTES (4u << 20)

/* Lines that are read at once; the next refresh goes on. */
#define LINES_MAX 20000

/* Longer answers are cut. */
#define RESULT_MAX_BYTES 4096u

struct al_overview_source {
    const struct al_setup *setup;
    struct al_overview shown;
    struct al_history history;
    bool follows; /* `history` was opened */
    int inotify_fd;
    struct al_str running; /* the calls that run, to see whether they differ */
    struct al_str staged;  /* the same for staged commits */
};

/* As it is.  Caller frees. */
static void clear_call(struct al_overview_call *call)
{
    free(call->time);
    free(call->agent);
    free(call->tool);
    free(call->operation);
    free(call->repository);
    free(call->path);
    free(call->summary);
    free(call->outcome);
    free(call->decision);
    free(call->decided_by);
    free(call->result);
}

static bool has_side_effects(const json_t *line)
{
    const json_t *names = json_object_get(line, "effects");
    unsigned effects = 0;

    for (size_t i = 0; i < json_array_size(names); i++)
        for (unsigned bit = 0; bit < AL_EFFECT_COUNT; bit++) {
            const char *name = json_string_value(json_array_get(names, i));

            if (name && !strcmp(name, al_effect_name(bit)))
                effects |= 1u << bit;
        }
    return al_effects_have_side_effects(effects);
}

/* What it answered.  Caller frees. */
static char *result_of(const json_t *line)
{
    const json_t *result = json_object_get(line, "result");
    const char *text = al_json_get_string(result, "output");
    struct al_str safe = AL_STR_INIT;

    if (!text || !*text)
        text = al_json_get_string(result, "error");
    al_text_sanitize_shown(text ? text : "", text ? strlen(text) : 0, &safe);
    (void)al_text_truncate(&safe, RESULT_MAX_BYTES);
    return al_str_detach(&safe);
}

static struct al_overview_call read_call(const json_t *line, long pid)
{
    return (struct al_overview_call){
        .seq = pid ? 0 : (uint64_t)json_integer_value(json_object_get(line, "seq")),
        .pid = pid,
        .time = line_of(line, "time"),
        .agent = line_of(line, "agent"),
        .tool = line_of(line, "tool"),
        .operation = line_of(line, "operation"),
        .repository = line_of(line, "repository"),
        .path = al_journal_path(line, "repository"),
        .summary = line_of(line, "summary"),
        .outcome = pid ? al_strdup("") : line_of(line, "outcome"),
        .decision = line_of(line, "decision"),
        .decided_by = line_of(line, "decided_by"),
        .result = pid ? al_strdup("") : result_of(line),
        .duration_ms = json_integer_value(json_object_get(line, "duration_ms")),
        .changes = has_side_effects(line),
        .checkpointed = !pid && al_json_get_string(line, "git_commit"),
    };
}

/* --- Calls that run --- */

struct collecting {
    struct al_overview_source *source;
    struct al_review_match match;
    struct al_str *seen;
};

static void add_running(void *payload, long pid, const json_t *line)
{
    struct collecting *collecting = payload;
    struct al_overview *shown = &collecting->source->shown;
    struct al_overview_call call = read_call(line, pid);
    size_t at = shown->nrunning;

    call.waits = al_review_match_take(&collecting->match, pid, line);
    shown->running = al_reallocarray(shown->running, shown->nrunning + 1, sizeof(*shown->running));
    while (at > 0 && strcmp(shown->running[at - 1].time, call.time) > 0)
        at--;
    memmove(&shown->running[at + 1], &shown->running[at],
            (shown->nrunning - at) * sizeof(*shown->running));
    shown->running[at] = call;
    shown->nrunning++;
    al_str_addf(collecting->seen, "%ld %s %s %s %d\n", pid, call.time, call.tool, call.summary,
                call.waits);
}

static void clear_running(struct al_overview *shown)
{
    for (size_t i = 0; i < shown->nrunning; i++)
        clear_call(&shown->running[i]);
    free(al_take(&shown->running));
    shown->nrunning = 0;
}

static bool replace_if_other(struct al_str *old, struct al_str *now)
{
    const bool differs = old->len != now->len || memcmp(old->buf, now->buf, now->len) != 0;

    al_str_clear(old);
    *old = *now;
    return differs;
}

static bool refresh_running(struct al_overview_source *source, const struct al_review_list *waiting)
{
    struct al_str seen = AL_STR_INIT;
    struct collecting collecting = { source, al_review_match_begin(waiting), &seen };

    clear_running(&source->shown);
    (void)al_journal_running(source->setup->journal_file, add_running, &collecting);
    al_review_match_clear(&collecting.match);
    return replace_if_other(&source->running, &seen);
}

/* --- Executions --- */

/* Begin at most READ_BACK_BYTES before the end of the last file, or of the one before it. */
static int start_reading(struct al_overview_source *source)
{
    struct al_history *history = &source->history;
    int r = al_history_open(source->setup->journal_file, history);

    if (r < 0 || (!history->last && !history->size))
        return r;
    source->follows = history->follow = true;
    source->shown.has_older = al_history_skip_old(history, READ_BACK_BYTES);
    return 0;
}

/* The executions that were added, oldest first, become the newest ones that are shown. */
static void add_newest(struct al_overview *shown, struct al_overview_call *added, size_t nadded)
{
    const size_t room = AL_OVERVIEW_EXECUTIONS_MAX;
    const size_t taken = nadded < room ? nadded : room;
    const size_t kept = shown->nexecutions < room - taken ? shown->nexecutions : room - taken;
    struct al_overview_call *all = al_calloc(taken + kept + 1, sizeof(*all));

    for (size_t i = 0; i < nadded - taken; i++)
        clear_call(&added[i]);
    for (size_t i = 0; i < taken; i++)
        all[i] = added[nadded - 1 - i];
    if (kept)
        memcpy(all + taken, shown->executions, kept * sizeof(*all));
    for (size_t i = kept; i < shown->nexecutions; i++)
        clear_call(&shown->executions[i]);
    shown->has_older |= nadded > taken || kept < shown->nexecutions;
    free(shown->executions);
    shown->executions = all;
    shown->nexecutions = taken + kept;
}

static bool refresh_executions(struct al_overview_source *source)
{
    struct al_overview_call *added = NULL;
    size_t nadded = 0, len;
    const char *text;
    int r = source->follows ? 0 : start_reading(source);

    for (size_t i = 0; r == 0 && source->follows && i < LINES_MAX; i++) {
        const int found = al_history_next(&source->history, &text, &len);
        al_auto(al_json_decrefp) json_t *line =
            found > 0 ? json_loadb(text, len, JSON_ALLOW_NUL, NULL) : NULL;

        if (found <= 0)
            r = found < 0 ? found : 1;
        if (!json_is_object(line))
            continue;
        if ((nadded & (nadded - 1)) == 0)
            added = al_reallocarray(added, nadded ? 2 * nadded : 1, sizeof(*added));
        added[nadded++] = read_call(line, 0);
    }
    if (nadded)
        add_newest(&source->shown, added, nadded);
    free(added);
    free(al_take(&source->shown.problem));
    if (r < 0)
        source->shown.problem = al_asprintf("the journal cannot be read: %s", strerrordesc_np(-r));
    return nadded > 0;
}

/* --- All of it --- */

/* Directories that do not exist yet are tried again. */
static void watch_dirs(const struct al_overview_source *source)
{
    const char *file = source->setup->journal_file;
    const uint32_t events = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR;
    al_auto(al_freep) char *dir = al_strndup(file, (size_t)(strrchr(file, '/') - file));
    al_auto(al_freep) char *open_dir = al_fs_join(dir, "open");

    (void)inotify_add_watch(source->inotify_fd, dir, events);
    (void)inotify_add_watch(source->inotify_fd, open_dir, events);
}

struct al_overview_source *al_overview_open(const struct al_setup *setup)
{
    struct al_overview_source *source = al_calloc(1, sizeof(*source));

    source->setup = setup;
    source->history = AL_HISTORY_INIT;
    source->running = AL_STR_INIT;
    source->staged = AL_STR_INIT;
    source->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    watch_dirs(source);
    return source;
}

void al_overview_close(struct al_overview_source *source)
{
    if (!source)
        return;
    clear_running(&source->shown);
    for (size_t i = 0; i < source->shown.nexecutions; i++)
        clear_call(&source->shown.executions[i]);
    free(source->shown.executions);
    overview_clear_staged(&source->shown);
    free(source->shown.problem);
    al_history_clear(&source->history);
    al_str_clear(&source->running);
    al_str_clear(&source->staged);
    al_close(source->inotify_fd);
    free(source);
}

int al_overview_fd(const struct al_overview_source *source)
{
    return source->inotify_fd;
}

bool al_overview_refresh(struct al_overview_source *source, const struct al_review_list *waiting)
{
    struct al_str staged = AL_STR_INIT;
    char events[4096];
    bool differs;

    while (read(source->inotify_fd, events, sizeof(events)) > 0)
        continue;
    watch_dirs(source);
    differs = refresh_executions(source);
    differs |= refresh_running(source, waiting);
    overview_read_staged(&source->shown, source->setup->state_dir, &staged);
    differs |= replace_if_other(&source->staged, &staged);
    return differs;
}

const struct al_overview *al_overview_get(const struct al_overview_source *source)
{
    return &source->shown;
}

const struct al_overview_call *al_overview_find(const struct al_overview_source *source,
                                                uint64_t seq)
{
    for (size_t i = 0; i < source->shown.nexecutions; i++)
        if (source->shown.executions[i].seq == seq)
            return &source->shown.executions[i];
    return NULL;
}

uint64_t al_overview_newest(const struct al_overview_source *source, const char *path)
{
    for (size_t i = 0; i < source->shown.nexecutions; i++) {
        const struct al_overview_call *call = &source->shown.executions[i];

        if (call->checkpointed && call->path && !strcmp(call->path, path))
            return call->seq;
    }
    return 0;
}
