// SPDX-License-Identifier: Apache-2.0
#include "call/failure.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "call/answer.h"
#include "call/call.h"
#include "call/private.h"
#include "git/command.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/revision.h"
#include "git/reading/read_object.h"
#include "git/refs.h"
#include "git/repo/remotes.h"
#include "guard/nofollow.h"
#include "guard/text.h"

/* Names of a kind that there are. */
struct names {
    enum al_subject kind;
    struct al_strv list;
};

static bool take_ref(void *payload, const struct al_listed_ref *ref)
{
    struct names *names = payload;
    const char *slash = ref->is_remote ? strchr(ref->name, '/') : NULL;

    if (names->kind != AL_SUBJECT_THEIR_BRANCH)
        al_strv_add(&names->list, ref->name);
    else if (slash)
        al_strv_add(&names->list, slash + 1);
    return true;
}

static void list_names(struct al_call *call, struct names *names)
{
    const struct al_repo *repo = al_call_repo(call);
    const struct al_refs_query branches = { .remotes = names->kind != AL_SUBJECT_BRANCH };
    const struct al_refs_query tags = { .tags = true };

    if (names->kind == AL_SUBJECT_REMOTE) {
        al_remote_names(repo, &names->list);
        return;
    }
    if (names->kind != AL_SUBJECT_TAG)
        (void)al_git_read_refs(repo, &branches, take_ref, names, NULL);
    if (names->kind == AL_SUBJECT_TAG || names->kind == AL_SUBJECT_REVISION)
        (void)al_git_read_refs(repo, &tags, take_ref, names, NULL);
}

/* Append what may have been meant: a name in few edits, or "feature/login" for "login". */
static void add_near(struct al_call *call, enum al_subject kind, const char *word,
                     struct al_str *out)
{
    struct names names = { .kind = kind, .list = AL_STRV_INIT };
    struct al_nearest nearest = { .word = word };
    al_auto(al_freep) char *tag = al_asprintf("refs/tags/%s", word);
    al_auto(al_freep) char *end = al_asprintf("/%s", word);
    const char *meant = NULL;

    if (kind == AL_SUBJECT_BRANCH && al_ref_exists(&al_call_repo(call)->at, tag)) {
        al_str_adds(out, "; it is a tag");
        return;
    }
    list_names(call, &names);
    for (size_t i = 0; i < names.list.count; i++) {
        al_nearest_offer(&nearest, names.list.items[i]);
        if (!meant && al_ends_with(names.list.items[i], end))
            meant = names.list.items[i];
    }
    meant = nearest.found ? nearest.found : meant;
    if (meant && strcmp(meant, word) != 0) {
        al_str_adds(out, "; did you mean '");
        al_text_add_shown_line(meant, out);
        al_str_adds(out, "'?");
    }
    al_strv_clear(&names.list);
}

static bool names_commit(struct al_call *call, const char *word)
{
    al_auto(al_freep) char *oid = NULL;

    return al_git_find_object(al_call_repo(call), word, "commit", &oid, NULL) == 0 && oid;
}

/* The side of a range that names nothing; the word itself if it is no range.  Caller frees. */
static char *wrong_side(struct al_call *call, const char *word)
{
    const char *dots = strstr(word, "..");
    al_auto(al_freep) char *left = dots ? al_strndup(word, (size_t)(dots - word)) : NULL;
    const char *right = dots ? dots + strspn(dots, ".") : NULL;

    if (!dots)
        return al_strdup(word + (*word == '^'));
    if (*left && !names_commit(call, left))
        return al_take(&left);
    return al_strdup(*right ? right : left);
}

bool al_call_names_commits(struct al_call *call, const char *revision)
{
    al_auto(al_freep) char *word = wrong_side(call, revision);

    return names_commit(call, word);
}

/* The reference of HEAD, if it names a commit that is not there; NULL.  Caller frees. */
static char *lost_commit(struct al_call *call)
{
    const struct al_location *at = &al_call_repo(call)->at;
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    al_auto(al_freep) char *oid = al_ref_head(at);

    al_ref_follow_head(at, &refs);
    return refs.count && oid && *oid && !names_commit(call, oid) ? al_strdup(refs.items[0]) : NULL;
}

