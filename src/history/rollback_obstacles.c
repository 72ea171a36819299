// SPDX-License-Identifier: Apache-2.0
/* Whether each file, index entry, reference and worktree may be put back, or somebody else has
 * changed it since. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "git/plumbing/batch.h"
#include "git/plumbing/revision.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "history/rescue.h"
#include "history/rollback_private.h"
#include "verbs/worktree/add.h"

#define SYMBOLIC_MAX 5 /* as git: longer chains of symbolic references are an error */
#define STASH_REF    "refs/stash"
#define STASH_LOG    "logs/refs/stash"

/* --- The stash --- */

/* Read the entries of the stash's log, oldest first.  A line is "<id of the entry before> <id>
 * <who> ..."; the first word changes when an entry is removed, and is left out. */
static int read_entries(const struct al_way *way, const char *blob, struct al_strv *ret_entries,
                        struct al_error *err)
{
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT;
    char *save = NULL;
    int r = al_way_read_blob(way, blob, &log, err);

    for (char *line = r == 0 && log.len ? strtok_r(log.buf, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save))
        if (strchr(line, ' '))
            al_strv_add(ret_entries, strchr(line, ' ') + 1);
    return r;
}

/* Caller frees. */
static char *id_of(const char *entry)
{
    return al_strndup(entry, strcspn(entry, " "));
}

/* Whether going back loses an entry.  Entries can leave the log without a change by a user (`git
 * reflog expire`); only one that the target does not have would be lost, and not one of another
 * worktree, which stays, nor one that the executions have left. */
static int loses_entry(const struct al_way *way, const struct al_difference *change,
                       const char *now, bool *ret_loses, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv entries = AL_STRV_INIT, known = AL_STRV_INIT;
    int r = read_entries(way, now, &entries, err);

    if (r == 0)
        r = read_entries(way, change->to, &known, err);
    if (r == 0)
        r = read_entries(way, change->from, &known, err);
    *ret_loses = false;
    for (size_t i = 0; r == 0 && i < entries.count; i++) {
        al_auto(al_freep) char *id = id_of(entries.items[i]);

        *ret_loses |=
            !al_strv_contains(&known, entries.items[i]) && !al_stash_is_others(&way->owners, id);
    }
    return r;
}

int al_obstacles_others(struct al_way *way, const struct al_difference *change, const char *now,
                        unsigned now_mode, struct al_error *err)
{
    bool loses = true;
    int r = 0;

    if (al_difference_is_note(change) ||
        al_change_is_same(now, now_mode, change->to, change->to_mode))
        return 0;
    if (change->part == AL_PART_STASH)
        r = loses_entry(way, change, now, &loses, err);
    /* The log of a stash that worktrees share tells whose entries there are. */
    else if (change->part == AL_PART_REF && !strcmp(change->name, STASH_REF))
        loses = !way->owners.is_shared;
    if (r == 0 && loses)
        al_strv_take(&way->report->lost, al_difference_words(change));
    return r;
}

/* Append the entries that belong to other worktrees as the newest ones, and name those that belong
 * to none, which go: another program pushed them while an execution ran, whose change they seem to
 * be. */
static void keep_others(struct al_way *way, const struct al_strv *now, struct al_strv *entries)
{
    const bool is_lost = al_strv_contains(&way->report->lost, "the stash");

    for (size_t i = 0; way->owners.is_shared && i < now->count; i++) {
        al_auto(al_freep) char *id = id_of(now->items[i]);
        al_auto(al_freep) char *whose = al_stash_owner_words(&way->owners, id);

        if (al_strv_contains(entries, now->items[i]) || al_stash_is_own(&way->owners, id))
            continue;
        if (al_stash_is_others(&way->owners, id))
            al_strv_add(entries, now->items[i]);
        else if (!is_lost)
            al_strv_addf(&way->report->lost, "stash@{%zu} (%s)", now->count - 1 - i, whose);
    }
}

/* Let refs/stash name the newest entry that comes back: the executions may have changed the log
 * alone, when they dropped an older entry. */
static void move_stash(struct al_way *way, const struct al_strv *entries)
{
    const struct al_difference *now = al_change_find(&way->from->values, AL_PART_REF, STASH_REF);
    struct al_difference *ref = al_change_find(&way->changes, AL_PART_REF, STASH_REF);
    al_auto(al_freep) char *newest =
        entries->count ? id_of(entries->items[entries->count - 1]) : NULL;
    static char name[] = STASH_REF;

    if (!newest)
        return;
    if (ref)
        al_change_drop(&way->changes, ref);
    if (!now || strcmp(now->to, newest) != 0)
        al_change_add(&way->changes, &(struct al_difference){ .part = AL_PART_REF,
                                                              .name = name,
                                                              .from = now ? now->to : NULL,
                                                              .to = newest });
}

