// SPDX-License-Identifier: Apache-2.0
#include "gitops/resume.h"

#include "gitops/command.h"
#include "gitops/conflict.h"
#include "gitops/merge.h"
#include "gitops/underway.h"
#include "gitops/verbs.h"
#include "guard/text.h"

#define SAID_MAX_BYTES 65536
#define NAMED_MAX      8

int al_git_resume_check(const struct al_repo *repo, struct al_budget *budget, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT;
    int r = al_git_check_no_conflicts(repo, budget, err);

    if (r < 0)
        return r;
    al_strv_take(&left, al_git_goes_back_to(repo));
    return al_git_check_merge_programs(repo, "HEAD", &left, budget, err);
}

/* Where it stopped again; 0 when that was not at a conflict. */
static int stopped(const struct al_repo *repo, struct al_budget *budget, struct al_error *err)
{
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    int r = al_git_conflicts(repo, budget, &conflicts, err);

    if (r < 0 || !conflicts.count)
        return r;
    al_conflicts_add_paths(&conflicts, &paths);
    al_text_add_list(&names, &paths, NAMED_MAX);
    r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_CONFLICT,
                          "The rebase went on and stopped at a conflict in %s", names.buf);
    if (err)
        err->reason = "conflict";
    return r;
}

int al_git_resume(struct al_repo *repo, const char *message, struct al_budget *budget,
                  struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_git_output_clear) struct al_git_output committed = { .exit_code = -1 };
    uint64_t staged = 0;
    int r = message ? al_git_count_staged(repo, budget, &staged, err) : 0;

    if (r == 0 && staged)
        r = al_git_commit(repo, message, SAID_MAX_BYTES, budget, &committed, err);
    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* it commits with a git of its own */
    al_strv_adds(&command.argv, "git", "rebase", "--continue", NULL);
    r = al_git_run_writer_raw(repo, &command, SAID_MAX_BYTES, budget, &output, err);
    if (r < 0)
        return r;
    if (al_git_underway(repo) == AL_UNDERWAY_REBASE)
        r = stopped(repo, budget, err);
    return r == 0 && output.exit_code != 0 ? al_git_failed(&output, err) : r;
}
