// SPDX-License-Identifier: Apache-2.0
#include "odb/init.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

static int make_dirs(int dir_fd, const char *const *dirs)
{
    for (; *dirs; dirs++) {
        if (mkdirat(dir_fd, *dirs, 0700) < 0 && errno != EEXIST)
            return -errno;
    }
    return 0;
}

static int make_file(int dir_fd, const char *name, const char *text)
{
    return al_fs_write_durable(dir_fd, name, text, strlen(text), 0600);
}

static int sync_dirs(int dir_fd)
{
    static const char *const dirs[] = { "objects", ".", "..", "../.." };
    int r = 0;

    for (size_t i = 0; i < AL_COUNT(dirs) && r == 0; i++) {
        al_auto(al_closep) int fd = openat(dir_fd, dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        r = fd < 0 ? -errno : al_fs_sync(fd);
    }
    return r;
}

int al_odb_init(int dir_fd, bool sha256, const char *const *dirs)
{
    static const char *const standard[] = { "objects", "objects/pack", "objects/info",
                                            "refs",    "refs/heads",   "info",
                                            NULL };
    static const char settings[] = "\tbare = true\n"
                                   "[gc]\n\tauto = 0\n"
                                   "[pack]\n\tpackSizeLimit = 900m\n\twriteReverseIndex = false\n"
                                   "[core]\n\tbigFileThreshold = 4m\n";
    const char *version = sha256 ? "[extensions]\n\tobjectFormat = sha256\n"
                                   "[core]\n\trepositoryFormatVersion = 1\n"
                                 : "[core]\n\trepositoryFormatVersion = 0\n";
    al_auto(al_freep) char *config = al_asprintf("%s%s", version, settings);
    int r = 0;

    if (faccessat(dir_fd, "HEAD", F_OK, 0) == 0)
        return 0;
    r = make_dirs(dir_fd, standard);
    if (r == 0)
        r = make_dirs(dir_fd, dirs);
    if (r == 0)
        r = make_file(dir_fd, "config", config);
    if (r == 0) /* last: with HEAD it is a repository */
        r = make_file(dir_fd, "HEAD", "ref: refs/heads/none\n");
    if (r == 0)
        r = sync_dirs(dir_fd);
    return r;
}