/* The first entry comes from no other. */
static void write_entries(const struct al_strv *entries, struct al_str *log)
{
    static const char none[] = "0000000000000000000000000000000000000000000000000000000000000000";

    for (size_t i = 0; i < entries->count; i++) {
        const char *before = i ? entries->items[i - 1] : none;

        al_str_addf(log, "%.*s %s\n", (int)strcspn(entries->items[i], " "), before,
                    entries->items[i]);
    }
}

int al_obstacles_stash(struct al_way *way, struct al_error *err)
{
    struct al_difference *change = al_change_find(&way->changes, AL_PART_STASH, STASH_LOG);
    al_auto(al_strv_clear) struct al_strv now = AL_STRV_INIT, entries = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT, before = AL_STR_INIT;
    char oid[AL_OID_TEXT];
    size_t count;
    int r = change ? read_entries(way, change->from, &now, err) : 0;

    if (change && r == 0)
        r = read_entries(way, change->to, &entries, err);
    if (!change || r < 0)
        return r;
    count = entries.count;
    keep_others(way, &now, &entries);
    move_stash(way, &entries);
    if (entries.count == count)
        return 0;
    change = al_change_find(&way->changes, AL_PART_STASH, STASH_LOG);
    write_entries(&now, &before);
    write_entries(&entries, &log);
    if (!strcmp(before.buf, log.buf)) {
        al_change_drop(&way->changes, change);
        return 0;
    }
    r = al_pending_checkpoint_blob(way->pending, &log, oid, err);
    if (r < 0)
        return r;
    free(change->to);
    change->to = al_strdup(oid);
    change->to_mode = change->from_mode;
    return 0;
}

/* --- In the way --- */

static void add_in_the_way(struct al_way *way, const struct al_difference *value,
                           struct al_differences *changes)
{
    struct al_difference change;

    if (!al_change_has_place(value) || al_change_find(changes, value->part, value->name))
        return;
    change = (struct al_difference){
        .part = value->part, .name = value->name, .from_mode = value->to_mode, .from = value->to
    };
    al_change_add(changes, &change);
    if (!way->plan.resumes)
        al_strv_take(&way->report->lost, al_difference_words(&change));
}

/* An added change has no `to`: it makes no more changes, wherever it is put. */
void al_obstacles_in_the_way(struct al_way *way, const struct al_differences *now,
                             struct al_differences *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        const enum al_part which = changes->items[i].part;
        al_auto(al_freep) char *part = al_asprintf("%s/", changes->items[i].name);

        if (!al_change_has_place(&changes->items[i]))
            continue;
        for (size_t at = al_change_at(now, which, part);
             at < now->count && now->items[at].part == which &&
             al_starts_with(now->items[at].name, part);
             at++)
            add_in_the_way(way, &now->items[at], changes);
        part[strlen(part) - 1] = '\0';
        for (char *slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
            *slash = '\0';
            add_in_the_way(way, al_change_find(now, which, part), changes);
            *slash = '/';
        }
    }
}

static bool is_removed(const void *payload, const char *path)
{
    const struct al_way *way = payload;
    const struct al_difference *found = al_change_find(&way->changes, AL_PART_WORKTREE, path);

    return found && !found->to;
}

/* The thing in the place of a file that is not there, or of its directory; NULL: nothing, or just
 * this file.  Caller frees. */
static char *find_unsaved(const struct al_way *way, const struct al_difference *change)
{
    const char *name;
    al_auto(al_closep) int parent_fd =
        al_nofollow_open_parent(way->top_fd, change->name, false, &name);
    al_auto(al_freep) char *blocked =
        parent_fd < 0 ? al_nofollow_blocked(way->top_fd, change->name) : NULL;
    struct al_look look = { .mode = 0 };

    if (parent_fd < 0)
        return blocked && !is_removed(way, blocked) ? al_take(&blocked) : NULL;
    al_look_at(parent_fd, name, way->store->sha256, &look);
    if (S_ISDIR(look.mode))
        return al_nofollow_find_file(parent_fd, name, change->name, is_removed, way);
    return !look.mode || ((look.mode & S_IFMT) == (change->to_mode & S_IFMT) &&
                          al_look_has(&look, way->store->sha256, change->to))
               ? NULL
               : al_strdup(change->name);
}

