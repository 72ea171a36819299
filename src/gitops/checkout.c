// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "gitops/filters.h"
#include "gitops/verbs.h"
#include "gitops/vet.h"

int al_git_checkout_check(const struct al_repo *repo, const char *target, struct al_budget *budget,
                          struct al_error *err)
{
    struct al_buffer list = { .max_bytes = AL_FILTERED_MAX_BYTES };
    al_auto(al_error_clear) struct al_error ignored = AL_ERROR_INIT;
    int r;

    if (!repo->vetting->filters.count)
        return 0;
    /* A target that does not exist, or an unborn HEAD, is for git itself to complain about. */
    r = al_git_list_changed(repo, "HEAD", target, budget, &list, &ignored);
    r = r == AL_ERR_EXECUTION
            ? 0
            : (r < 0 ? r : al_git_check_filters(repo, &list, target, budget, err));
    al_buffer_clear(&list);
    if (r < 0 && err && !err->message) {
        *err = ignored;
        ignored = AL_ERROR_INIT;
    }
    return r;
}

int al_git_checkout(struct al_repo *repo, const struct al_checkout_options *options,
                    size_t max_bytes, struct al_budget *budget, struct al_git_output *ret_output,
                    struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "checkout", NULL);
    if (options->create) /* any further option would have git rewrite the index */
        al_strv_adds(&command.argv, "-b", options->create, NULL);
    else if (options->branch)
        al_strv_adds(&command.argv, "--no-recurse-submodules", options->branch, "--", NULL);
    else
        al_strv_adds(&command.argv, "--no-recurse-submodules", "--no-guess", options->commit, "--",
                     NULL);
    return al_git_run_writer(repo, &command, max_bytes, budget, ret_output, err);
}

/* Words that git checkout takes for a branch to be on, or for the one it is on already: names of
 * branches, HEAD, and what may stand for a branch, as in "@{-1}" and "main@{upstream}". */
static bool may_mean_a_branch(const struct al_repo *repo, const char *commit)
{
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", commit);

    if (commit[0] == ':') /* ":/text" searches for its whole rest */
        return false;
    return !strcmp(commit, "HEAD") || !strcmp(commit, "@") || strstr(commit, "@{") ||
           al_repo_has_ref(repo, ref);
}

char *al_git_checkout_commit_word(const struct al_repo *repo, const char *commit)
{
    return may_mean_a_branch(repo, commit) ? al_asprintf("%s^0", commit) : al_strdup(commit);
}
