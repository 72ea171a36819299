// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <unistd.h>

#include "proc/proc.h"

int al_proc_exec(const char *program, char *const *argv, char *const *envp)
{
    (void)execve(program, argv, envp);
    return -errno;
}
