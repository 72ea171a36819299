// SPDX-License-Identifier: Apache-2.0
/* Stages 6 and 7: the checkpoints before and after an operation that changes the repository.
 * Changes of a failed call are put back, or named; what somebody saved meanwhile is not lost. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/log.h"
#include "call/private.h"
#include "git/command.h"
#include "git/git_lock.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/index_scan.h"
#include "git/plumbing/snapshot.h"
#include "git/refs.h"
#include "git/repo/git.h"
#include "guard/path.h"
#include "guard/text.h"
#include "history/checkpoint.h"
#include "history/keep.h"
#include "history/rescue.h"
#include "history/rollback.h"
#include "history/worktree.h"
#include "verbs/worktree/submodules.h"

/* The checkpoint after has its own time limit: without that checkpoint, the call's changes could
 * not be told from later ones. */
#define AFTER_MS 30000u

/* The parts that an operation with these effects cannot change.  docs/CHECKPOINTS.md says for each
 * operation why it cannot. */
static unsigned parts_without(unsigned effects)
{
    unsigned without = AL_PARTS_WORKTREE;

    if (effects & (AL_WRITES_WORKTREE | AL_RUNS_PROGRAM | AL_WRITES_FILES))
        return 0;
    if (!(effects & AL_WRITES_INDEX))
        without |= AL_PARTS_INDEX;
    if (!(effects & (AL_WRITES_REFS | AL_REWRITES_HISTORY)))
        without |= AL_PARTS_REFS;
    return without;
}

static struct al_checkpoint_reason reason_of(const struct al_call *call, const char *before)
{
    const struct al_operation *operation = call->operation;
    const bool keeps_staged = !call->plan.loses_staged && call->tool->keeps_staged &&
                              !(operation->effects & AL_DISCARDS_WORK);

    return (struct al_checkpoint_reason){ .tool = call->tool->name,
                                          .rewrites = operation->effects & AL_REWRITES_HISTORY,
                                          .operation = operation->name,
                                          .keeps_staged = keeps_staged,
                                          .without = call->without,
                                          .writes = call->knows_files ? &call->writes : NULL,
                                          .moves = call->moves_all ? NULL : &call->moves,
                                          .linked = &call->linked,
                                          .before = before };
}

/* Add the references that arguments name. */
static void add_named(const struct al_call *call, unsigned flag, const char *prefix, bool only_new,
                      struct al_strv *ret_refs)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_call_named(call, flag, &names);
    for (size_t i = 0; i < names.count; i++) {
        al_auto(al_freep) char *ref = al_asprintf("%s%s", prefix, names.items[i]);

        if (!only_new || !al_ref_exists(&call->repo->at, ref))
            al_strv_add(ret_refs, ref);
    }
}

static void add_deleted_branches(const struct al_call *call, struct al_strv *ret_names)
{
    if (!call->operation->deletes)
        return;
    add_named(call, AL_PARAM_DELETED_BRANCH, "refs/heads/", false, ret_names);
    add_named(call, AL_PARAM_DELETED_TAG, "refs/tags/", false, ret_names);
}

/* Add the branch that HEAD is on, and what it leads to if it is a symbolic reference. */
static void add_current_branch(struct al_call *call)
{
    const size_t before = call->moves.count;

    al_ref_follow_head(&call->repo->at, &call->moves);
    if (call->moves.count == before)
        al_strv_add(&call->moves, "HEAD");
}