/* Whether a reference, or that of HEAD (NULL), is broken; the error then says so. */
static bool tell_broken(struct al_call *call, const char *ref, struct al_error *err)
{
    al_auto(al_freep) char *broken = al_ref_broken(&al_call_repo(call)->at, ref);
    const bool all = broken && !strcmp(broken, "HEAD"), lost = !broken && !ref;

    if (lost)
        broken = lost_commit(call);
    if (!broken)
        return false;
    free(err->message);
    err->message = al_asprintf("'%s' is broken: %s", broken,
                               all    ? "no reference can be read"
                               : lost ? "the commit that it names is not there"
                                      : "its file holds no commit's id");
    err->remedy = all ? "A user can look at what 'git refs verify' says."
                  : lost
                      ? "A user can look for it with 'git fsck', or set the branch to an older "
                        "commit of its log with 'git update-ref'."
                      : "A user can mend it: its log below .git/logs ends with the commit it was "
                        "at; once the broken file is moved away, 'git update-ref' writes it.";
    return true;
}

/* "HEAD~50" has a base that is there. */
static void complete_revision(struct al_call *call, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *word = wrong_side(call, given);
    al_auto(al_freep) char *base = al_strndup(word, strcspn(word, "~^@:"));
    al_auto(al_freep) char *branch = al_asprintf("refs/heads/%s", base);
    al_auto(al_freep) char *shallow = al_shallow_commits(&al_call_repo(call)->at);
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    if (tell_broken(call, strcmp(base, "HEAD") != 0 ? branch : NULL, err))
        return;
    if (!strcmp(base, "HEAD") && !names_commit(call, "HEAD")) {
        err->subject = AL_SUBJECT_UNBORN;
        al_str_adds(&message, "There is no commit on this branch yet");
    } else if (al_is_oid(word, strlen(word)) && strlen(word) >= 7) {
        al_str_addf(&message, "'%s' names no commit", word);
    } else if (strcmp(base, word) != 0 && *base && names_commit(call, base)) {
        al_str_addf(&message, "'%s' names no commit, although '%s' does%s", word, base,
                    shallow ? ": the clone is shallow, and older commits are not in it" : "");
        if (shallow)
            err->remedy = "A user can fetch the rest of the history with 'git fetch --unshallow'.";
    } else {
        al_str_addf(&message, "'%s' names no branch, tag or commit", word);
        add_near(call, AL_SUBJECT_REVISION, *base ? base : word, &message);
    }
    free(err->message);
    err->message = al_str_detach(&message);
}

static void complete_path(struct al_call *call, enum al_subject kind, const char *given,
                          struct al_error *err)
{
    const char *magic = al_starts_with(given, ":(") ? strchr(given, ')') : NULL;
    const char *path = magic ? magic + 1 : given;
    const struct al_path_scope scope = { .worktree = true, .untracked = kind == AL_SUBJECT_PATH };
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    al_strv_add(&paths, path);
    err->remedy = al_missing_paths_add(call, &paths, &scope, &message);
    if (!message.len)
        al_str_addf(&message, "No %sfile matches '%s'", kind == AL_SUBJECT_PATH ? "" : "tracked ",
                    path);
    al_str_trim_end(&message);
    free(err->message);
    err->message = al_str_detach(&message);
}

/* Complete the message of a failure about a revision, branch, tag, remote or path that there is
 * none of.  Other messages stay as they are.  Up to four git children, of failures only. */
static void complete_name(struct al_call *call, struct al_error *err)
{
    al_auto(al_freep) char *name = al_take(&err->name);
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    if (err->subject == AL_SUBJECT_UNBORN || (name && err->subject == AL_SUBJECT_REVISION)) {
        complete_revision(call, name ? name : "HEAD", err);
        return;
    }
    if (!name)
        return;
    if (err->subject == AL_SUBJECT_PATH || err->subject == AL_SUBJECT_TRACKED_PATH) {
        complete_path(call, err->subject, name, err);
        return;
    }
    al_str_adds(&message, err->message);
    if (message.buf[message.len - 1] == '.')
        al_str_truncate(&message, message.len - 1);
    add_near(call, err->subject, name, &message);
    free(err->message);
    err->message = al_str_detach(&message);
}

/* Limit of a message, which may contain the names of many files. */
#define CAUSE_MAX_BYTES 1000

