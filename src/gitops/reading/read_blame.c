// SPDX-License-Identifier: Apache-2.0
#include "gitops/reading/read_blame.h"

#include <inttypes.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/plumbing/blame_check.h"
#include "gitops/reading/blame_reader.h"
#include "gitops/run.h"

int al_git_read_blame(const struct al_repo *repo, const char *path, const char *rev,
                      struct al_blame_lines lines, al_blame_fn take, void *payload,
                      struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_blame_reader_clear) struct al_blame_reader reader =
        AL_BLAME_READER_INIT(take, payload);
    al_auto(al_freep) char *file = NULL;
    int r = al_git_blame_check(repo, err);

    if (r == 0)
        r = al_repo_file(repo, "path", path, &file, err);
    if (r < 0)
        return r;
    al_strv_adds(&command.argv, "git", "blame", "--porcelain", "--no-textconv", "--encoding=UTF-8",
                 NULL);
    if (lines.last != UINT64_MAX)
        al_strv_addf(&command.argv, "-L%" PRIu64 ",%" PRIu64, lines.first, lines.last);
    else if (lines.first > 1)
        al_strv_addf(&command.argv, "-L%" PRIu64 ",", lines.first);
    if (rev)
        al_strv_add(&command.argv, rev);
    al_strv_adds(&command.argv, "--", file, NULL);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .sink = { al_blame_reader_add, &reader } }, budget,
                   &output, err);
    return r == 0 && !al_git_read_well(&output) ? al_git_failed(&output, err) : r;
}