void al_obstacles_unsaved(struct al_way *way)
{
    for (size_t i = 0; i < way->changes.count; i++) {
        const struct al_difference *change = &way->changes.items[i];
        al_auto(al_freep) char *found = al_change_is_file(change) && change->to && !change->from
                                            ? find_unsaved(way, change)
                                            : NULL;

        if (found)
            al_strv_take(&way->report->unsaved, al_text_sanitize_line(found));
    }
    al_paths_sort_once(&way->report->unsaved); /* it is the same for all files of a directory */
}

/* --- Branches that other worktrees have checked out --- */

static bool will_go(const struct al_way *way, const char *id)
{
    for (size_t i = 0; i < way->nworktrees; i++)
        if (way->worktrees[i].goes && way->worktrees[i].found.id &&
            !strcmp(way->worktrees[i].found.id, id))
            return true;
    return false;
}

static bool was_moved(const struct al_way *way, const char *name)
{
    for (size_t i = way->plan.oldest; i < way->plan.end; i++)
        if (way->executions.items[i].has_after &&
            al_change_find(&way->executions.items[i].changes, AL_PART_REF, name))
            return true;
    return false;
}

static int refuse_branch(const struct al_head *head, bool moves, struct al_error *err)
{
    al_auto(al_freep) char *branch = al_text_sanitize_line(head->branch);
    al_auto(al_freep) char *name = al_text_sanitize_line(head->name ? head->name : "");
    al_auto(al_freep) char *place =
        head->name ? al_asprintf("the worktree '%s'", name) : al_strdup("the main working tree");

    return al_error_set(err, AL_ERR_EXECUTION,
                        moves ? "the rollback would move '%s', which %s has checked out; roll back "
                                "there, or switch it to another branch first"
                              : "the rollback would check out '%s', which %s has checked out; "
                                "switch it to another branch first",
                        branch, place);
}

/* A branch that goes must not be left checked out, unless it had no commit then either. */
static int check_own_head(struct al_way *way, const char *branch, struct al_error *err)
{
    const struct al_difference *ref = al_change_find(&way->changes, AL_PART_REF, branch);
    const char *before = way->executions.items[way->plan.oldest].before;
    al_auto(al_freep) char *safe = al_text_sanitize_line(branch);
    const struct al_saved *saved;
    int r = 0;

    if (!ref || ref->to || al_change_find(&way->changes, AL_PART_HEAD, "HEAD"))
        return 0;
    r = al_checkpoint_load(way->store, before, false, &saved, err);
    return r < 0 || !strcmp(al_change_find(&saved->values, AL_PART_HEAD, "HEAD")->to,
                            al_change_find(&way->from->values, AL_PART_HEAD, "HEAD")->to)
               ? r
               : al_error_set(err, AL_ERR_EXECUTION,
                              "the rollback would delete '%s', which is checked out; switch to "
                              "another branch first",
                              safe);
}

struct elsewhere {
    struct al_way *way;
    struct al_error *err;
    int r;
};

/* A branch that none of the undone executions is known to have moved was moved by whoever works
 * there, and stays.  One that was moved is refused: the files and the index of that worktree would
 * belong to another commit.  And git lets no two worktrees have one branch checked out.  The HEAD
 * of a bare repository, which has no index, is nobody's working tree. */
static bool check_head(void *payload, const struct al_head *head)
{
    struct elsewhere *elsewhere = payload;
    struct al_way *way = elsewhere->way;
    const struct al_difference *own = al_change_find(&way->changes, AL_PART_HEAD, "HEAD");
    struct al_difference *ref;
    bool checks_out;

    if (head->is_own && head->branch)
        elsewhere->r = check_own_head(way, head->branch, elsewhere->err);
    if (head->is_own || !head->branch || (head->name ? will_go(way, head->name) : !head->has_index))
        return elsewhere->r == 0;
    ref = al_change_find(&way->changes, AL_PART_REF, head->branch);
    checks_out = own && own->to && al_starts_with(own->to, "ref: ") &&
                 !strcmp(own->to + strlen("ref: "), head->branch);
    if (checks_out || (ref && was_moved(way, head->branch))) {
        elsewhere->r = refuse_branch(head, !checks_out, elsewhere->err);
    } else if (ref) {
        al_auto(al_freep) char *words = al_difference_words(ref);
        struct al_strv kept = AL_STRV_INIT;

        for (size_t i = 0; i < way->report->lost.count; i++)
            if (strcmp(way->report->lost.items[i], words) != 0)
                al_strv_add(&kept, way->report->lost.items[i]);
        al_strv_clear(&way->report->lost);
        way->report->lost = kept;
        al_change_drop(&way->changes, ref);
    }
    return elsewhere->r == 0;
}