static const char *skip_label(const char *line)
{
    static const char *const labels[] = { "fatal: ", "error: ", "warning: " };

    for (size_t i = 0; i < AL_COUNT(labels); i++)
        if (al_starts_with(line, labels[i]))
            return line + strlen(labels[i]);
    return line;
}

/* Fold a message into one line.  Indented names become a list.  Caller frees. */
static char *fold(char *message)
{
    struct al_str out = AL_STR_INIT;
    bool in_list = false;
    char *save = NULL;

    for (char *line = strtok_r(message, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        size_t indent = strspn(line, " \t");

        line += indent;
        if (!*line)
            continue;
        if (out.len)
            al_str_adds(&out, indent && in_list ? ", " : " ");
        al_str_adds(&out, skip_label(line));
        in_list = indent;
    }
    if (out.len > CAUSE_MAX_BYTES) {
        al_str_truncate(&out, al_utf8_floor(out.buf, CAUSE_MAX_BYTES));
        al_str_adds(&out, "...");
    }
    return al_str_detach(&out);
}

static void fold_message(struct al_error *err)
{
    al_auto(al_freep) char *whole = err->message;

    err->message = fold(whole);
    free(al_take(&err->detail));
}

void al_failure_complete(struct al_call *call, struct al_error *err)
{
    const enum al_words words = call->tool->words;
    const enum al_status status = err->status;

    /* An error about an approval has a remedy of its own. */
    if (words == AL_WORDS_PLAIN || status == AL_OK || status == AL_ERR_CANCELLED ||
        status == AL_ERR_APPROVAL_REQUIRED || status == AL_ERR_APPROVAL_DENIED ||
        status == AL_ERR_NOT_GRANTED)
        return;
    if (err->message)
        fold_message(err);
    if (words == AL_WORDS_WORKFLOW) {
        if (!err->code && status != AL_ERR_BAD_ARGS && status != AL_ERR_SANDBOX &&
            status != AL_ERR_TIMEOUT)
            err->code = AL_CODE_OPERATION_FAILED;
        return;
    }
    if (!call->repo)
        return;
    complete_name(call, err);
    if (err->status != AL_ERR_EXECUTION || err->remedy)
        return;
    (void)tell_broken(call, NULL, err);
    if (!err->subject && !err->code && al_ref_is_unborn(&call->repo->at))
        err->subject = AL_SUBJECT_UNBORN;
}

/** More paths are not looked at. */
#define LOOKED_AT_MAX 20
/** Lines of an answer. */
#define TOLD_MAX 3

/** One path, and the nearest name that was seen. */
struct wanted {
    char *path;      /* relative to the top */
    bool is_on_disk; /* as something */
    bool is_found;   /* in what the call looks at */
    size_t inside;   /* the length of the working tree below the top that it lies in; 0: none */
    char *near;
    size_t edits;    /* from `path` to `near` */
    char *same_name; /* a file of this name elsewhere */
};

struct search {
    struct wanted *wanted;
    size_t count;
    bool lacks; /* one of them is not on disk */
};

static void search_clear(struct search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        free(search->wanted[i].path);
        free(search->wanted[i].near);
        free(search->wanted[i].same_name);
    }
    free(search->wanted);
}

/* The length of the first components of a name, as many as a path has. */
static size_t length_as(const char *path, const char *name)
{
    size_t len = strcspn(name, "/");

    while ((path = strchr(path, '/')) && path++ && name[len])
        len += 1 + strcspn(name + len + 1, "/");
    return len;
}

/* The offset of the first component that two paths have in different forms. */
static size_t common_len(const char *a, const char *b)
{
    size_t common = 0;

    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            common = i + 1;
    return common;
}

/* A name of as many components, two letters of which are exchanged even if it is short, or a
 * directory above it, may be what was meant. */
static void offer_near(struct wanted *wanted, const char *name)
{
    const size_t len = length_as(wanted->path, name);
    const size_t own = strlen(wanted->path);
    al_auto(al_freep) char *candidate = NULL;
    size_t common, edits;

    if ((len > own ? len - own : own - len) > AL_NEAREST_MAX_EDITS)
        return;
    candidate = al_strndup(name, len);
    common = common_len(wanted->path, candidate);
    edits = al_edit_distance(wanted->path + common, candidate + common);
    if (edits > AL_NEAREST_MAX_EDITS || edits * 2 > own - common + (own - common > 2) ||
        (wanted->near && edits >= wanted->edits))
        return;
    free(wanted->near);
    wanted->near = al_take(&candidate);
    wanted->edits = edits;
}

