// SPDX-License-Identifier: Apache-2.0
#include "gitops/replay/along.h"

#include <stdlib.h>

#include "gitops/follow/branch_use.h"
#include "gitops/git_lock.h"
#include "gitops/inmemory/inmemory.h"
#include "gitops/plumbing/revision.h"
#include "gitops/reading/read_refs.h"
#include "gitops/reading/worktree_state.h"
#include "gitops/refs.h"
#include "gitops/replay/work.h"
#include "gitops/run.h"
#include "guard/text.h"

/* --- Uncommitted changes --- */

#define NAMED_MAX 10u

static const char remedy[] =
    "Commit them with git_commit, or put them aside with git_stash, first.";

static int dirty(int r, struct al_error *err)
{
    if (err) {
        err->reason = "conflict";
        err->remedy = remedy;
    }
    return r;
}

int al_uncommitted_count(const struct al_repo *repo, struct al_run_limits *budget,
                         struct al_uncommitted *ret_count, struct al_error *err)
{
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;
    int r = al_git_read_worktree_state(repo, "no", NULL, NULL, budget, &state, err);

    *ret_count = (struct al_uncommitted){ state.staged, state.unstaged };
    return r;
}

int al_uncommitted_refuse(const struct al_uncommitted *count, const struct al_merged *stops_at,
                          struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (count->staged)
        al_str_addf(&text, "%zu staged", count->staged);
    if (count->unstaged)
        al_str_addf(&text, "%s%zu not staged", count->staged ? ", " : "", count->unstaged);
    if (stops_at && stops_at->count) {
        al_auto(al_freep) char *name = al_text_sanitize_line(stops_at->conflicts[0].path);

        al_str_addf(&text, ", and it would stop at a conflict in %s", name);
    }
    if (stops_at && stops_at->count > 1)
        al_str_addf(&text, " and %zu more", stops_at->count - 1);
    return dirty(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_DIRTY_WORKDIR,
                                   "There are uncommitted changes: %s", text.buf),
                 err);
}

/* The changes as they are, and as they will be: trees. */
struct bringing {
    struct al_inmemory *memory;
    char *from, *to;
    char *files, *new_files, *new_index;
};

static void bringing_clear(struct bringing *bringing)
{
    al_inmemory_free(bringing->memory);
    free(bringing->from);
    free(bringing->to);
    free(bringing->files);
    free(bringing->new_files);
    free(bringing->new_index);
}

static int refuse_conflicts(const struct al_merged *merged, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;

    al_merged_paths(merged, &paths);
    for (size_t i = 0; i < paths.count && i < NAMED_MAX; i++) {
        al_auto(al_freep) char *name = al_text_sanitize_line(paths.items[i]);

        al_str_addf(&names, "%s'%s'", i ? ", " : "", name);
    }
    if (paths.count > NAMED_MAX)
        al_str_addf(&names, " and %zu more", paths.count - NAMED_MAX);
    return dirty(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_DIRTY_WORKDIR,
                                   "Uncommitted changes conflict with what comes in, and no file "
                                   "was changed: %s",
                                   names.buf),
                 err);
}

/* Merge a tree of the changes with what the commit changes. */
static int merge(struct bringing *bringing, const char *changed, struct al_run_limits *budget,
                 char **ret_tree, struct al_error *err)
{
    al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;
    const char *const trees[AL_SIDES] = {
        [AL_SIDE_BASE] = bringing->from, [AL_SIDE_OURS] = bringing->to, [AL_SIDE_THEIRS] = changed
    };
    int r = al_inmemory_merge_trees(bringing->memory, trees, budget, &merged, err);

    if (r == 0 && merged.conflicted)
        r = refuse_conflicts(&merged, err);
    if (r == 0)
        *ret_tree = al_take(&merged.tree);
    return r;
}

/* Let the repository have a tree that was made in memory: nothing names it but the index. */
static int accept(struct bringing *bringing, const char *tree, struct al_run_limits *budget,
                  struct al_error *err)
{
    const struct al_new_commit commit = { .tree = tree, .message = "uncommitted changes\n" };
    al_auto(al_freep) char *oid = NULL;
    int r = al_inmemory_commit(bringing->memory, &commit, budget, &oid, err);

