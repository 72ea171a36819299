// SPDX-License-Identifier: Apache-2.0
#include "verbs/replay/along.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/git_lock.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/index_scan.h"
#include "git/plumbing/revision.h"
#include "git/plumbing/stash_owners.h"
#include "git/reading/read_object.h"
#include "git/reading/worktree_state.h"
#include "git/refs.h"
#include "git/run.h"
#include "guard/text.h"
#include "verbs/follow/follow.h"
#include "verbs/inmemory/inmemory.h"
#include "verbs/porcelain/stash.h"
#include "verbs/replay/work.h"
#include "verbs/sequencer/merge.h"
#include "verbs/sequencer/operation_state.h"
#include "verbs/sequencer/overwrite.h"

/* --- Uncommitted changes --- */

#define NAMED_MAX 10u

static bool add_file(void *payload, const struct al_file_state *file)
{
    if (file->is_submodule && file->staged == '.') /* no command of git's touches it */
        return true;
    al_strv_add(payload, file->path);
    if (file->old_path)
        al_strv_add(payload, file->old_path);
    return true;
}

int al_uncommitted_files(const struct al_repo *repo, struct al_strv *files, bool *ret_staged,
                         struct al_error *err)
{
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;
    int r = al_git_read_worktree_state(repo, "no", add_file, files, &state, err);

    *ret_staged = state.staged > 0;
    return r;
}

/* `made`: what the operation may have staged; NULL: nothing staged counts. */
struct meanwhile {
    const struct al_strv *made;
    struct al_strv *out;
};

static bool add_meanwhile(void *payload, const struct al_file_state *file)
{
    const struct meanwhile *to = payload;
    const bool stages =
        to->made && file->staged != '.' && !al_strv_contains_sorted(to->made, file->path);

    if (file->kind != 'u' && (stages || (file->unstaged != '.' && !file->is_submodule)))
        al_strv_add(to->out, file->path);
    return true;
}

int al_git_changed_meanwhile(const struct al_repo *repo, const char *theirs, struct al_strv *out,
                             struct al_error *err)
{
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;
    al_auto(al_strv_clear) struct al_strv made = AL_STRV_INIT;
    const bool merges = al_git_operation_state(repo) == AL_IN_PROGRESS_MERGE;
    al_auto(al_freep) char *from =
        merges ? al_strdup("HEAD") : al_asprintf("%s^", theirs ? theirs : "");
    struct meanwhile to = { .made = theirs ? &made : NULL, .out = out };
    int r = theirs ? al_git_list_changed(repo, from, theirs, &made, err) : 0;

    return r < 0 ? r : al_git_read_worktree_state(repo, "no", add_meanwhile, &to, &state, err);
}

int al_uncommitted_refuse(const char *why, const struct al_strv *files, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;

    for (size_t i = 0; i < files->count && i < NAMED_MAX; i++) {
        al_auto(al_freep) char *name = al_text_sanitize_line(files->items[i]);

        al_str_addf(&names, "%s'%s'", i ? ", " : "", name);
    }
    if (files->count > NAMED_MAX)
        al_str_addf(&names, " and %zu more", files->count - NAMED_MAX);
    (void)al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_DIRTY_WORKDIR, "%s: %s", why, names.buf);
    return al_error_remedy(al_error_reason(AL_ERR_EXECUTION, err, "conflict"), err,
                           "Commit them with git_commit, or put them aside with git_stash, first.");
}

/* A working tree, or what another one changed: the files, and what is staged. */
enum { FILES, STAGED, KINDS };

/* Two changes of one commit and both together: trees. */
struct bringing {
    struct al_inmemory *memory;
    char *base, *ours[KINDS], *theirs[KINDS], *both[KINDS];
};

static void bringing_clear(struct bringing *bringing)
{
    al_inmemory_free(bringing->memory);
    free(bringing->base);
    for (int i = 0; i < KINDS; i++) {
        free(bringing->ours[i]);
        free(bringing->theirs[i]);
        free(bringing->both[i]);
    }
}

static int refuse_conflicts(const struct al_merged *merged, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    al_conflicts_add_paths(&merged->files, &paths);
    return al_uncommitted_refuse("Uncommitted changes conflict with what comes in, and no file was "
                                 "changed",
                                 &paths, err);
}

