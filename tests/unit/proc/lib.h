// SPDX-License-Identifier: Apache-2.0
/* Runs a child for the tests of proc, and checks that no descriptor or process is left. */
#ifndef TESTS_UNIT_PROC_LIB_H
#define TESTS_UNIT_PROC_LIB_H

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "proc/proc.h"
#include "proc/reaper.h"
#include "tests/lib/assert.h"

#define LONG_MS 120000u /* the timeout of a child that ends by itself; no test waits this long */

struct outcome {
    int r;
    struct al_proc_result result;
    struct al_error err;
    struct al_buffer out, err_out;
};

static inline int count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static inline void assert_no_children(void)
{
    struct al_pids pids = { .items = NULL };

    al_pids_add_scanned(&pids, getpid());
    assert_int_equal(pids.count, 0);
    al_pids_clear(&pids);
}

static inline void outcome_clear(struct outcome *outcome)
{
    al_error_clear(&outcome->err);
    al_buffer_clear(&outcome->out);
    al_buffer_clear(&outcome->err_out);
}

static const struct al_confinement no_sandbox;

/* A specification of `/bin/sh -c script`; the arrays are the caller's to keep. */
#define SHELL_SPEC(script)                                                                         \
    {                                                                                              \
        .program = "/bin/sh", .argv = (const char *[]){ "sh", "-c", (script), NULL },              \
        .envp = (const char *[]){ "PATH=/usr/bin:/bin", NULL }, .cwd_fd = root_fd(),               \
        .sandbox = &no_sandbox, .timeout_ms = LONG_MS                                              \
    }

/* A descriptor of the root directory, opened once. */
static inline int root_fd(void)
{
    static int fd = -1;

    if (fd < 0)
        fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd;
}

/* Runs it with both streams kept up to max_bytes; descriptors and children are as before. */
static inline struct outcome run_up_to(const struct al_proc_spec *given, size_t max_bytes)
{
    struct outcome outcome = {
        .out = { .max_bytes = max_bytes },
        .err_out = { .max_bytes = max_bytes },
    };
    struct al_proc_spec spec = *given;
    int before = count_descriptors();

    spec.out = al_buffer_sink(&outcome.out);
    spec.err = al_buffer_sink(&outcome.err_out);
    outcome.r = al_proc_run(&spec, &outcome.result, &outcome.err);
    assert_int_equal(count_descriptors(), before);
    assert_no_children();
    return outcome;
}

static inline struct outcome run(const struct al_proc_spec *spec)
{
    return run_up_to(spec, 1u << 20);
}

#endif
