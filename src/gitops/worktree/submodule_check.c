// SPDX-License-Identifier: Apache-2.0
/* Whether a worktree can be removed without losing something of its submodules. */
#include <stdlib.h>
#include <string.h>

#include "gitops/nul_records.h"
#include "gitops/plumbing/revision.h"
#include "gitops/plumbing/rollback_plumbing.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/worktree/beside.h"
#include "gitops/worktree/submodules.h"
#include "guard/text.h"
#include "util/fs.h"

static int refuse(const char *name, const struct al_worktree_submodule *submodule, const char *has,
                  struct al_error *err)
{
    al_auto(al_freep) char *path = al_text_sanitize_line(submodule->path);
    int r = al_error_set(err, AL_ERR_EXECUTION,
                         "The submodule '%s' of the worktree '%s' %s, which no checkpoint has",
                         path, name, has);

    if (err)
        err->remedy = "Commit and push there, or unstage, and try again; a user can remove "
                      "it with 'git worktree remove --force'.";
    return r;
}

/* The commits of HEAD and of the references.  An annotated tag counts as itself. */
static void list_tips(const struct al_worktree_submodule *submodule, const char *head,
                      struct al_strv *ret_tips)
{
    if (*head)
        al_strv_add(ret_tips, head);
    for (const char *at = submodule->refs; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
        al_strv_take(ret_tips, al_strndup(at, strcspn(at, " \n")));
}

/* What no reference reaches could be gone when the worktree comes back. */
static int find_unreached(const struct al_repo *source, const struct al_strv *tips,
                          struct al_run_limits *budget, bool *ret_found, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    al_auto(al_freep) char *word = NULL;
    int r = al_git_missing_objects(source, tips, budget, &missing, err);

    *ret_found = missing.count > 0;
    if (r < 0 || missing.count || !tips->count)
        return r;
    for (size_t i = 0; i < tips->count; i++)
        al_str_addf(&input, "%s\n", tips->items[i]);
    command.input = input.buf;
    command.input_len = input.len;
    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", "--max-count=1",
                 "--not", "--all", "--not", "--stdin", NULL);
    r = al_git_run_word(source, &command, budget, &word, err);
    *ret_found = r < 0 || !word || *word;
    return r;
}

static int check_commits(const struct al_worktree_half *half,
                         const struct al_worktree_submodule *submodule, const struct al_repo *made,
                         struct al_run_limits *budget, bool *ret_found, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside source = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_freep) char *path = al_worktree_submodule_source(half->repo, submodule->dir);
    al_auto(al_freep) char *head = al_ref_head(&made->at);
    al_auto(al_strv_clear) struct al_strv tips = AL_STRV_INIT;
    int r;

    *ret_found = !path;
    if (!path)
        return 0;
    list_tips(submodule, head, &tips);
    r = al_worktree_open_submodule(half->repo, NULL, path, budget, &source, err);
    return r < 0 ? r : find_unreached(source.repo, &tips, budget, ret_found, err);
}

/* Its files are in the checkpoint, its index is not. */
static int count_staged(const struct al_repo *repo, struct al_run_limits *budget,
                        uint64_t *ret_count, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;

    al_strv_adds(&command.argv, "git", "diff-index", "--cached", "--name-only", "-z",
                 "--no-ext-diff", "--no-textconv", "HEAD", "--", NULL);
    return al_git_count_records(&repo->at, &command, budget, ret_count, err);
}

static int check_one(const struct al_worktree_half *half,
                     const struct al_worktree_submodule *submodule, const char *name,
                     struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside made = AL_WORKTREE_BESIDE_INIT;
    uint64_t staged = 0;
    bool unreached = false;
    int r = al_worktree_open_made(half, submodule, budget, &made, err);

    if (r < 0)
        return r;
    if (al_ref_exists(&made.repo->at, "refs/stash"))
        return refuse(name, submodule, "has stash entries", err);
    r = count_staged(made.repo, budget, &staged, err);
    if (r == 0 && staged)
        return refuse(name, submodule, "has staged changes", err);
    if (r == 0)
        r = check_commits(half, submodule, made.repo, budget, &unreached, err);
    return r == 0 && unreached
               ? refuse(name, submodule, "has commits that the main repository of it lacks", err)
               : r;
}

int al_worktree_check_submodules(const struct al_worktree_half *half, const char *name,
                                 struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_worktree_submodules_clear) struct al_worktree_submodules list =
        AL_WORKTREE_SUBMODULES_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = al_worktree_read_submodules(half, budget, &list, &why);

    if (r < 0) {
        al_error_set(err, r, "The worktree '%s' cannot be removed: %s", name, why.message);
        if (err)
            err->remedy =
                "Switch it to a branch that has all its submodules, and try again; a user "
                "can remove it with 'git worktree remove --force', when the commits of "
                "its submodules are elsewhere.";
    }
    for (size_t i = 0; i < list.count && r == 0; i++)
        r = check_one(half, &list.items[i], name, budget, err);
    return r;
}
