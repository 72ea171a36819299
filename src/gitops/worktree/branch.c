// SPDX-License-Identifier: Apache-2.0
#include "gitops/worktree/branch.h"

#include <string.h>

#include "gitops/plumbing/rollback_plumbing.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/worktree/list.h"

#define OUTPUT_MAX_BYTES (64u << 10)
#define UNMAKE_MS        10000

/* The message of the entry with which the branch begins. */
static char *message_of(const char *name, const struct al_worktree_record *record)
{
    return al_asprintf("airlock: made with worktree %s (%s)", name, record->tree);
}

int al_worktree_make_branch(const struct al_repo *repo, const char *name,
                            const struct al_worktree_record *record, struct al_run_limits *budget,
                            struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    al_auto(al_freep) char *message = message_of(name, record);

    al_str_addf(&input, "option no-deref\ncreate %s %s\n", record->branch, record->branch_oid);
    command.class = AL_GIT_WRITE;
    command.input = input.buf;
    command.input_len = input.len;
    al_strv_adds(&command.argv, "git", "update-ref", "--create-reflog", "-m", message, "--stdin",
                 NULL);
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = OUTPUT_MAX_BYTES, .checked = true },
                      budget, &output, err);
}

/* Whether the last entry of the reflog is the one with which the branch began. */
static bool is_as_made(const struct al_repo *repo, const char *name,
                       const struct al_worktree_record *record, struct al_run_limits *budget)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *message = message_of(name, record);

    al_strv_adds(&command.argv, "git", "log", "--walk-reflogs", "--max-count=1",
                 "--no-show-signature", "--format=%gs", record->branch, "--", NULL);
    if (al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = OUTPUT_MAX_BYTES },
                   budget, &output, NULL) < 0)
        return false;
    al_str_trim_end(&output.out.out);
    return !strcmp(output.out.out.buf, message);
}

void al_worktree_unmake_branch(const struct al_repo *repo, const char *name,
                               const struct al_worktree_record *record)
{
    struct al_run_limits budget = { .left_ms = UNMAKE_MS, .exit_code = -1 };
    const struct al_ref_move move = { record->branch, record->branch_oid, NULL };
    al_auto(al_freep) char *now = NULL;

    if (!record->branch || !record->branch_oid || !record->tree ||
        !is_as_made(repo, name, record, &budget))
        return;
    now = al_ref_oid(&repo->at, record->branch);
    if (!strcmp(now, record->branch_oid) &&
        al_worktree_check_free(repo, record->branch + strlen("refs/heads/"), false, &budget,
                               NULL) == 0)
        (void)al_git_move_refs(repo, &move, 1, &budget, NULL);
}