static void offer(struct search *search, const char *name)
{
    for (size_t i = 0; i < search->count; i++) {
        struct wanted *wanted = &search->wanted[i];
        const size_t len = strlen(wanted->path);

        if (wanted->is_found)
            continue;
        if (!len || (al_starts_with(name, wanted->path) && (!name[len] || name[len] == '/')))
            wanted->is_found = true;
        else
            offer_near(wanted, name);
        if (!wanted->same_name && !strcmp(basename(name), basename(wanted->path)))
            wanted->same_name = al_strdup(name);
    }
}

static bool take_listed(void *payload, char *const *fields)
{
    offer(payload, fields[0]);
    return true;
}

/* The length of the part of a path that is a working tree of its own: a submodule, a clone or a
 * linked worktree.  0: none is. */
static size_t find_inside(int top_fd, const char *path)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        al_auto(al_freep) char *git = al_asprintf("%.*s/.git", (int)(slash - path), path);
        al_auto(al_closep) int fd = al_nofollow_open(top_fd, git, O_PATH);

        if (fd >= 0)
            return (size_t)(slash - path);
    }
    return 0;
}

/* The paths of the call.  A path outside of the roots or the repository is not looked for. */
static void read_paths(const struct al_repo *repo, const struct al_strv *paths, int top_fd,
                       struct search *search)
{
    search->wanted = al_calloc(paths->count + 1, sizeof(*search->wanted));
    for (size_t i = 0; i < paths->count && search->count < LOOKED_AT_MAX; i++) {
        struct wanted *wanted = &search->wanted[search->count];
        al_auto(al_closep) int fd = -1;

        /* A pathspec with a glob or magic may match several names. */
        if (paths->items[i][0] == ':' || strpbrk(paths->items[i], "*?[\\") ||
            al_place_from_argument(repo, "paths", paths->items[i], &wanted->path, NULL) < 0)
            continue;
        fd = al_nofollow_open(top_fd, wanted->path, O_PATH | O_NOFOLLOW);
        wanted->is_on_disk = fd >= 0;
        search->lacks |= fd < 0;
        wanted->inside = find_inside(top_fd, wanted->path);
        search->count++;
    }
}

static bool all_found(const struct search *search)
{
    for (size_t i = 0; i < search->count; i++)
        if (!search->wanted[i].is_found)
            return false;
    return true;
}

/* A file of a submodule is not in the index; what is above it is. */
static void find_tracked(struct al_call *call, struct search *search)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;

    for (size_t i = 0; i < search->count; i++)
        al_strv_add(&names, search->wanted[i].path);
    if (al_repo_tracked_files(al_call_repo(call), &names, &files, NULL) < 0)
        search->count = 0; /* nothing is told */
    for (size_t i = 0; i < files.count; i++)
        offer(search, files.items[i]);
}

static void search_worktree(struct al_call *call, const struct al_path_scope *scope, int top_fd,
                            struct search *search)
{
    if (!search->lacks && !scope->untracked)
        find_tracked(call, search);
    if (search->lacks &&
        al_git_list_files(al_call_repo(call), top_fd, take_listed, search, NULL) < 0)
        search->count = 0;
    for (size_t i = 0; i < search->count; i++)
        search->wanted[i].is_found |=
            scope->untracked && search->wanted[i].is_on_disk && !search->wanted[i].inside;
}

static void search_tree(struct al_call *call, const char *rev, struct search *search)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;

    al_strv_adds(&command.argv, "git", "ls-tree", "-r", "-z", "--name-only", "--full-tree",
                 "--end-of-options", rev, NULL);
    if (al_git_list_paths(al_call_repo(call), &command, &list, NULL) < 0)
        search->count = 0;
    for (size_t i = 0; i < list.count; i++)
        offer(search, list.items[i]);
}

