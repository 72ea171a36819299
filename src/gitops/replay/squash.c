// SPDX-License-Identifier: Apache-2.0
#include "gitops/replay/squash.h"

#include "gitops/refs.h"
#include "gitops/sequencer/merge.h"

int al_git_squash_really(struct al_repo *repo, const char *oid, size_t max_bytes,
                         struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);

    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* git merge runs git stash so that it can go back */
    al_strv_adds(&command.argv, "git", "merge", "--squash", "--strategy=ort", "--no-verify",
                 "--no-verify-signatures", "--no-autostash", "--no-rerere-autoupdate", "--no-stat",
                 "--no-progress", "--ff", oid, NULL);
    return al_merge_bring(repo,
                          &(struct al_merge_input){ .command = &command, .oid = oid, .head = head },
                          max_bytes, budget, &outcome, err);
}
