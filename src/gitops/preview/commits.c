// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/commits.h"

#include <string.h>

#include "gitops/plumbing/revision.h"
#include "gitops/preview/verify_objects.h"
#include "gitops/refs.h"
#include "gitops/run.h"

#define LIST_MAX_BYTES (64u * 1024u)

static int list(const struct al_repo *repo, const struct al_commits_shown *shown,
                struct al_run_limits *budget, struct al_git_output *ret_output,
                struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.show_controls = true;
    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "log", "--no-decorate",
                 "--no-show-signature", "--no-color", NULL);
    al_strv_addf(&command.argv, "--format=%s", shown->format);
    for (const char *const *word = shown->words; *word; word++)
        al_strv_add(&command.argv, *word);
    al_strv_add(&command.argv, "--");
    return al_git_run(
        &repo->at, &command,
        &(struct al_git_run){ .max_bytes = al_git_excerpt_bytes(budget, LIST_MAX_BYTES),
                              .checked = true },
        budget, ret_output, err);
}

/* Verify the whole history on both sides of the list: a forged ancestor of the excluded side could
 * exclude a commit that it does not have.  These commits are not shown, so a new object beside them
 * need not make the preview start over. */
static int verify_histories(const struct al_repo *repo, const char *const *words,
                            struct al_run_limits *budget, bool *ret_complete, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv tips = AL_STRV_INIT;
    struct al_stable_read *shown = al_take(&budget->stable_read);
    int r;

    for (; *words; words++)
        if (strcmp(*words, "--not") != 0)
            al_strv_add(&tips, **words == '^' ? *words + 1 : *words);
    r = al_git_verify_commits(repo, (const char *const *)tips.items, budget, ret_complete, err);
    budget->stable_read = shown;
    return r;
}

int al_git_commits_excerpt(const struct al_repo *repo, const struct al_commits_shown *shown,
                           struct al_run_limits *budget, struct al_str *out, bool *ret_any,
                           struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *shallow = al_shallow_commits(&repo->at);
    bool all = true;
    int r = al_git_verify_commits(repo, shown->words, budget, &all, err);

    if (r == 0)
        r = verify_histories(repo, shown->words, budget, &all, err);
    if (r == 0)
        r = list(repo, shown, budget, &output, err);
    if (r < 0)
        return r;
    if (!all)
        al_str_adds(out, "There are too many commits to verify all of them.\n");
    *ret_any = output.out.out.len > 0 || !all;
    if (!output.out.out.len)
        return 0;
    al_str_addf(out, "%s\n", shown->title);
    al_git_add_excerpt(budget, output.out.out.buf, output.out.out.len, output.stopped, out);
    if (shallow)
        al_str_adds(out, "The repository is shallow (.git/shallow): commits beyond its boundary "
                         "are not listed.\n");
    return 0;
}