/* Merge them, and let the repository have the tree: nothing names it but the index. */
static int merge(struct bringing *bringing, int kind, struct al_error *err)
{
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    al_auto(al_freep) char *oid = NULL;
    const char *const trees[AL_STAGES] = { [AL_STAGE_BASE] = bringing->base,
                                           [AL_STAGE_OURS] = bringing->ours[kind],
                                           [AL_STAGE_THEIRS] = bringing->theirs[kind] };
    int r = al_inmemory_merge_trees(bringing->memory, trees, &merged, err);

    if (r == 0 && merged.conflicted)
        r = refuse_conflicts(&merged, err);
    if (r == 0)
        r = al_inmemory_commit(
            bringing->memory,
            &(struct al_new_commit){ .tree = merged.tree, .message = "uncommitted changes\n" },
            &oid, err);
    bringing->both[kind] = al_take(&merged.tree);
    return r < 0 ? r : al_inmemory_accept(bringing->memory, oid, err);
}

/* The commit that git stash would make of the changes, whose second parent has what is staged. */
static int save(const struct al_repo *repo, bool exactly, char **ret_oid, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* git update-index */
    al_strv_add(&command.argv, "git");
    if (exactly) /* not where line endings would come back as others */
        al_strv_adds(&command.argv, "-c", "core.safecrlf=true", NULL);
    al_strv_adds(&command.argv, "stash", "create", NULL);
    r = al_git_run_word(repo, &command, ret_oid, err);
    if (r < 0 || *ret_oid)
        return r;
    return al_error_remedy(
        al_error_set(err, AL_ERR_EXECUTION,
                     "git cannot save the uncommitted changes, and no file was changed"),
        err,
        "A file that is only intended to be added (git add -N), or whose line endings git would "
        "not bring back, is in the way: git_commit it first.");
}

/* `ours` and `theirs`: a commit, or a stash entry, whose second parent has what is staged. */
static int prepare(const struct al_repo *repo, const char *base, const char *const ours[KINDS],
                   const char *const theirs[KINDS], struct bringing *bringing, struct al_error *err)
{
    int r = al_inmemory_open(repo, &bringing->memory, err);

    if (r == 0)
        r = al_inmemory_tree(bringing->memory, base, &bringing->base, err);
    for (int i = 0; r == 0 && i < KINDS; i++) {
        r = al_inmemory_tree(bringing->memory, ours[i], &bringing->ours[i], err);
        if (r == 0)
            r = al_inmemory_tree(bringing->memory, theirs[i], &bringing->theirs[i], err);
        if (r == 0)
            r = merge(bringing, i, err);
    }
    return r;
}

/* Go from the files that are on disk to both. */
static int apply(struct al_repo *repo, const struct bringing *bringing, const char *on_disk,
                 struct al_error *err)
{
    /* The index gets the files as they are, so that git knows them for its own. */
    const char *const known[] = { "-m", "-i", on_disk, NULL };
    const char *const files[] = { "-m", "-u", on_disk, bringing->both[FILES], NULL };
    const char *const staged[] = { "-m", "-i", bringing->both[STAGED], NULL };
    int r = al_index_read_tree(repo, NULL, known, err);

    if (r == 0)
        r = al_git_refresh_index(&repo->at, err);
    if (r == 0)
        r = al_index_read_tree(repo, NULL, files, err);
    if (r == 0)
        r = al_index_read_tree(repo, NULL, staged, err);
    return r < 0 ? r : al_git_refresh_index(&repo->at, err);
}

int al_uncommitted_bring(struct al_repo *repo, const char *from, const char *to,
                         struct al_error *err)
{
    al_auto(bringing_clear) struct bringing bringing = { .memory = NULL };
    al_auto(al_freep) char *saved = NULL;
    al_auto(al_freep) char *staged = NULL;
    int r = save(repo, false, &saved, err);

    staged = al_asprintf("%s^2", saved ? saved : "");
    if (r == 0)
        r = prepare(repo, from, (const char *const[]){ to, to },
                    (const char *const[]){ saved, staged }, &bringing, err);
    return r < 0 ? r : apply(repo, &bringing, bringing.theirs[FILES], err);
}

/* --- Waiting --- */

/* Whether one of these files differs between two commits or trees. */
static int find_met(const struct al_repo *view, const char *from, const char *to,
                    const struct al_strv *files, bool *ret_met, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv changed = AL_STRV_INIT;
    int r = al_git_list_changed(view, from, to, &changed, err);

    for (size_t i = 0; i < files->count; i++)
        *ret_met |= al_strv_contains_sorted(&changed, files->items[i]);
    return r;
}

/* Fail where the changes cannot be put aside whole. */
static int check_aside(const struct al_repo *repo, const struct al_strv *files,
                       struct al_error *err)
{
    const struct al_stash_options push = { .action = AL_STASH_PUSH };
    al_auto(al_freep) char *waiting = al_operation_oid(repo, AL_WAITING_CHANGES);
    int r = waiting ? al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_DIRTY_WORKDIR,
                                        "It would stop at a conflict, and other uncommitted "
                                        "changes wait still")
                    : al_git_stash_check(repo, &push, err);

    if (waiting && err)
        err->remedy = "git_conflicts with action continue brings them back.";
    if (r == 0)
        r = al_git_check_downloaded(repo, "HEAD", NULL, err);
    return r < 0 ? r : al_overwrite_check_files(repo, files, err);
}

