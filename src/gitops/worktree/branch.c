// SPDX-License-Identifier: Apache-2.0
#include "gitops/worktree/branch.h"

#include <fcntl.h>
#include <string.h>

#include "gitops/plumbing/rollback_plumbing.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/worktree/list.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define OUTPUT_MAX_BYTES (64u << 10)
#define LOG_MAX_BYTES    (64u << 10) /* what has more was used */
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
                       const struct al_worktree_record *record)
{
    al_auto(al_freep) char *path = al_fs_join("logs", record->branch);
    al_auto(al_freep) char *message = message_of(name, record);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_closep) int common_fd = -1, fd = -1;
    const char *line, *said;

    if (al_location_open_common_dir(&repo->at, &common_fd, NULL) < 0)
        return false;
    fd = al_nofollow_open(common_fd, path, O_RDONLY);
    if (fd < 0 || al_fs_read_fd(fd, LOG_MAX_BYTES, &text) < 0 || !al_ends_with(text.buf, "\n"))
        return false;
    text.buf[text.len - 1] = '\0';
    line = strrchr(text.buf, '\n');
    said = strchr(line ? line : text.buf, '\t');
    return said && !strcmp(said + 1, message);
}

void al_worktree_unmake_branch(const struct al_repo *repo, const char *name,
                               const struct al_worktree_record *record)
{
    struct al_run_limits budget = { .left_ms = UNMAKE_MS, .exit_code = -1 };
    const struct al_ref_move move = { record->branch, record->branch_oid, NULL };
    al_auto(al_freep) char *now = NULL;

    if (!record->branch || !record->branch_oid || !record->tree || !is_as_made(repo, name, record))
        return;
    now = al_ref_oid(&repo->at, record->branch);
    if (!strcmp(now, record->branch_oid) &&
        al_worktree_check_free(repo, record->branch + strlen("refs/heads/"), false, &budget,
                               NULL) == 0)
        (void)al_git_move_refs(repo, &move, 1, &budget, NULL);
}