static int check_branches(struct al_way *way, struct al_error *err)
{
    struct elsewhere elsewhere = { .way = way, .err = err };
    int r = al_git_each_head(&way->repo->at, check_head, &elsewhere, err);

    return r < 0 ? r : elsewhere.r;
}

/* --- What was staged, and committed since by somebody else --- */

static const char *value_of(const struct al_saved *state, const struct al_differences *changes,
                            enum al_part part, const char *name)
{
    const struct al_difference *change = changes ? al_change_find(changes, part, name) : NULL;

    if (!change)
        change = al_change_find(&state->values, part, name);
    return change ? change->to : NULL;
}

void al_state_commit(const struct al_saved *state, const struct al_differences *changes,
                     char ret_commit[AL_OID_TEXT])
{
    const char *value = value_of(state, changes, AL_PART_HEAD, "HEAD");

    for (int i = 0; value && i < SYMBOLIC_MAX && al_starts_with(value, "ref: "); i++)
        value = value_of(state, changes, AL_PART_REF, value + strlen("ref: "));
    if (!value || al_starts_with(value, "ref: "))
        value = AL_COMMIT_NONE;
    if (!changes && (state->commit[0] || state->without & AL_PARTS_REFS))
        value = state->commit;
    (void)snprintf(ret_commit, AL_OID_TEXT, "%s", value);
}

const char *al_commit_treeish(const struct al_store *store, const char *commit)
{
    return strcmp(commit, AL_COMMIT_NONE) != 0 ? commit : al_git_empty_tree(store->repo);
}

/* The index holds changes of HEAD's commit.  The entries that come back may be another change where
 * HEAD has another commit by now: the removal of a file that was committed since, or its old
 * content.  Such files are named. */
static int check_committed(struct al_way *way, struct al_error *err)
{
    const struct al_saved *state;
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    char then[AL_OID_TEXT], after[AL_OID_TEXT];
    int r;

    if (way->plan.resumes || !way->staged_of[0])
        return 0;
    r = al_checkpoint_load(way->store, way->staged_of, false, &state, err);
    if (r < 0)
        return r;
    al_state_commit(state, NULL, then);
    al_state_commit(way->from, &way->changes, after);
    if (!then[0] || !strcmp(then, after))
        return 0;
    r = al_git_list_changed(way->repo, al_commit_treeish(way->store, then),
                            al_commit_treeish(way->store, after), &files, &why);
    if (r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED)
        return al_error_set(err, r, "%s", why.message);
    if (r < 0) /* a commit that was amended, and is gone */
        al_strv_add(&way->report->committed, "the index (what is staged)");
    for (size_t i = 0; r == 0 && i < files.count; i++) {
        al_auto(al_freep) char *name = al_asprintf("/%s", files.items[i]);

        /* Each may change without entries to tell.  On another branch each does. */
        if (!way->entries.count || al_change_find(&way->changes, AL_PART_HEAD, "HEAD") ||
            al_change_find(&way->entries, AL_PART_INDEX, name))
            al_strv_take(&way->report->committed, al_text_sanitize_line(files.items[i]));
    }
    return 0;
}

/* --- An operation in progress --- */

/* Somebody else has begun an operation since: nothing must move below it. */
static int check_in_progress(struct al_way *way, struct al_error *err)
{
    static const char *const states[][2] = { { "MERGE_HEAD", "merge" },
                                             { "rebase-merge/onto", "rebase" },
                                             { "rebase-apply/next", "rebase" },
                                             { "CHERRY_PICK_HEAD", "cherry-pick" },
                                             { "REVERT_HEAD", "revert" } };
    const size_t at = al_change_at(&way->changes, AL_PART_INDEX, "");
    const bool moves = at < way->changes.count && way->changes.items[at].part < AL_PART_STASH;
    const struct al_saved *before;
    int r = al_checkpoint_load(way->store, way->executions.items[way->plan.oldest].before, false,
                               &before, err);

    for (size_t i = 0; i < AL_COUNT(states) && r == 0 && moves; i++)
        if (al_change_find(&way->from->values, AL_PART_STATE, states[i][0]) &&
            !al_change_find(&way->changes, AL_PART_STATE, states[i][0]) &&
            !al_change_find(&before->values, AL_PART_STATE, states[i][0]))
            r = al_error_set(err, AL_ERR_EXECUTION,
                             "a %s has been begun since; finish or abort it first", states[i][1]);
    return r;
}