/* Find out which references the call can move, HEAD and the configuration among them. */
static void find_moves(struct al_call *call)
{
    const unsigned effects = call->operation->effects;
    const bool writes_refs = effects & (AL_WRITES_REFS | AL_REWRITES_HISTORY);
    const unsigned can = call->operation->moves ? call->operation->moves : call->tool->moves;
    const unsigned moves = writes_refs ? can : 0;
    bool any = writes_refs && !moves;

    al_strv_clear(&call->moves);
    call->moves_all = effects & (AL_RUNS_PROGRAM | AL_WRITES_FILES);
    if (effects & AL_WRITES_CONFIG)
        al_strv_add(&call->moves, "config");
    if (any)
        al_strv_add(&call->moves, "refs/");
    if (any || (moves & AL_MOVES_HEAD))
        al_strv_add(&call->moves, "HEAD");
    if (moves & AL_MOVES_BRANCH)
        add_current_branch(call);
    if (moves & (AL_MOVES_NAMED | AL_MOVES_NEW))
        add_named(call, AL_PARAM_BRANCH, "refs/heads/", !(moves & AL_MOVES_NAMED), &call->moves);
    if (writes_refs)
        al_strv_add_all(&call->moves, &call->plan.along);
    if (moves & AL_MOVES_STASH)
        al_strv_add(&call->moves, "refs/stash");
    for (size_t i = 0; i < call->moves.count; i++)
        any |= al_starts_with(call->moves.items[i], "refs/");
    if (!any && !call->moves_all)
        call->without |= AL_PARTS_REFS;
}

static bool writes_over_files(const struct al_call *call)
{
    const unsigned both = AL_DISCARDS_WORK | AL_WRITES_WORKTREE;

    return (call->operation->effects & both) == both;
}

/* Add the files that lie in the working tree, relative to its top. */
static void add_below_top(const struct al_call *call, const struct al_strv *files,
                          struct al_strv *names)
{
    const struct al_repo *repo = call->repo;

    for (size_t i = 0; i < files->count; i++) {
        al_auto(al_freep) char *path = al_fs_join(repo->at.dir, files->items[i]);
        const char *below = al_fs_beneath(repo->at.top, path);

        if (below && !al_fs_beneath(repo->at.git_dir, path) &&
            !al_fs_beneath(repo->at.common_dir, path))
            al_strv_add(names, below);
    }
}

/* Add the files of the working tree that the call may overwrite. */
static int add_overwritten_files(struct al_call *call, struct al_strv *ret_names,
                                 struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv more = AL_STRV_INIT;
    const struct al_strv *files;
    int r;

    if (!writes_over_files(call) && !call->tool->overwritten_files)
        return 0;
    r = al_call_affected_files(call, &files, err);
    if (r == 0)
        add_below_top(call, files, ret_names);
    if (r == 0 && call->tool->overwritten_files)
        r = call->tool->overwritten_files(call, &more, err);
    add_below_top(call, &more, ret_names);
    return r;
}

int al_call_return_commit(struct al_call *call, const char *oid, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT, missing = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    al_auto(al_freep) char *head = al_ref_head(&call->repo->at);
    int r;

    al_strv_add(&ids, oid);
    r = al_git_find_objects(&call->repo->at, &ids, false, NULL, &missing, err);
    if (r < 0 || !missing.count || !call->store)
        return r;
    al_str_addf(&lines, "%s\n", oid);
    if (*head)
        al_str_addf(&lines, "^%s\n", head);
    return al_keep_return(call->store, call->repo, &lines, err);
}

/* Checkpoints of the last day are never removed to make room.  A store full of them refuses new
 * checkpoints: first for calls that no user approved, then for all. */
static int check_room(struct al_call *call, struct al_error *err)
{
    bool loses = call->operation->effects & AL_DISCARDS_WORK;
    enum al_room room;
    int r = al_store_room(call->store, &room, err);

    if (r < 0 || room == AL_ROOM_ENOUGH ||
        (room == AL_ROOM_SHORT && (!loses || al_call_was_asked(call))))
        return r;
    r = al_error_set(err, AL_ERR_EXECUTION,
                     "The checkpoint store is full, and none of its checkpoints may go yet: they "
                     "are of this session or of the last 24 hours");
    return al_error_remedy(r, err,
                           room == AL_ROOM_SHORT
                               ? "The user can approve this call, or raise journal.max_store_bytes."
                               : "The user can raise journal.max_store_bytes.");
}

