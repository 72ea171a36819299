// SPDX-License-Identifier: Apache-2.0
/*
 * The file that lines are added to: whichever has the name of the log.  It can get another name, or
 * none, while it is open.
 */
#ifndef AL_JOURNAL_LOGFILE_H
#define AL_JOURNAL_LOGFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/str.h"

/** A log's file.  Set up with AL_LOGFILE_INIT. */
struct al_logfile {
    int dir_fd;       /* borrowed */
    const char *name; /* in that directory; borrowed */
    int fd;           /* -1 when none is open */
    dev_t dev;        /* of fd, and no other file's as long as that is open */
    ino_t ino;
};

#define AL_LOGFILE_INIT(directory, base)                                                           \
    ((struct al_logfile){ .dir_fd = (directory), .name = (base), .fd = -1 })

void al_logfile_clear(struct al_logfile *log);

/** Open, and create when it is not there (0600), a regular file for reading and writing: no link is
 * followed, no fifo waited for.  A descriptor or -errno, -EINVAL for what is no such file. */
int al_logfile_open_regular(int dir_fd, const char *name, int flags);

/** Have open what has the name now, a new file when nothing has it.  0 or -errno. */
int al_logfile_open(struct al_logfile *log);

/**
 * Whether what is open still has the name, and how large it is then.
 * @return 1, 0 when another file has the name, or -errno; -ENOENT when none has.
 */
int al_logfile_is_current(const struct al_logfile *log, uint64_t *ret_size);

/** The size of what is open.  0 or -errno. */
int al_logfile_size(const struct al_logfile *log, uint64_t *ret_size);

/** Add text with one write to a file that has `size` bytes; what a full disk took of it is removed
 * again.  0 or -errno. */
int al_logfile_add(const struct al_logfile *log, const struct al_str *text, uint64_t size);

/** Whether the byte before `size` is anything but the end of a line. */
bool al_logfile_ends_in_line(const struct al_logfile *log, uint64_t size);

#endif
