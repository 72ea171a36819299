// SPDX-License-Identifier: Apache-2.0
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

void al_random_hex(size_t nbytes, char *ret_text)
{
    unsigned char bytes[AL_RANDOM_BYTES_MAX];

    if (getrandom(bytes, nbytes, 0) != (ssize_t)nbytes)
        abort();
    for (size_t i = 0; i < nbytes; i++)
        (void)snprintf(ret_text + 2 * i, 3, "%02x", bytes[i]);
    explicit_bzero(bytes, sizeof(bytes));
}

static int check_rights(const struct stat *st, const char *shown, const struct al_secret_kind *kind,
                        struct al_error *err)
{
    bool is_system = kind->may_be_system && st->st_uid == 0;
    mode_t refused = is_system ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;

    if (!S_ISREG(st->st_mode))
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: cannot read: not a regular file", shown);
    if (st->st_uid != geteuid() && !is_system)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "%s: the %s belongs to another user; it has to be yours", shown,
                            kind->what);
    if (st->st_mode & refused)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "%s: other users have rights to the %s (mode %04o); chmod 600 it, and "
                            "%s",
                            shown, kind->what, st->st_mode & 07777u, kind->leaked);
    return 0;
}

int al_secret_read(const char *path, const char *shown, const struct al_secret_kind *kind,
                   struct al_str *ret_text, struct al_error *err)
{
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    int r;

    if (fd < 0 || fstat(fd, &st) < 0)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: cannot read: %s", shown,
                            strerrordesc_np(errno));
    r = check_rights(&st, shown, kind, err);
    if (r < 0)
        return r;
    r = al_fs_read_fd(fd, kind->max, ret_text);
    if (r == -EFBIG)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: cannot read: larger than %zu bytes", shown,
                            kind->max);
    return r < 0 ? al_error_set(err, AL_ERR_BAD_ARGS, "%s: cannot read: %s", shown,
                                strerrordesc_np(-r))
                 : 0;
}