int al_call_list_changed(struct al_call *call, bool *ret_known, struct al_strv *ret_names,
                         struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    bool known = false;
    int r = 0;

    if (!(call->operation->effects & (AL_RUNS_PROGRAM | AL_WRITES_FILES)) &&
        call->tool->changed_files)
        r = call->tool->changed_files(call, &known, &files, err);
    *ret_known = r == 0 && known;
    if (*ret_known)
        add_below_top(call, &files, ret_names);
    return r == AL_ERR_EXECUTION ? 0 : r;
}

/* Decide what the two checkpoints of the call have.  A tool may know which files it can change. */
static int find_scope(struct al_call *call, struct al_error *err)
{
    const unsigned effects = call->operation->effects;

    call->without = parts_without(effects);
    call->knows_files = false;
    al_strv_clear(&call->writes);
    return effects & AL_WRITES_WORKTREE
               ? al_call_list_changed(call, &call->knows_files, &call->writes, err)
               : 0;
}

const struct al_strv *al_call_changed_files(const struct al_call *call)
{
    return call->checkpoint[0] && call->knows_files ? &call->writes : NULL;
}

/* A file that git would write with the content that it has is no loss. */
static int keep_overwritten(struct al_call *call, struct al_strv *missing, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv overwriting = AL_STRV_INIT;
    struct al_strv kept = AL_STRV_INIT;
    int r = add_overwritten_files(call, &overwriting, err);

    for (size_t i = 0; i < missing->count; i++)
        if (al_files_concern(&overwriting, missing->items[i]))
            al_strv_add(&kept, missing->items[i]);
    al_strv_clear(missing);
    *missing = kept;
    return r;
}

/* Note the linked worktree that the call is about, or those that there are before a program runs.
 */
static int find_linked(struct al_call *call, struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;

    al_strv_clear(&call->linked);
    al_strv_clear(&call->linked_before);
    if (call->moves_all)
        return al_linked_add(call->repo, NULL, &call->linked_before, err);
    if (!call->plan.worktree || al_worktree_place_find(call->repo, false, &place, NULL) < 0)
        return 0;
    al_strv_addf(&call->linked, AL_LINKED_LOCK_PREFIX "%s/%s", place.dir + 1, call->plan.worktree);
    if (!call->plan.only_locks)
        al_strv_addf(&call->linked, AL_LINKED_PREFIX "%s/%s", place.dir + 1, call->plan.worktree);
    return 0;
}

/* Whether there is no such thing.  Of a directory the name may end with a slash; a file or a link
 * may be in its place by now. */
