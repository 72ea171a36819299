// SPDX-License-Identifier: Apache-2.0

#include <stdlib.h>

#include "base/fs.h"
#include "base/log.h"
#include "guard/env.h"
#include "tools/shell/private.h"

/* Choose an isolation that is available: the configured one, else Landlock, else firejail, else
 * none. */
static int choose_isolation(struct al_shell *shell, struct al_error *err)
{
    const struct al_shell_options *options = &shell->options;
    const enum al_isolation best = al_confine_abi() > 0 ? AL_ISOLATION_LANDLOCK : AL_ISOLATION_NONE;

    shell->isolation = options->isolation;
    if (options->isolation == AL_ISOLATION_NONE)
        return 0;
    if (options->isolation == AL_ISOLATION_LANDLOCK && best == AL_ISOLATION_NONE)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "[tools.shell] isolation is 'landlock', and this kernel has none");
    shell->isolation = best;
    if (best != AL_ISOLATION_NONE && options->isolation != AL_ISOLATION_FIREJAIL)
        return 0;
    shell->firejail = al_program_find("firejail", options->path_list, options->roots);
    if (shell->firejail)
        shell->isolation = AL_ISOLATION_FIREJAIL;
    else if (options->live)
        al_log_note("Warning: firejail not installed, running without isolation");
    return 0;
}

static void make_env(const struct al_shell *shell, bool is_go, struct al_strv *env)
{
    al_strv_adds(env, "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TERM=dumb", NULL);
    if (is_go)
        al_strv_adds(env, "GOPROXY=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0", "GOENV=off",
                     "GOSUMDB=off", "GOFLAGS=-buildvcs=false", NULL);
    al_strv_addf(env, "HOME=%s%s", is_go ? shell->work_dir : "/nonexistent", is_go ? "/home" : "");
    al_strv_addf(env, "TMPDIR=%s/tmp", shell->work_dir);
    al_env_add_allowed(env, shell->options.env_allow, shell->options.environ_);
    if (!is_go)
        return;
    al_strv_addf(env, "GOCACHE=%s/gocache", shell->work_dir);
    al_strv_addf(env, "GOTMPDIR=%s/tmp", shell->work_dir);
    al_strv_addf(env, "GOPATH=%s/gopath", shell->work_dir);
}

int al_shell_new(const struct al_shell_options *options, struct al_shell **ret_shell,
                 struct al_error *err)
{
    struct al_shell *shell = al_calloc(1, sizeof(*shell));
    int r;

    shell->options = *options;
    shell->work_dir = al_fs_join(options->state_dir, "shell");
    make_env(shell, false, &shell->env);
    make_env(shell, true, &shell->go_env);
    r = choose_isolation(shell, err);
    if (r < 0)
        al_shell_free(shell);
    else
        *ret_shell = shell;
    return r;
}

void al_shell_free(struct al_shell *shell)
{
    if (!shell)
        return;
    al_strv_clear(&shell->env);
    al_strv_clear(&shell->go_env);
    free(shell->firejail);
    free(shell->work_dir);
    free(shell);
}
