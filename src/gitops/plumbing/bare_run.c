// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/bare_run.h"

#include <stdlib.h>

#include "gitops/environment.h"
#include "gitops/failure.h"
#include "gitops/layer.h"
#include "gitops/ruleset.h"
#include "gitops/run.h"
#include "util/fs.h"

#define ERR_MAX_BYTES   (64u * 1024u)
#define WRITER_GRACE_MS 2000u /* time for git to remove unfinished files */

static void add_borrowed(struct al_git_env *env, const struct al_bare *bare)
{
    al_auto(al_strv_clear) struct al_strv alternates = AL_STRV_INIT;
    al_auto(al_freep) char *shallow = al_fs_join(bare->lender->common_dir, "shallow");

    al_strv_take(&alternates, al_fs_join(bare->lender->common_dir, "objects"));
    al_strv_take(&env->owned, al_git_alternates(&alternates));
    al_git_env_borrow(env, env->owned.items[env->owned.count - 1]);
    al_git_env_add(env, "GIT_SHALLOW_FILE", shallow);
}

static void build_env(struct al_git_env *env, const struct al_bare *bare,
                      const struct al_git_command *command, bool borrows)
{
    const struct al_git *git = bare->git;
    /* A child without a working tree starts in the bare repository. */
    const char *dir = command->cwd_fd ? bare->path : ".";

    al_git_env_base(env, &AL_GIT_COMMAND_INIT);
    al_git_env_add(env, "HOME", git->private_dir);
    al_git_env_borrow(env, "GIT_CONFIG_NOSYSTEM=1");
    al_git_env_borrow(env, "GIT_CONFIG_GLOBAL=/dev/null");
    al_git_env_add(env, "GIT_DIR", dir);
    al_git_env_add(env, "TMPDIR", dir);
    if (command->cwd_fd)
        al_git_env_borrow(env, "GIT_WORK_TREE=.");
    if (command->index)
        al_git_env_add(env, "GIT_INDEX_FILE", command->index);
    if (borrows)
        add_borrowed(env, bare);
}

int al_bare_run(const struct al_bare *bare, const struct al_git_command *command, bool borrows,
                struct al_sink sink, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = {
        .out = AL_TEXT_INIT(0),
        .err = AL_TEXT_INIT(ERR_MAX_BYTES),
        .exit_code = -1,
    };
    al_auto(al_git_env_clear) struct al_git_env env = AL_GIT_ENV_INIT;
    struct al_git *git = bare->git;
    struct al_ruleset *ruleset = NULL;
    struct al_proc_result result;
    int r;

    if (!git->program)
        return al_git_not_available(err);
    borrows = borrows && bare->lender;
    r = al_git_bare_ruleset(git, bare->dir_fd, borrows || command->cwd_fd ? bare->lender : NULL,
                            &ruleset, err);
    if (r < 0)
        return r;
    build_env(&env, bare, command, borrows);
    r = al_proc_run(
        &(struct al_proc_spec){
            .program = git->program,
            .argv = (const char *const *)command->argv.items,
            .envp = env.entries,
            .cwd_fd = command->cwd_fd ? command->cwd_fd : bare->dir_fd,
            .input = command->input,
            .input_len = command->input_len,
            .in_fd = command->in_fd,
            .out = sink,
            .err = al_git_text_sink(&output.err),
            .drains = command->class == AL_GIT_WRITE,
            .sandbox =
                &(struct al_confinement){
                    .ruleset = ruleset,
                    .exec_once = !command->starts_children,
                    .no_sockets = true,
                    .limits = al_git_limits(command, budget->left_ms),
                },
            .cancel = budget->cancel,
            .timeout_ms = budget->left_ms,
            .grace_ms = command->class == AL_GIT_WRITE ? WRITER_GRACE_MS : 0,
        },
        &result, err);
    al_ruleset_free(ruleset);
    if (r < 0)
        return r;
    budget->left_ms -= result.ran_ms < budget->left_ms ? result.ran_ms : budget->left_ms - 1;
    al_text_end(&output.err);
    output.exit_code = result.exit_code;
    output.stopped = result.stopped;
    if (al_git_read_well(&output))
        return 0;
    budget->exit_code = result.exit_code;
    return al_git_failed(&output, err);
}