static bool is_missing(int top_fd, const char *name)
{
    const bool is_dir = al_ends_with(name, "/");
    al_auto(al_freep) char *path = al_strndup(name, strlen(name) - is_dir);
    struct stat st;

    if (fstatat(top_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT || errno == ENOTDIR;
    return is_dir && !S_ISDIR(st.st_mode);
}

/* Add the git directories of submodules, as absolute paths, if the call tells what it changed. */
static void add_submodules(struct al_call *call)
{
    al_auto(al_worktree_submodules_clear) struct al_worktree_submodules all =
        AL_WORKTREE_SUBMODULES_INIT;
    al_auto(al_strv_clear) struct al_strv unnamed = AL_STRV_INIT;

    if (call->tool->tells_changes && al_repo_index_facts(&call->repo->at).gitlinks)
        (void)al_worktree_list_submodules(call->repo, "", "", NULL, &all, &unnamed, NULL);
    for (size_t i = 0; i < all.count; i++) {
        al_auto(al_freep) char *dir = al_fs_join(call->repo->at.git_dir, all.items[i].dir);

        if (!is_missing(AT_FDCWD, dir))
            al_strv_add(&call->ignored, dir);
    }
}

/* Begin to note what a program may remove or move, to name it then: a call goes on without. */
static void begin_ignored(const struct al_call *call, struct al_beside *ret_beside)
{
    al_auto(al_closep) int top_fd = -1;

    if (call->tool->tells_changes && al_location_open_top(&call->repo->at, &top_fd, NULL) == 0)
        (void)al_snapshot_ignored_begin(call->repo, top_fd, false, ret_beside, NULL);
}

static int create_checkpoint(struct al_call *call, struct al_strv *ret_missing,
                             struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv dropping = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv overwriting = AL_STRV_INIT;
    al_auto(al_beside_clear) struct al_beside ignored = AL_BESIDE_INIT;
    struct al_checkpoint_reason reason;
    int r = al_store_open(call->session->checkpoints, call->repo, true, &call->store, err);

    if (r == 0)
        r = check_room(call, err);
    if (r == 0)
        r = find_scope(call, err);
    if (r == 0 && !call->knows_files)
        r = add_overwritten_files(call, &overwriting, err);
    if (r < 0)
        return r;
    find_moves(call);
    begin_ignored(call, &ignored);
    r = find_linked(call, err);
    if (r < 0)
        return r;
    reason = reason_of(call, NULL);
    add_deleted_branches(call, &dropping);
    /* A commit of the branches that move along, or of the one that they move along with, may be in
     * nothing else. */
    al_strv_add_all(&dropping, &call->plan.along);
    if (call->plan.along.count)
        al_ref_follow_head(&call->repo->at, &dropping);
    reason.dropping = &dropping;
    reason.overwriting = call->knows_files && (writes_over_files(call) || call->tool->is_everyday)
                             ? &call->writes
                             : &overwriting;
    reason.ret_missing = ret_missing;
    r = al_checkpoint_create(call->store, &reason, call->checkpoint, err);
    al_strv_clear(&call->ignored);
    if (r == 0 && ignored.child)
        (void)al_snapshot_ignored_end(call->repo, &ignored, &call->ignored, NULL);
    add_submodules(call);
    return r == 0 && call->knows_files && ret_missing->count && !call->tool->is_everyday
               ? keep_overwritten(call, ret_missing, err)
               : r;
}

/* A call without a checkpoint is refused, or warned of.  One that is only allowed because of its
 * checkpoint is asked about in the next round, and warned of once. */
static int go_on_unsaved(struct al_call *call, bool refuses, const char *why, const char *remedy,
                         struct al_error *err)
{
    al_auto(al_freep) char *line = al_text_join_lines(why);

    if (refuses)
        return al_error_remedy(
            al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_SNAPSHOT_DISABLED, "%s", why), err,
            remedy);
    if (!call->unsaved)
        al_log_warn("%s", why);
    if (call->operation->asks == AL_ASKS_UNLESS_SAVED && !call->unsaved)
        call->unsaved = al_asprintf("%s%s", call->checkpoint[0] ? "" : AL_CALL_UNSAVED ": ", line);
    return 0;
}

/* Refuse or warn before work is lost that no checkpoint contains. */
static int check_complete(struct al_call *call, const struct al_strv *missing, struct al_error *err)
{
    al_auto(al_freep) char *safe = missing->count ? al_text_sanitize_line(missing->items[0]) : NULL;
    al_auto(al_freep) char *more =
        missing->count > 1 ? al_asprintf(" and %zu more", missing->count - 1) : al_strdup("");
    al_auto(al_freep) char *text = NULL;

    if (!missing->count)
        return 0;
    text =
        al_asprintf("'%s'%s would be lost: the checkpoint does not have it, since it is ignored, "
                    "larger than journal.max_file_bytes, unreadable, or changes while it is "
                    "read",
                    safe, more);
    return go_on_unsaved(call, call->session->requires_checkpoints && !call->session->caller_shell,
                         text, "Keep a copy elsewhere, and move the file away first.", err);
}

bool al_call_is_saved(const struct al_call *call)
{
    return call->session->checkpoints && call->repo && !al_location_is_bare(&call->repo->at) &&
           !call->unsaved;
}

int al_call_checkpoint_before(struct al_call *call, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    int r;

    if (!call->session->checkpoints || !al_effects_change_repository(call->operation->effects) ||
        call->tool->goes_back)
        return 0;
    /* A checkpoint is of a working tree; the result says what the branch of a bare one was. */
    if (call->repo ? al_location_is_bare(&call->repo->at) : call->tool->open_repository != NULL)
        return 0;
    if (!call->repo && !call->session->trace) /* which says it as well */
        al_log_note(AL_TRACE_NO_GIT);
    if (!call->repo)
        return 0;
    r = create_checkpoint(call, &missing, &why);
    if (r == 0)
        return check_complete(call, &missing, err);
    call->checkpoint[0] = '\0';
    if (r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED)
        return al_error_set_code(err, (enum al_status)r, why.code, "%s", why.message);
    /* Calls that destroy nothing go on without a checkpoint: there is nothing to restore. */
    return go_on_unsaved(call,
                         call->session->requires_checkpoints &&
                             al_effects_destructive(call->operation->effects),
                         why.message, why.remedy, err);
}

int al_call_check_in_checkpoint(struct al_call *call, const char *what, const struct al_path *dir,
                                const struct al_strv *names, struct al_error *err)
{
    const char *below = call->checkpoint[0] ? al_fs_beneath(call->repo->at.top, dir->abs) : NULL;
    const char *missing = names->count ? names->items[0] : NULL;
    al_auto(al_freep) char *safe = NULL;
    int r = 0;

    if (below)
        r = al_checkpoint_contains(call->store, call->checkpoint, dir->fd, below, names, &missing,
                                   err);
    if (r < 0 || !missing)
        return r;
    safe = al_text_sanitize_line(missing);
    return al_error_set(err, AL_ERR_EXECUTION,
                        "%s: '%s' exists already and no checkpoint has it; remove it or choose "
                        "another directory",
                        what, safe);
}

void al_call_checkpoint_drop(struct al_call *call)
{
    call->checkpoint[0] = '\0';
    al_store_close(call->store);
    call->store = NULL;
}

#define NAMED_MAX 20

/* A killed git removes its lock at once.  That of another process is waited for only this long. */
#define LOCK_MS         5000u

#define A_USER_RESTORES " A user restores the state before it with 'airlock rollback'"

/* A user may edit files while the call runs, so files are put back only if they are those that git
 * has written, or can have written.  A program's changes are its own. */
static bool may_put_back(const struct al_call *call)
{
    const unsigned effects = call->operation->effects;

    if (effects & (AL_RUNS_PROGRAM | AL_WRITES_FILES))
        return false;
    return !(effects & AL_WRITES_WORKTREE) || call->knows_touched || call->knows_files;
}

/* Whether a change is worth reporting.  State files that git writes as it begins (ORIG_HEAD) are
 * not, nor are the refs of a fetch, which is complete in itself, nor what somebody else saved. */
static bool is_work(const struct al_call *call, const struct al_difference *change)
{
    if (change->part == AL_PART_WORKTREE && call->knows_touched && may_put_back(call))
        return al_strv_contains_sorted(&call->touched, change->name);
    return change->part != AL_PART_STATE &&
           !(change->part == AL_PART_REF && (al_starts_with(change->name, "refs/remotes/") ||
                                             al_starts_with(change->name, "refs/tags/")));
}

static void list(const struct al_call *call, const struct al_differences *changes,
                 struct al_str *out)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    size_t count = 0;

    for (size_t i = 0; i < changes->count; i++) {
        const struct al_difference *change = &changes->items[i];

        if (is_work(call, change) && count++ < NAMED_MAX)
            al_strv_add(&names, change->part == AL_PART_INDEX   ? "the index"
                                : change->part == AL_PART_STASH ? "the stash"
                                                                : change->name);
    }
    al_text_add_list(out, &names, NAMED_MAX);
    if (count > NAMED_MAX)
        al_str_addf(out, " and %zu more", count - NAMED_MAX);
}

