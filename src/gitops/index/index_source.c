// SPDX-License-Identifier: Apache-2.0
#include "gitops/index/index_source.h"

#include <fcntl.h>
#include <nettle/sha2.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gitops/index/index_copy.h"
#include "util/mem.h"

#define SECOND_NS    INT64_C(1000000000)
#define TICK_NS      INT64_C(20000000) /* file times tick at least this often */
#define LONG_TICK_NS (2 * SECOND_NS)   /* unless they have whole seconds only */

bool al_index_source_find(const struct al_location *at, struct al_index_source *source)
{
    al_auto(al_freep) char *path = at->git_fd >= 0 ? NULL : al_fs_join(at->git_dir, "index");
    struct stat st;

    if (fstatat(path ? AT_FDCWD : at->git_fd, path ? path : "index", &st, AT_SYMLINK_NOFOLLOW) <
            0 ||
        !S_ISREG(st.st_mode) || !al_location_is_own(&st) || st.st_size > AL_INDEX_COPY_MAX_BYTES)
        return false;
    source->id = al_file_id_from(&st);
    return true;
}

bool al_index_source_is_settled(const struct al_index_source *source)
{
    const int64_t ctime_ns = source->id.ctime_ns;
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return ctime_ns < (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec -
                          (ctime_ns % SECOND_NS ? TICK_NS : LONG_TICK_NS);
}

void al_index_source_digest(const struct al_vetting *vetting, struct al_index_source *source)
{
    struct sha256_ctx ctx;

    sha256_init(&ctx);
    for (size_t i = 0; i < vetting->sources.count; i++) {
        const struct al_file_id *id = &vetting->ids[i];
        const uint64_t numbers[] = {
            id->exists, id->dev, id->ino, id->size, (uint64_t)id->mtime_ns, (uint64_t)id->ctime_ns
        };

        sha256_update(&ctx, strlen(vetting->sources.items[i]) + 1,
                      (const uint8_t *)vetting->sources.items[i]);
        sha256_update(&ctx, sizeof(numbers), (const uint8_t *)numbers);
    }
    sha256_digest(&ctx, sizeof(source->config), source->config);
}

int al_index_source_open(const struct al_location *at, struct stat *ret_stat)
{
    al_auto(al_closep) int dir_fd = -1;
    int fd = -1;

    if (al_location_open_git_dir(at, &dir_fd, NULL) == 0)
        fd = openat(dir_fd, "index", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, ret_stat) < 0)
        al_closep(&fd);
    return fd;
}
