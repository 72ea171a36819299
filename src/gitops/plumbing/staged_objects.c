// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/staged_objects.h"

#include "gitops/command.h"
#include "gitops/plumbing/diff_raw.h"
#include "gitops/plumbing/revision.h"
#include "gitops/refs.h"
#include "gitops/run.h"

#define GITLINK 0160000u

int al_git_staged_objects(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_strv *ret_oids, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_diff_raw_clear) struct al_diff_raw staged = AL_DIFF_RAW_INIT;
    int r;

    staged.all = true;
    al_strv_adds(&command.argv, "git", "diff-index", "--cached", "--raw", "-z", "--no-renames",
                 "--no-abbrev", "--ignore-submodules=dirty",
                 *head ? "HEAD" : al_git_empty_tree(repo), "--", NULL);
    r = al_git_read(&repo->at, &command, (struct al_sink){ al_diff_raw_add, &staged }, budget, err);
    if (r == 0 && staged.broken)
        r = al_error_set(err, AL_ERR_EXECUTION, "git diff-index did not list what is staged");
    for (size_t i = 0; r == 0 && i < staged.count; i++)
        if (staged.items[i].new_mode && staged.items[i].new_mode != GITLINK)
            al_strv_add(ret_oids, staged.items[i].new_oid);
    return r;
}
