// SPDX-License-Identifier: Apache-2.0
#include "gitops/replay/along.h"

#include <stdlib.h>

#include "gitops/git_lock.h"
#include "gitops/inmemory/inmemory.h"
#include "gitops/plumbing/revision.h"
#include "gitops/reading/worktree_state.h"
#include "gitops/run.h"
#include "guard/text.h"

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

int al_uncommitted_refuse(const struct al_uncommitted *count, struct al_error *err)
{
    return dirty(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_DIRTY_WORKDIR,
                                   "There are uncommitted changes: %zu staged, %zu not staged",
                                   count->staged, count->unstaged),
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
