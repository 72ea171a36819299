// SPDX-License-Identifier: Apache-2.0
#include "gitops/reading/read_changes.h"

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/run.h"

void al_git_add_patch_options(struct al_strv *argv)
{
    al_strv_adds(argv, "--find-renames", "--src-prefix=" AL_HUNKS_OLD_PREFIX,
                 "--dst-prefix=" AL_HUNKS_NEW_PREFIX, "--no-color", "--submodule=short",
                 "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", NULL);
}

int al_git_read_changes(const struct al_repo *repo, const struct al_diff_options *options,
                        bool patch, struct al_run_limits *budget, struct al_change_reader *reader,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    command.bulk = patch;
    al_strv_adds(&command.argv, "git", "diff", "--numstat", "-z", NULL);
    if (patch)
        al_strv_add(&command.argv, "--patch");
    al_git_add_patch_options(&command.argv);
    r = al_git_diff_add_args(repo, options, budget, &command.argv, err);
    if (r < 0)
        return r;
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .sink = { al_change_reader_add, reader } }, budget,
                   &output, err);
    if (r == 0 && !al_git_read_well(&output))
        r = al_git_failed(&output, err);
    if (r == 0)
        (void)al_change_reader_end(reader);
    return r;
}
