// SPDX-License-Identifier: Apache-2.0
/* cli/config/config.h: a configuration file is read completely and within its limits, or it is
 * refused with one line that names the file, and nothing changes. */
#include "cli/config/config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/env.h"
#include "tests/fuzz/fuzz.h"

static void add_list(struct al_str *out, const struct al_strv *list)
{
    for (size_t i = 0; i < list->count; i++)
        al_str_addf(out, "%s\n", list->items[i]);
    al_str_adds(out, "--\n");
}

/* A configuration as text, without the place it was read from. */
static char *describe(const struct al_config *config)
{
    struct al_str out = AL_STR_INIT;

    add_list(&out, &config->toolsets);
    add_list(&out, &config->roots);
    add_list(&out, &config->env_allow);
    al_str_addf(&out, "%d %u %u\n", config->git.enabled, config->git.timeout_ms,
                config->git.max_bytes);
    al_str_addf(&out, "%d %d\n", config->sandbox.allow_absolute,
                config->sandbox.require_confinement);
    al_str_addf(&out, "%d %s\n", (int)config->approval.mode,
                config->journal.file ? config->journal.file : "");
    return al_str_detach(&out);
}

static void require_bounds(const struct al_config *config, const char *path)
{
    fuzz_require(config->file && !strcmp(config->file, path));
    fuzz_require(config->git.timeout_ms >= 100 && config->git.timeout_ms <= 600000);
    fuzz_require(config->git.max_bytes >= 1 && config->git.max_bytes <= 5000000);
    fuzz_require(config->approval.mode == AL_APPROVAL_ASK ||
                 config->approval.mode == AL_APPROVAL_ALLOW ||
                 config->approval.mode == AL_APPROVAL_DENY);
    fuzz_require(config->toolsets.count > 0);
    fuzz_require(!config->journal.file || config->journal.file[0] == '/');
    for (size_t i = 0; i < config->env_allow.count; i++)
        fuzz_require(al_env_check_allowed(config->env_allow.items[i], NULL) == 0);
}

static void require_complaint(const struct al_error *err, const char *path)
{
    fuzz_require(err->status == AL_ERR_BAD_ARGS);
    fuzz_require(al_starts_with(err->message, path));
    fuzz_require(fuzz_is_safe_line(err->message));
}

/* Read the file twice, the second time on top of the first. */
static void check(const char *path, const char *home)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };
    al_auto(al_freep) char *before = NULL;

    al_config_init(&config);
    before = describe(&config);
    for (int i = 0; i < 2; i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        al_auto(al_freep) char *after = NULL;
        int r = al_config_load(&config, path, NULL, home, &err);

        after = describe(&config);
        fuzz_require(r == 0 || !strcmp(before, after));
        if (r == 0)
            require_bounds(&config, path);
        else
            require_complaint(&err, path);
        fuzz_require(i == 0 || !strcmp(before, after));
        free(before);
        before = al_take(&after);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    al_auto(al_closep) int fd = memfd_create("config", MFD_CLOEXEC);
    al_auto(al_freep) char *path = al_asprintf("/proc/self/fd/%d", fd);

    fuzz_require(fd >= 0 && al_write_all(fd, data, size) == 0);
    check(path, "/a/home");
    check(path, NULL);
    return 0;
}