/* --- Linked worktrees --- */

static int read_worktrees(struct al_way *way, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < way->changes.count && r == 0; i++) {
        const struct al_difference *change = &way->changes.items[i];
        al_auto(al_str_clear) struct al_str from = AL_STR_INIT;
        struct al_linked_change *item;

        if (change->part != AL_PART_LINKED)
            continue;
        way->worktrees =
            al_reallocarray(way->worktrees, way->nworktrees + 1, sizeof(*way->worktrees));
        item = &way->worktrees[way->nworktrees++];
        *item = (struct al_linked_change){
            .top = strchr(change->name, '/'),
            .name = strrchr(change->name, '/') + 1,
            .is_lock = al_starts_with(change->name, AL_LINKED_LOCK_PREFIX),
            .text = AL_STR_INIT,
            .place = AL_WORKTREE_PLACE_INIT,
            .found = AL_WORKTREE_FOUND_INIT,
        };
        r = al_way_read_blob(way, change->from, &from, err);
        if (r == 0)
            r = al_way_read_blob(way, change->to, &item->text, err);
        item->from = al_linked_is(&from);
        item->to = al_linked_is(&item->text);
        item->goes = !item->is_lock && item->from && !al_change_is_same(item->from, 0, item->to, 0);
        item->returns =
            !item->is_lock && item->to && !al_change_is_same(item->from, 0, item->to, 0);
        if (r == 0)
            r = al_linked_find(way->repo, item->top, &item->place, &item->found, err);
    }
    return r;
}

/* Whether the rollback unlocks a worktree, or brings it back, as well. */
static bool also(const struct al_way *way, const char *top, bool unlocks)
{
    for (size_t i = 0; i < way->nworktrees; i++) {
        const struct al_linked_change *change = &way->worktrees[i];

        if ((unlocks ? change->is_lock : change->returns) && !strcmp(change->top, top))
            return true;
    }
    return false;
}

/* Somebody has locked it since, or put something else into its place, or works there. */
static int check_removal(const struct al_way *way, const struct al_linked_change *change,
                         struct al_error *err)
{
    al_auto(al_freep) char *running = al_journal_running_in(way->journal_file, change->found.top);
    int r = 0;

    if (change->found.id && change->found.locked && !also(way, change->top, true))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the rollback would remove the worktree '%s', which is locked; unlock "
                            "it first",
                            change->name);
    if (change->found.id && !change->found.locked)
        r = al_worktree_check_removable(&change->place, &change->found, change->name, err);
    return r < 0 || !running
               ? r
               : al_error_set(err, AL_ERR_EXECUTION,
                              "the rollback would remove the worktree '%s', in which %s runs",
                              change->name, running);
}

/* A worktree is locked again that somebody else removed since; it may have been made again. */
static void check_locked(struct al_way *way, const struct al_linked_change *change)
{
    al_auto(al_freep) char *id = al_worktree_identity(&change->found);

    if (way->plan.resumes || !change->to || also(way, change->top, false) ||
        (id && !strcmp(id, change->to)))
        return;
    al_strv_addf(&way->report->lost, "the lock of the worktree '%s', which %s", change->name,
                 change->found.id ? "was made again since" : "is gone");
}

static int check_worktrees(struct al_way *way, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < way->nworktrees && r == 0; i++) {
        const struct al_linked_change *change = &way->worktrees[i];

        if (change->goes)
            r = check_removal(way, change, err);
        if (r == 0 && change->returns)
            r = al_worktree_check_return(way->repo, &change->place, &change->found, change->name,
                                         change->to, err);
        if (r == 0 && change->is_lock)
            check_locked(way, change);
    }
    return r;
}

/* --- All of it --- */

int al_obstacles_check(struct al_way *way, struct al_error *err)
{
    static int (*const checks[])(struct al_way * way, struct al_error * err) = {
        read_worktrees, check_worktrees, check_in_progress, check_branches, check_committed,
    };
    int r = 0;

    for (size_t i = 0; r == 0 && i < AL_COUNT(checks); i++)
        r = checks[i](way, err);
    if (r == 0)
        al_obstacles_unsaved(way);
    al_paths_sort_once(&way->report->lost); /* it may be lost in several places */
    return r;
}
