// SPDX-License-Identifier: Apache-2.0
#include "proc/running.h"

#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "proc/reaper.h"
#include "proc/spawn.h"

struct al_running {
    struct al_spawned child; /* registered, so it must not move */
    bool exec_once;
    int64_t began_ms;
};

int al_running_start(const struct al_proc_spec *spec, struct al_running **ret_running,
                     struct al_error *err)
{
    struct al_running *running;
    int r = al_spec_check(spec, err);

    if (r < 0)
        return r;
    running = al_calloc(1, sizeof(*running));
    running->child = AL_SPAWNED_INIT;
    running->exec_once = spec->sandbox->exec_once;
    running->began_ms = al_clock_ms();
    r = al_spawn(spec, &running->child, err);
    if (r < 0) {
        free(running);
        return r;
    }
    al_proc_count_start();
    *ret_running = running;
    return 0;
}

int al_running_out_fd(const struct al_running *running)
{
    return running->child.out_fd;
}

int al_running_err_fd(const struct al_running *running)
{
    return running->child.err_fd;
}

int al_running_pidfd(const struct al_running *running)
{
    return running->child.process.pidfd;
}

static bool has_ended(const struct al_running *running)
{
    struct pollfd ended = { .fd = running->child.process.pidfd, .events = POLLIN };

    return poll(&ended, 1, 0) > 0;
}

void al_running_end(struct al_running *running, struct al_proc_result *ret_result)
{
    siginfo_t info = { .si_signo = 0 };
    bool exited;

    if (!has_ended(running))
        al_child_kill(&running->child.process);
    al_child_end(&running->child.process, running->exec_once, &info);
    exited = info.si_code == CLD_EXITED;
    *ret_result = (struct al_proc_result){
        .exit_code = exited ? info.si_status : -1,
        .signal = exited ? 0 : info.si_status,
        .ran_ms = (uint32_t)(al_clock_ms() - running->began_ms),
    };
    al_spawned_clear(&running->child);
    free(running);
}