/* Put everything back, and take the checkpoint after once more: it says what the call changed. */
static bool put_back(struct al_call *call, const char *after, struct al_str *left)
{
    const struct al_checkpoint_reason reason = reason_of(call, call->checkpoint);
    struct al_run_limits brief = { .left_ms = LOCK_MS };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    char id[AL_OID_TEXT];
    int r = al_git_lock_wait(&call->repo->at, AL_LOCK_INDEX, &brief, &why);

    if (r == 0)
        r = al_rollback_put_back(call->repo, call->store, call->checkpoint, after,
                                 call->knows_touched ? &call->touched : NULL, left, &why);
    if (r == 0)
        (void)al_checkpoint_create(call->store, &reason, id, &why);
    if (why.message)
        al_log_warn("after %s: %s", call->tool->name, why.message);
    return r == 0;
}

/* The fate of the changes, as text; NULL: there is no more to say. */
static char *settle(struct al_call *call, const char *after, const struct al_differences *changes,
                    struct al_error *failure)
{
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str left = AL_STR_INIT;
    bool is_back = changes->count && may_put_back(call) && put_back(call, after, &left);

    list(call, changes, &names);
    if (!names.len)
        return NULL;
    if (!is_back)
        return al_asprintf("The call failed, but it had changed: %s." A_USER_RESTORES, names.buf);
    if (failure->status != AL_ERR_TIMEOUT || left.len)
        return al_asprintf("This failed in the middle of its work, and everything was put back as "
                           "it was%s%s",
                           left.len ? ", but for what somebody else changed meanwhile: " : "",
                           left.buf);
    failure->remedy = "Everything was put back as it was; the user can raise timeout_ms in "
                      "[tools.git] of the configuration.";
    return NULL;
}

