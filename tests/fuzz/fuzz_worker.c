// SPDX-License-Identifier: Apache-2.0
/* cli/config/worker.h, staging/settings.h: a worker file is read within its limits and loosens
 * nothing, or it is refused with one line that names the file. */
#include "cli/config/worker.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/arg.h"
#include "staging/settings.h"
#include "tests/fuzz/fuzz.h"

#define STAMP "20260102_030405"

static void require_target(const struct al_target *target)
{
    fuzz_require(al_target_check(target, "target", NULL) == 0);
    fuzz_require(!target->branch || al_arg_check_branch("branch", target->branch, NULL) == 0);
}

static void require_settings(const struct al_worker *worker, const struct al_value *toolset)
{
    al_auto(al_staging_settings_clear) struct al_staging_settings settings = { .npulls = 0 };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (al_staging_settings_read(toolset, worker->name, STAMP, &settings, &err) < 0) {
        fuzz_require(err.status == AL_ERR_BAD_ARGS);
        fuzz_require(al_starts_with(err.message, worker->file));
        return;
    }
    if (settings.target.given)
        require_target(&settings.target);
    for (size_t i = 0; i < settings.npulls; i++) {
        fuzz_require(settings.pulls[i].path && *settings.pulls[i].path);
        fuzz_require(settings.pulls[i].source.given || settings.target.given);
        if (settings.pulls[i].source.given)
            require_target(&settings.pulls[i].source);
    }
}

static void require_worker(const struct al_worker *worker, const char *path)
{
    fuzz_require(!strcmp(worker->file, path));
    fuzz_require(*worker->name && strlen(worker->name) <= AL_WORKER_NAME_MAX_BYTES);
    fuzz_require(fuzz_is_safe_line(worker->name));
    fuzz_require(worker->grants.count <= 1);
    for (size_t i = 0; i < worker->policy.count; i++)
        fuzz_require(worker->policy.rules[i].decision != AL_APPROVAL_ALLOW);
    for (size_t i = 0; worker->roots && i < worker->roots->count; i++)
        fuzz_require(*worker->roots->items[i].text);
    for (size_t i = 0; worker->toolsets && i < worker->toolsets->count; i++)
        require_settings(worker, &worker->toolsets->items[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    al_auto(al_closep) int fd = memfd_create("worker", MFD_CLOEXEC);
    al_auto(al_freep) char *path = al_asprintf("/proc/self/fd/%d", fd);
    al_auto(al_worker_clear) struct al_worker worker = { .file = NULL };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    fuzz_require(fd >= 0 && al_write_all(fd, data, size) == 0);
    if (al_worker_read(path, &worker, &err) == 0) {
        require_worker(&worker, path);
    } else {
        fuzz_require(err.status == AL_ERR_BAD_ARGS && !worker.file);
        fuzz_require(al_starts_with(err.message, path));
        fuzz_require(fuzz_is_safe_line(err.message));
    }
    return 0;
}
