// SPDX-License-Identifier: Apache-2.0
#include "gitops/version.h"

#include <fcntl.h>
#include <stdio.h>

#include "gitops/failure.h"
#include "guard/text.h"
#include "proc/proc.h"

#define VERSION_TIMEOUT_MS 10000
#define VERSION_MAX_BYTES  256

int al_git_version(const char *program, char **ret_version, struct al_error *err)
{
    static const char *const argv[] = { "git", "--version", NULL };
    static const char *const envp[] = { "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", NULL };
    static const char prefix[] = "git version ";
    struct al_buffer out = { .max_bytes = VERSION_MAX_BYTES };
    struct al_buffer errors = { .max_bytes = VERSION_MAX_BYTES };
    al_auto(al_closep) int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct al_proc_result result;
    int r;

    if (!program)
        return al_git_not_available(err);
    r = al_proc_run(
        &(struct al_proc_spec){
            .program = program,
            .argv = argv,
            .envp = envp,
            .cwd_fd = root_fd,
            .out = al_buffer_sink(&out),
            .err = al_buffer_sink(&errors),
            .sandbox = &(struct al_confinement){ .exec_once = true, .no_sockets = true },
            .timeout_ms = VERSION_TIMEOUT_MS,
        },
        &result, err);
    if (r == 0 && ((result.exit_code != 0 && !result.stopped) || !out.data ||
                   !al_starts_with(out.data, prefix)))
        r = al_error_set(err, AL_ERR_EXECUTION, "'%s --version' does not answer like git", program);
    if (r == 0) {
        al_auto(al_freep) char *version = al_text_join_lines(out.data + sizeof(prefix) - 1);

        version[strcspn(version, " ")] = '\0';
        *ret_version = al_take(&version);
    }
    al_buffer_clear(&out);
    al_buffer_clear(&errors);
    return r;
}

bool al_git_version_is_supported(const char *version)
{
    int major = 0, minor = 0;

    if (sscanf(version, "%d.%d", &major, &minor) != 2)
        return false;
    return major > 2 || (major == 2 && minor >= 34);
}
