// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/reset.h"

#include "gitops/command.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/filters.h"
#include "gitops/plumbing/partial_clone.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"

#define KEPT_BYTES (64u * 1024u)

int al_git_reset_check(const struct al_repo *repo, const char *oid, enum al_reset_mode mode,
                       struct al_run_limits *budget, struct al_error *err)
{
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r = 0;

    if (mode != AL_RESET_KEEP && mode != AL_RESET_HARD)
        return 0;
    if (repo->vetting->filters.count)
        r = al_git_list_changed(repo, oid, NULL, budget, &list, err);
    if (r == 0)
        r = al_git_check_filters(repo, &list, oid, budget, err);
    al_buffer_clear(&list);
    return r < 0 ? r : al_git_check_downloaded(repo, oid, NULL, budget, err);
}

int al_git_reset(struct al_repo *repo, const char *oid, enum al_reset_mode mode,
                 struct al_run_limits *budget, struct al_error *err)
{
    static const char *const words[] = {
        [AL_RESET_MIXED] = "--mixed",
        [AL_RESET_SOFT] = "--soft",
        [AL_RESET_KEEP] = "--keep",
        [AL_RESET_HARD] = "--hard",
    };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "reset", "-q", "--no-recurse-submodules", words[mode], oid,
                 "--", NULL);
    return al_git_run(
        &repo->at, &command,
        &(struct al_git_run){ .max_bytes = KEPT_BYTES, .waits_for_lock = true, .checked = true },
        budget, &output, err);
}