/* A side of a range that is left out is HEAD. */
static void search_revision(struct al_call *call, const char *rev, struct search *search)
{
    const char *dots = strstr(rev, "..");
    al_auto(al_freep) char *left = dots ? al_strndup(rev, (size_t)(dots - rev)) : NULL;
    const char *right = dots ? dots + strspn(dots, ".") : rev;

    if (left)
        search_tree(call, *left ? left : "HEAD", search);
    search_tree(call, *right ? right : "HEAD", search);
}

static void add_where(const struct al_path_scope *scope, struct al_str *out)
{
    al_str_adds(out, " in ");
    if (scope->rev)
        al_place_add_name(scope->rev, out);
    if (scope->worktree)
        al_str_addf(out, "%sthe working tree", scope->rev ? " or " : "");
}

static void add_line(struct al_call *call, const struct wanted *wanted,
                     const struct al_path_scope *scope, struct al_str *out)
{
    const struct al_repo *repo = al_call_repo(call);
    const char *meant = wanted->near ? wanted->near : wanted->same_name;
    al_auto(al_freep) char *shown = al_place(repo, wanted->path);

    if (wanted->inside) {
        al_place_addf(out, "'%s' is in another working tree, with working_dir '%s/%.*s'\n", shown,
                      repo->at.top, (int)wanted->inside, wanted->path);
        return;
    }
    if (wanted->is_on_disk && scope->worktree) {
        al_str_addf(out, "'%s' is not tracked\n", shown);
        return;
    }
    al_str_addf(out, "There is no '%s'", shown);
    add_where(scope, out);
    al_str_adds(out, wanted->is_on_disk ? ", though it is on disk" : "");
    if (meant && !wanted->is_on_disk) {
        al_str_adds(out, "; did you mean '");
        al_place_add(repo, meant, out);
        al_str_adds(out, "'?");
    }
    al_str_addc(out, '\n');
}

static const char names[] = "git_status has the names; paths are relative to working_dir.";

static const char *remedy_for(const struct wanted *wanted, const struct al_path_scope *scope)
{
    return wanted->inside ? "Call again with that working_dir; paths are relative to it."
           : wanted->is_on_disk && scope->worktree ? "git_add tracks it."
           : wanted->is_on_disk ? "git_status says whether it is tracked; git_add "
                                  "and git_commit put it into a commit."
           : scope->worktree    ? names
                             : "git_show with the path of a directory lists what is in it; git_log "
                               "with paths and follow tells what became of a file.";
}

const char *al_missing_paths_add(struct al_call *call, const struct al_strv *paths,
                                 const struct al_path_scope *scope, struct al_str *out)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(search_clear) struct search search = { .count = 0 };
    al_auto(al_closep) int top_fd = -1;
    size_t told = 0;
    const char *remedy = names;

    if (!repo || al_location_is_bare(&repo->at) ||
        al_location_open_top(&repo->at, &top_fd, NULL) < 0)
        return NULL;
    read_paths(repo, paths, top_fd, &search);
    if (search.count && scope->worktree)
        search_worktree(call, scope, top_fd, &search);
    if (scope->rev && !all_found(&search))
        search_revision(call, scope->rev, &search);
    for (size_t i = 0; i < search.count; i++) {
        if (search.wanted[i].is_found || told++ >= TOLD_MAX)
            continue;
        add_line(call, &search.wanted[i], scope, out);
        remedy = remedy_for(&search.wanted[i], scope);
    }
    return remedy;
}

void al_missing_paths_end(struct al_call *call, const struct al_strv *paths, const char *rev,
                          struct al_pages *pages)
{
    const struct al_path_scope scope = { .rev = rev, .worktree = true, .untracked = true };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (paths->count < 2 || pages->full || pages->moved)
        return;
    al_missing_paths_add(call, paths, &scope, &text);
    if (text.len)
        (void)al_pages_adds(pages, text.buf);
}

int al_missing_path_fail(struct al_call *call, const char *path, const char *rev,
                         struct al_error *err)
{
    const struct al_path_scope scope = { .rev = rev };
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    const char *remedy;

    al_strv_add(&paths, path);
    remedy = al_missing_paths_add(call, &paths, &scope, &message);
    if (!message.len) {
        al_str_addf(&message, "There is no file '%s'", path);
        add_where(&scope, &message);
    }
    al_str_trim_end(&message);
    return al_failure_bad_args(err, remedy, "%s", message.buf);
}
