// SPDX-License-Identifier: Apache-2.0
#include "util/boot_id.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "util/mem.h"

static char id[AL_BOOT_ID_BYTES + 1];

static void read_id(void)
{
    al_auto(al_closep) int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    if (fd < 0 || read(fd, id, AL_BOOT_ID_BYTES) != AL_BOOT_ID_BYTES)
        id[0] = '\0';
}

const char *al_boot_id(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, read_id);
    return id[0] ? id : NULL;
}
