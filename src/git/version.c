// SPDX-License-Identifier: Apache-2.0
#include "git/version.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/fs.h"
#include "git/failure.h"
#include "guard/text.h"
#include "proc/proc.h"

#define VERSION_TIMEOUT_MS 10000
#define VERSION_MAX_BYTES  256

/* In the state directory: which file said what. */
#define REMEMBERED           "git-version"
#define REMEMBERED_MAX_BYTES 1024

int al_git_version(const char *program, char **ret_version, struct al_error *err)
{
    static const char *const argv[] = { "git", "--version", NULL };
    static const char *const envp[] = { "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", NULL };
    static const char prefix[] = "git version ";
    al_auto(al_buffer_clear) struct al_buffer out = AL_BUFFER_INIT(VERSION_MAX_BYTES);
    al_auto(al_buffer_clear) struct al_buffer errors = AL_BUFFER_INIT(VERSION_MAX_BYTES);
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
    if (r == 0 &&
        ((result.exit_code != 0 && !result.stopped) || !al_starts_with(out.text.buf, prefix)))
        r = al_error_set(err, AL_ERR_EXECUTION, "'%s --version' does not answer like git", program);
    if (r == 0) {
        al_auto(al_freep) char *version = al_text_join_lines(out.text.buf + sizeof(prefix) - 1);

        version[strcspn(version, " ")] = '\0';
        *ret_version = al_take(&version);
    }
    return r;
}

bool al_git_version_is_supported(const char *version)
{
    int major = 0, minor = 0, min_major, min_minor;

    (void)sscanf(AL_GIT_VERSION_MIN, "%d.%d", &min_major, &min_minor);
    if (sscanf(version, "%d.%d", &major, &minor) != 2)
        return false;
    return major > min_major || (major == min_major && minor >= min_minor);
}

/* What the version of a program is remembered by. */
static char *key_of(const char *program)
{
    struct al_file_id id = al_file_id_at(AT_FDCWD, program);

    return al_asprintf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " ", id.dev,
                       id.ino, id.size, id.mtime_ns, id.ctime_ns);
}

/* The version; NULL: the program does not tell it.  Caller frees. */
static char *version_of(const char *program, const char *state_dir)
{
    al_auto(al_closep) int dir_fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_str_clear) struct al_str known = AL_STR_INIT;
    al_auto(al_freep) char *key = key_of(program);
    char *version = NULL;

    if (al_fs_read(dir_fd, REMEMBERED, REMEMBERED_MAX_BYTES, &known) == 0 && known.len &&
        al_starts_with(known.buf, key))
        return al_strdup(known.buf + strlen(key));
    if (al_git_version(program, &version, NULL) < 0)
        return NULL;
    al_str_clear(&known);
    al_str_addf(&known, "%s%s", key, version);
    (void)al_fs_write_atomic(dir_fd, REMEMBERED, known.buf, known.len, 0600, true);
    return version;
}

int al_git_version_require(const char *program, const char *state_dir, struct al_error *err)
{
    al_auto(al_freep) char *version = program ? version_of(program, state_dir) : NULL;
    al_auto(al_freep) char *safe = NULL;

    if (!version || al_git_version_is_supported(version))
        return 0;
    safe = al_text_sanitize_line(version);
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "'%s' is git %s, and airlock needs git " AL_GIT_VERSION_MIN " or newer",
                        program, safe);
}