    return r < 0 ? r : al_inmemory_accept(bringing->memory, oid, budget, err);
}

/* The commit that git stash would make of the changes, whose second parent has what is staged. */
static int save(const struct al_repo *repo, struct al_run_limits *budget, char **ret_oid,
                struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* git update-index */
    al_strv_adds(&command.argv, "git", "stash", "create", NULL);
    r = al_git_run_word(repo, &command, budget, ret_oid, err);
    if (r < 0 || *ret_oid)
        return r;
    r = al_error_set(err, AL_ERR_EXECUTION,
                     "git cannot save the uncommitted changes, and no file was changed");
    if (err)
        err->remedy =
            "A file that is only intended to be added (git add -N) is in the way: git_add "
            "or git_restore with staged settles it.";
    return r;
}

static int prepare(const struct al_repo *repo, const char *from, const char *to,
                   struct al_run_limits *budget, struct bringing *bringing, struct al_error *err)
{
    al_auto(al_freep) char *saved = NULL;
    al_auto(al_freep) char *staged = NULL;
    al_auto(al_freep) char *index = NULL;
    int r = save(repo, budget, &saved, err);

    if (r == 0)
        r = al_inmemory_open(repo, &bringing->memory, err);
    if (r < 0)
        return r;
    staged = al_asprintf("%s^2", saved);
    r = al_inmemory_tree(bringing->memory, from, budget, &bringing->from, err);
    if (r == 0)
        r = al_inmemory_tree(bringing->memory, to, budget, &bringing->to, err);
    if (r == 0)
        r = al_inmemory_tree(bringing->memory, saved, budget, &bringing->files, err);
    if (r == 0)
        r = al_inmemory_tree(bringing->memory, staged, budget, &index, err);
    if (r == 0)
        r = merge(bringing, bringing->files, budget, &bringing->new_files, err);
    if (r == 0)
        r = merge(bringing, index, budget, &bringing->new_index, err);
    if (r == 0)
        r = accept(bringing, bringing->new_files, budget, err);
    return r < 0 ? r : accept(bringing, bringing->new_index, budget, err);
}

/* One tree is read into the index; from one to another, the files follow. */
static int read_tree(struct al_repo *repo, const char *one, const char *two,
                     struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "read-tree", "-m", two ? "-u" : "-i",
                 one, two, NULL);
    return al_git_write(&repo->at, &command, AL_LOCK_INDEX, budget, err);
}

int al_uncommitted_bring(struct al_repo *repo, const char *from, const char *to,
                         struct al_run_limits *budget, struct al_error *err)
{
    al_auto(bringing_clear) struct bringing bringing = { .memory = NULL };
    int r = prepare(repo, from, to, budget, &bringing, err);

    /* The index gets the files as they are, so that git knows them for its own. */
    if (r == 0)
        r = read_tree(repo, bringing.files, NULL, budget, err);
    if (r == 0)
        r = al_git_refresh_index(&repo->at, budget, err);
    if (r == 0)
        r = read_tree(repo, bringing.files, bringing.new_files, budget, err);
    if (r == 0)
        r = read_tree(repo, bringing.new_index, NULL, budget, err);
    return r < 0 ? r : al_git_refresh_index(&repo->at, budget, err);
}

/* --- Branches --- */

#define HEADS "refs/heads/"
#define NONE  SIZE_MAX

/* Where branches go, while those of the repository are gone through. */
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
        const struct al_work_step *step = &work->steps[i];

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
    return i < work->nsteps - work->rests &&
           (work->steps[i].kind == AL_REPLAY_SQUASH || work->steps[i].kind == AL_REPLAY_FIXUP);
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
                            struct al_replay_work *work, struct al_run_limits *budget,
                            struct al_strv *ret_held, struct al_error *err)
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
    r = al_git_read_refs(repo, &query, place_branch, &to, budget, err);
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
