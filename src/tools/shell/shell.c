// SPDX-License-Identifier: Apache-2.0

#include <stdlib.h>
#include <unistd.h>

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

/* --- The profile that a program is started with --- */

#define DATA_MAX_BYTES (2ull << 30)
#define FILE_MAX_BYTES (1ull << 30)
#define FILES_MAX      256u
#define GO_FILES_MAX   1024u

/* Add rules for the roots that the grant allows to read.  Only the first one may be written. */
static void add_roots(struct al_confine_rules *rules, const struct al_shell *shell, bool writes)
{
    const struct al_roots *roots = shell->options.roots;

    for (size_t i = 0; i < roots->count; i++) {
        unsigned rights = AL_RIGHT_READ | (writes && i == 0 ? AL_RIGHT_WRITE : 0);

        if (!al_root_is_released(&roots->items[i]) &&
            al_grant_check_dir(shell->options.grant, roots->items[i].path, false, NULL) == 0)
            al_confine_add_fd(rules, roots->items[i].path, roots->items[i].fd, rights);
    }
}

static int build_ruleset(const struct al_shell *shell, enum al_shell_kind kind,
                         struct al_shell_program *program, struct al_error *err)
{
    /* For programs and libraries.  No file with data about the user is there. */
    static const char *const readable[] = {
        "/usr",           "/bin",         "/lib",      "/lib64", "/etc/ld.so.cache",
        "/etc/localtime", "/dev/urandom", "/dev/zero",
    };
    bool writes = kind == AL_SHELL_GO || kind == AL_SHELL_OTHER;
    al_auto(al_freep) char *interp = al_program_interpreter(program->path);
    al_auto(al_freep) char *tmp = al_fs_join(shell->work_dir, "tmp");
    /* Of go, whose program is <go_root>/bin/go: with compiler and linker. */
    al_auto(al_freep) char *go_root =
        al_asprintf("%.*s/..", (int)(strrchr(program->path, '/') - program->path), program->path);
    al_auto(al_freep) char *tools = al_fs_join(go_root, "pkg/tool");
    al_auto(al_confine_rules_clear) struct al_confine_rules rules = { .count = 0 };

    al_confine_add(&rules, program->path, AL_RIGHT_EXECUTE | AL_RIGHT_READ, false);
    al_confine_add(&rules, interp, AL_RIGHT_EXECUTE | AL_RIGHT_READ, false);
    al_confine_add_all(&rules, readable, AL_COUNT(readable), AL_RIGHT_READ);
    al_confine_add(&rules, "/dev/null", AL_RIGHT_READ | AL_RIGHT_WRITE_FILE, false);
    if (kind == AL_SHELL_GO) { /* it runs what it builds: no others may write what they execute */
        al_confine_add(&rules, go_root, AL_RIGHT_READ, true);
        al_confine_add(&rules, tools, AL_RIGHT_READ | AL_RIGHT_EXECUTE_BENEATH, true);
        al_confine_add(&rules, shell->work_dir,
                       AL_RIGHT_READ | AL_RIGHT_WRITE | AL_RIGHT_EXECUTE_BENEATH, false);
    } else if (writes)
        al_confine_add(&rules, tmp, AL_RIGHT_READ | AL_RIGHT_WRITE, false);
    add_roots(&rules, shell, writes);
    return al_ruleset_new(rules.items, rules.count, false, &program->sandbox.ruleset_fd, err);
}

static int make_directories(const struct al_shell *shell, struct al_error *err)
{
    static const char *const names[] = { "home", "tmp", "gocache", "gopath" };

    for (size_t i = 0; i < AL_COUNT(names); i++) {
        al_auto(al_freep) char *path = al_fs_join(shell->work_dir, names[i]);
        int r = al_fs_mkdirs(path, 0700);

        if (r < 0)
            return al_error_errno(err, -r, "cannot make '%s'", path);
    }
    return 0;
}

void al_shell_program_clear(struct al_shell_program *program)
{
    al_ruleset_free(program->sandbox.ruleset_fd);
    free(program->path);
    *program = (struct al_shell_program){ .path = NULL };
}

int al_shell_find(const struct al_shell *shell, const char *name, uint32_t left_ms,
                  struct al_shell_program *ret_program, struct al_error *err)
{
    const enum al_shell_kind kind = al_shell_kind_of(name);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int r = 0;

    ret_program->path = al_program_find(name, shell->options.path_list, shell->options.roots);
    ret_program->sandbox = (struct al_confinement){
        .no_sockets = true,
        .limits = { .data_bytes = DATA_MAX_BYTES,
                    .cpu_s = (uint64_t)left_ms / 1000 * (uint64_t)(cores > 0 ? cores : 1) + 5,
                    .fsize_bytes = FILE_MAX_BYTES,
                    .nofile = kind == AL_SHELL_GO ? GO_FILES_MAX : FILES_MAX },
    };
    if (!ret_program->path || shell->isolation != AL_ISOLATION_LANDLOCK)
        return 0;
    r = make_directories(shell, err);
    return r < 0 ? r : build_ruleset(shell, kind, ret_program, err);
}