static void note_half_done(struct al_call *call, const char *after, struct al_error *failure)
{
    struct al_differences changes = { .items = NULL };

    /* A conflict is left for the caller to resolve, and its message says so.  A rollback checks
     * before it begins, and completes what was interrupted. */
    if (!call->executed || !call->repo || failure->code == AL_CODE_CONFLICT ||
        call->tool->goes_back ||
        !(call->operation->effects & (AL_WRITES_WORKTREE | AL_WRITES_INDEX)))
        return;
    free(call->half_done);
    if (!call->checkpoint[0])
        call->half_done = al_strdup("The call failed and has no checkpoint, so it cannot be told "
                                    "what it changed until then; look at the files it is about");
    else if (!*after ||
             al_checkpoint_changes_of(call->store, call->checkpoint, after, &changes, NULL) < 0)
        call->half_done = al_strdup("The call failed, and it cannot be told what it changed until "
                                    "then." A_USER_RESTORES);
    else
        call->half_done = settle(call, after, &changes, failure);
    al_differences_clear(&changes);
}

/* Say what a program changed.  Ignored files that are gone are not in the checkpoint. */
static char *tell_changes(const struct al_call *call, const struct al_differences *changes)
{
    al_auto(al_freep) char *words = al_differences_words(changes);
    al_auto(al_closep) int top_fd = -1;
    al_auto(al_strv_clear) struct al_strv gone = AL_STRV_INIT;
    struct al_str out = AL_STR_INIT;

    if (!call->ignored.count || al_location_open_top(&call->repo->at, &top_fd, NULL) < 0)
        return al_take(&words);
    for (size_t i = 0; i < call->ignored.count && gone.count <= NAMED_MAX; i++)
        /* Configuration has some of them in the checkpoints: then it is one of the changes. */
        if (is_missing(top_fd, call->ignored.items[i]) &&
            !al_change_find(changes, AL_PART_WORKTREE, call->ignored.items[i]))
            al_strv_add(&gone, call->ignored.items[i]);
    if (!gone.count)
        return al_take(&words);
    al_str_addf(&out, "%s%sremoved or moved, with no undo since %s: ", words ? words : "",
                words ? ", " : "",
                *gone.items[gone.count - 1] == '/' ? "ignored, or the git directory of a submodule"
                                                   : "ignored");
    al_text_add_list(&out, &gone, NAMED_MAX);
    al_log_warn("%s", out.buf + (words ? strlen(words) + 2 : 0));
    return al_str_detach(&out);
}

