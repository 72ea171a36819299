// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/pushed.h"

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/plumbing/revision.h"
#include "gitops/run.h"

#define COUNT_MAX_BYTES 64u

/* Count commits, "0" to be compared as text; with `unpushed` those that no remote-tracking branch
 * has. */
static int count(const struct al_repo *repo, const char *from, const char *to, bool unpushed,
                 struct al_run_limits *budget, char **ret_count, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", "--count", NULL);
    if (!to)
        al_strv_adds(&command.argv, unpushed ? "--max-count=1" : "--no-walk", NULL);
    al_strv_add(&command.argv, from);
    if (to)
        al_strv_addf(&command.argv, "^%s", to);
    if (unpushed)
        al_strv_adds(&command.argv, "--not", "--remotes", NULL);
    al_strv_add(&command.argv, "--");
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .max_bytes = COUNT_MAX_BYTES, .checked = true }, budget,
                   &output, err);
    if (r < 0)
        return r;
    al_str_trim_end(&output.out.out);
    *ret_count = al_str_detach(&output.out.out);
    return 0;
}

int al_git_has_pushed(const struct al_repo *repo, const char *from, const char *to,
                      struct al_run_limits *budget, bool *ret_pushed, struct al_error *err)
{
    al_auto(al_freep) char *all = NULL;
    al_auto(al_freep) char *unpushed = NULL;
    int r = count(repo, from, to, false, budget, &all, err);

    if (r == 0)
        r = count(repo, from, to, true, budget, &unpushed, err);
    *ret_pushed = r < 0 || strcmp(all, unpushed) != 0;
    return r;
}