int al_uncommitted_set_aside(struct al_repo *repo, const struct al_repo *view, const char *from,
                             const char *to, struct al_error *err)
{
    static const char *const clean[] = { "--reset", "-u", "HEAD", NULL };
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    al_auto(al_freep) char *saved = NULL;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    al_auto(al_closep) int git_dir = -1;
    bool met = false;
    int r = al_uncommitted_files(repo, &files, &met, err);

    met |= !to;
    if (r == 0 && !met)
        r = find_met(view, from, to, &files, &met, err);
    if (r < 0 || !files.count || !met)
        return r;
    r = check_aside(repo, &files, err);
    if (r == 0)
        r = save(repo, true, &saved, err);
    if (r == 0)
        r = al_location_open_git_dir(&repo->at, &git_dir, err);
    if (r < 0)
        return r;
    al_str_addf(&line, "%s\n", saved);
    r = al_fs_write_atomic(git_dir, AL_WAITING_CHANGES, line.buf, line.len, 0666, false);
    if (r < 0)
        return al_error_errno(err, -r, "cannot write " AL_WAITING_CHANGES);
    return al_index_read_tree(repo, NULL, clean, err);
}

/* The files on disk and those that waited, both together. */
static int prepare_back(const struct al_repo *repo, const char *saved, struct bringing *bringing,
                        struct al_error *err)
{
    al_auto(al_freep) char *base = al_asprintf("%s^1", saved), *staged = al_asprintf("%s^2", saved);
    al_auto(al_freep) char *now = NULL, *now_staged = NULL;
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT, sides = AL_STRV_INIT;
    bool has_staged;
    int r = al_uncommitted_files(repo, &files, &has_staged, err);

    if (r == 0 && files.count)
        r = save(repo, false, &now, err);
    now_staged = now ? al_asprintf("%s^2", now) : al_strdup("HEAD");
    if (r == 0)
        r = prepare(repo, base, (const char *const[]){ now ? now : "HEAD", now_staged },
                    (const char *const[]){ saved, staged }, bringing, err);
    if (r == 0)
        r = al_overwrite_check(repo, bringing->ours[FILES], bringing->both[FILES], err);
    al_strv_add(&sides, saved);
    return r < 0 ? r : al_git_check_merge_programs(repo, base, &sides, err);
}

int al_uncommitted_bring_back(struct al_repo *repo, const char *saved, const char *agent,
                              char **ret_why, struct al_error *err)
{
    al_auto(bringing_clear) struct bringing bringing = { .memory = NULL };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_closep) int git_dir = -1;
    int r = prepare_back(repo, saved, &bringing, &why);

    if (r == 0)
        r = apply(repo, &bringing, bringing.ours[FILES], err);
    else if (r == AL_ERR_EXECUTION) {
        r = al_git_stash_store(repo, "uncommitted changes", saved, err);
        *ret_why = al_take(&why.message);
        al_stash_owners_add(repo, saved, agent);
    } else {
        r = al_error_pass(r, &why, err);
    }
    if (r == 0)
        r = al_location_open_git_dir(&repo->at, &git_dir, err);
    if (r == 0 && unlinkat(git_dir, AL_WAITING_CHANGES, 0) < 0)
        r = al_error_errno(err, errno, "cannot remove " AL_WAITING_CHANGES);
    return r;
}

/* --- Branches --- */

#define HEADS "refs/heads/"
#define NONE  SIZE_MAX

/* The places of branches, while those of the repository are gone through. */
struct placing {
    const struct al_repo *repo;
    const struct al_strv *list;
    struct al_replay_work *work;
    struct al_strv current, *held;
    struct al_error *err;
    int r;
};

/* The last step that makes something of a commit. */
static size_t find_step(const struct al_replay_work *work, const char *commit)
{
    for (size_t i = work->nsteps - work->rests; i-- > 0;) {
        const struct al_replay_step *step = &work->steps[i];

        if (!strcmp(step->part_of ? step->part_of : step->commit, commit))
            return i;
    }
    return NONE;
}

static size_t find_listed(const struct al_strv *list, const char *commit)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i], commit))
            return i;
    return NONE;
}

static bool step_melds(const struct al_replay_work *work, size_t i)
{
    return i < work->nsteps - work->rests && al_replay_melds(&work->steps[i]);
}

