// SPDX-License-Identifier: Apache-2.0
#include "gitops/command.h"

#include <stdlib.h>
#include <unistd.h>

#include "gitops/environment.h"
#include "gitops/failure.h"
#include "gitops/git_lock.h"
#include "gitops/layer.h"
#include "gitops/progress.h"
#include "gitops/ruleset.h"
#include "gitops/run.h"

#define DATA_MAX_BYTES (2ull << 30)
#define FILE_MAX_BYTES (1ull << 30)
#define FILES_MAX      256u

/* AddressSanitizer and ThreadSanitizer reserve terabytes of address space, and airlock itself runs
 * as askpass and as the wrapper of ssh. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NETWORK_DATA_MAX_BYTES 0
#else
#define NETWORK_DATA_MAX_BYTES DATA_MAX_BYTES
#endif

void al_git_command_clear(struct al_git_command *command)
{
    al_strv_clear(&command->argv);
}

bool al_git_class_writes(enum al_git_class class)
{
    return class != AL_GIT_CONFIG && class != AL_GIT_READ;
}

bool al_git_class_connects(enum al_git_class class)
{
    return class == AL_GIT_TCP || class == AL_GIT_HTTP || class == AL_GIT_SSH;
}

struct al_limits al_git_limits(const struct al_git_command *command, uint32_t left_ms)
{
    static _Atomic long known; /* asking costs three system calls */
    long cores = known;

    if (!cores)
        known = cores = sysconf(_SC_NPROCESSORS_ONLN);
    return (struct al_limits){
        .data_bytes =
            al_git_class_connects(command->class) ? NETWORK_DATA_MAX_BYTES : DATA_MAX_BYTES,
        .cpu_s = (uint64_t)left_ms / 1000 * (uint64_t)(cores > 0 ? cores : 1) + 5,
        .fsize_bytes = command->link ? command->link->max_file_bytes : FILE_MAX_BYTES,
        .nofile = FILES_MAX,
    };
}

struct al_confinement al_git_command_sandbox(const struct al_git_command *command,
                                             const struct al_held_ruleset *held, uint32_t left_ms)
{
    bool network = al_git_class_connects(command->class);

    return (struct al_confinement){
        .ruleset = held ? held->ruleset : NULL,
        .exec_once = !command->starts_children,
        .no_sockets = !network,
        .network = network,
        .limits = al_git_limits(command, left_ms),
    };
}
