// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "gitops/filters.h"
#include "gitops/verbs.h"
#include "gitops/vet.h"

static int check_target(const struct al_repo *repo, const char *target, struct al_budget *budget,
                        struct al_error *err)
{
    struct al_buffer list = { .max_bytes = AL_FILTERED_MAX_BYTES };
    int r = al_git_list_changed(repo, "HEAD", target, budget, &list, err);

    if (r == 0)
        r = al_git_check_filters(repo, &list, target, budget, err);
    al_buffer_clear(&list);
    return r;
}

/* The branches of this name that remotes have: git makes a local one of the only one there is. */
static int check_remote_branches(const struct al_repo *repo, const char *branch,
                                 struct al_budget *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    struct al_buffer list = { .max_bytes = AL_FILTERED_MAX_BYTES };
    char *save = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "for-each-ref", "--format=%(refname)", NULL);
    al_strv_addf(&command.argv, "refs/remotes/*/%s", branch);
    r = al_git_list_paths(repo, &command, budget, &list, err);
    al_str_add(&names, list.data, list.len);
    al_buffer_clear(&list);
    for (char *name = strtok_r(names.buf, "\n", &save); r == 0 && name;
         name = strtok_r(NULL, "\n", &save))
        r = check_target(repo, name, budget, err);
    return r;
}

int al_git_checkout_check(const struct al_repo *repo, const struct al_checkout_options *options,
                          struct al_budget *budget, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error complaint = AL_ERROR_INIT;
    al_auto(al_freep) char *ref = NULL;
    const char *target = options->commit;
    int r;

    if (!repo->vetting->filters.count)
        return 0;
    if (options->branch) { /* which comes before a tag of its name */
        ref = al_asprintf("refs/heads/%s", options->branch);
        target = al_repo_has_ref(repo, ref) ? ref : options->branch;
    }
    r = check_target(repo, target, budget, &complaint);
    /* A target that does not exist, or an unborn HEAD, is for git itself to complain about. */
    if (al_git_complained(r, budget))
        return options->branch ? check_remote_branches(repo, options->branch, budget, err) : 0;
    if (r < 0 && err) {
        *err = complaint;
        complaint = AL_ERROR_INIT;
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
    if (options->force)
        al_strv_add(&command.argv, "--force");
    if (options->create) /* any further option would have git rewrite the index */
        al_strv_adds(&command.argv, "-b", options->create, NULL);
    else if (options->branch)
        al_strv_adds(&command.argv, "--no-recurse-submodules", "--no-overwrite-ignore",
                     options->branch, "--", NULL);
    else
        al_strv_adds(&command.argv, "--no-recurse-submodules", "--no-overwrite-ignore",
                     "--no-guess", options->commit, "--", NULL);
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