/* Whether a step that melds was moved: what is before it is another step than in the list.  git
 * --autosquash puts it between a commit and the branches there; so do users. */
static bool is_moved(const struct placing *to, size_t step)
{
    const struct al_replay_work *work = to->work;
    size_t i = find_listed(to->list, work->steps[step].commit), before = NONE;

    if (work->autosquashes)
        return true;
    while (i != NONE && before == NONE && i-- > 0)
        before = find_step(work, to->list->items[i]);
    return before != step - 1 || (step_melds(work, before) && is_moved(to, before));
}

/* The number of steps after which a branch at this commit of the list is moved.  One whose commit
 * is gone, or was moved into another, goes to what is left before it. */
static size_t find_place(const struct placing *to, size_t listed)
{
    const struct al_replay_work *work = to->work;
    size_t after = 0;

    for (size_t i = listed + 1; !after && i-- > 0;) {
        const size_t step = find_step(work, to->list->items[i]);

        if (step != NONE && !(step_melds(work, step) && is_moved(to, step)))
            after = step + 1;
    }
    if (after && step_melds(work, after) && is_moved(to, after))
        while (step_melds(work, after))
            after++;
    return after;
}

static void hold(const char *name, const struct al_branch_user *user, struct al_strv *held)
{
    static const char *const uses[] = { [AL_BRANCH_CHECKED_OUT] = "checked out",
                                        [AL_BRANCH_REBASED] = "being rebased",
                                        [AL_BRANCH_BISECTED] = "being bisected" };
    al_auto(al_freep) char *branch = al_text_sanitize_line(name);
    al_auto(al_freep) char *top = al_text_sanitize_line(user->top ? user->top : "elsewhere");

    al_strv_addf(held, "%s (%s%s %s)", branch, uses[user->use], user->top ? " in" : "", top);
}

static bool place_branch(void *payload, const struct al_listed_ref *branch)
{
    struct placing *to = payload;
    struct al_replay_work *work = to->work;
    const size_t listed = find_listed(to->list, branch->hash);
    al_auto(al_freep) char *ref = al_asprintf(HEADS "%s", branch->name);
    al_auto(al_freep) char *value = listed == NONE ? NULL : al_ref_read_loose(&to->repo->at, ref);
    al_auto(al_branch_users_clear) struct al_branch_users users = { .items = NULL };

    if (listed == NONE || al_strv_contains(&to->current, ref) ||
        (value && al_starts_with(value, "ref:"))) /* what it stands for moves by itself */
        return true;
    to->r = al_branch_find_users(to->repo, ref, &users, to->err);
    if (users.count)
        hold(branch->name, &users.items[0], to->held);
    if (to->r < 0 || users.count)
        return to->r == 0;
    work->followers =
        al_reallocarray(work->followers, work->nfollowers + 1, sizeof(*work->followers));
    work->followers[work->nfollowers++] = (struct al_follower){ .ref = al_take(&ref),
                                                                .from = al_strdup(branch->hash),
                                                                .after = find_place(to, listed) };
    return true;
}

int al_replay_add_followers(const struct al_repo *repo, const struct al_strv *list,
                            struct al_replay_work *work, struct al_strv *ret_held,
                            struct al_error *err)
{
    const struct al_refs_query query = { .ids = true };
    struct placing to = { .repo = repo,
                          .list = list,
                          .work = work,
                          .current = AL_STRV_INIT,
                          .held = ret_held,
                          .err = err };
    int r;

    al_ref_follow_head(&repo->at, &to.current);
    r = al_git_read_refs(repo, &query, place_branch, &to, err);
    al_strv_clear(&to.current);
    return r < 0 ? r : to.r;
}

const char *al_follower_to(const struct al_replay_work *work, const struct al_follower *follower)
{
    const struct al_strv *tips = &work->replayed.tips;

    if (!follower->after)
        return work->onto;
    return follower->after <= tips->count ? tips->items[follower->after - 1] : NULL;
}

int al_replay_check_followers(const struct al_repo *repo, const struct al_replay_work *work,
                              struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->nfollowers; i++) {
        const struct al_follower *follower = &work->followers[i];
        al_auto(al_freep) char *now = al_ref_oid(&repo->at, follower->ref);
        al_auto(al_freep) char *name = al_text_sanitize_line(follower->ref + strlen(HEADS));
        al_auto(al_branch_users_clear) struct al_branch_users users = { .items = NULL };

        r = al_branch_find_users(repo, follower->ref, &users, err);
        if (r == 0 && (users.count || strcmp(now, follower->from) != 0))
            r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                                  "'%s', which was to follow, was moved or checked out while this "
                                  "was prepared; nothing was done",
                                  name);
    }
    return r;
}