void al_call_expect_changes(const struct al_call *call)
{
    const struct al_saved *before;

    if (call->checkpoint[0])
        (void)al_checkpoint_load(call->store, call->checkpoint, false, &before, NULL);
}

int al_call_rescue_begin(struct al_call *call, struct al_error *err)
{
    int r;

    if (!call->checkpoint[0] || !(call->operation->effects & AL_WRITES_WORKTREE))
        return 0;
    r = al_rescue_begin(&call->repo->at, call->session->git->options.require_confinement,
                        &call->rescue, err);
    if (r == 0)
        call->budget.watch = al_rescue_watch(call->rescue);
    return r;
}

void al_call_name_kept(struct al_call *call, const char *what, const struct al_strv *kept)
{
    struct al_str text = AL_STR_INIT;

    if (!kept->count)
        return;
    al_str_addf(&text, "%s%s%s", call->rescued ? call->rescued : "", call->rescued ? "\n\n" : "",
                what);
    for (size_t i = 0; i < kept->count && i < NAMED_MAX; i++)
        al_str_addf(&text, "\n%s", kept->items[i]);
    if (kept->count > NAMED_MAX)
        al_str_addf(&text, "\nand %zu more", kept->count - NAMED_MAX);
    free(call->rescued);
    call->rescued = al_str_detach(&text);
}

/* Names that git was seen to write are the call's too, if somebody moved a branch between the look
 * at what the call can write and git's own. */
static void add_touched(struct al_call *call)
{
    const size_t known = call->writes.count;

    al_strv_sort(&call->writes);
    for (size_t i = 0; i < call->touched.count; i++)
        if (!al_strv_contains_sorted(&(struct al_strv){ call->writes.items, known },
                                     call->touched.items[i]))
            al_strv_add(&call->writes, call->touched.items[i]);
}

/* A file that it could not ask about stays aside. */
static void end_rescue(struct al_call *call)
{
    al_auto(al_strv_clear) struct al_strv kept = AL_STRV_INIT;

    if (!call->rescue)
        return;
    call->knows_touched = al_rescue_take_touched(call->rescue, &call->touched);
    add_touched(call);
    (void)al_rescue_end(call->rescue, call->store, &kept, NULL);
    al_call_name_kept(call,
                      "This call took files away that no checkpoint has: somebody else saved them "
                      "meanwhile, or they are ignored. They are kept here:",
                      &kept);
    al_rescue_free(call->rescue);
    call->rescue = NULL;
}

void al_call_checkpoint_after(struct al_call *call, struct al_error *failure)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_checkpoint_reason reason;
    struct al_run_limits spent = call->budget;
    struct al_differences changes = { .items = NULL };
    char id[AL_OID_TEXT] = "";
    const bool is_gone = call->checkpoint[0] && al_repo_is_gone(call->repo);
    int r = 0;

    spent.watch = NULL;
    call->budget = (struct al_run_limits){ .left_ms = AFTER_MS, .exit_code = -1 };
    end_rescue(call);
    reason = reason_of(call, call->checkpoint);
    if (is_gone)
        al_log_note(
            "git finds no repository here any more%s",
            call->store->holds
                ? ": git init there, and then airlock rollback --force, bring back what it had"
                : "; this cannot be undone");
    if (call->tool->tells_changes)
        reason.ret_changes = &changes;
    if (call->checkpoint[0] && !is_gone && call->moves_all)
        r = al_linked_add(call->repo, &call->linked_before, &call->linked, &err);
    if (call->checkpoint[0] && !is_gone && r == 0)
        r = al_checkpoint_create(call->store, &reason, id, &err);
    call->changes = tell_changes(call, &changes);
    al_differences_clear(&changes);
    if (failure && call->session->checkpoints && !is_gone)
        note_half_done(call, r == 0 ? id : "", failure);
    if (call->checkpoint[0] && !is_gone && r == 0)
        r = al_store_gc(call->store, &err);
    if (r < 0)
        al_log_warn("after %s: %s", call->tool->name, err.message);
    al_store_close(call->store);
    call->store = NULL;
    call->budget = spent;
}
