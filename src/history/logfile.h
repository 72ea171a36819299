// SPDX-License-Identifier: Apache-2.0
/* The file that lines are appended to: the one that has the log's name.  It can be renamed or
 * removed while it is open. */
#ifndef AL_HISTORY_LOGFILE_H
#define AL_HISTORY_LOGFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/str.h"

/** A log's file.  Set up with AL_LOGFILE_INIT. */
struct al_logfile {
    int dir_fd;       /* borrowed */
    const char *name; /* in that directory; borrowed */
    int fd;           /* -1 when none is open */
    dev_t dev;        /* with `ino`, identifies the file while it is open */
    ino_t ino;
};

#define AL_LOGFILE_INIT(directory, base)                                                           \
    ((struct al_logfile){ .dir_fd = (directory), .name = (base), .fd = -1 })

void al_logfile_clear(struct al_logfile *log);

/** Open a regular file for reading and writing, and create it (0600) when there is none.  Links are
 * not followed, and a fifo is not waited for.  A descriptor or -errno; -EINVAL when it is not a
 * regular file. */
int al_logfile_open_regular(int dir_fd, const char *name, int flags);

/** Open the file that has the name now, or create it.  0 or -errno. */
int al_logfile_open(struct al_logfile *log);

/**
 * Test whether the open file still has the log's name.
 * @param[out] ret_size  Its size, if so.
 * @return 1; 0 when another file has the name; -errno, -ENOENT when none has.
 */
int al_logfile_is_current(const struct al_logfile *log, uint64_t *ret_size);

/** The size of the open file.  0 or -errno. */
int al_logfile_size(const struct al_logfile *log, uint64_t *ret_size);

/** Append text with one write(2) to a file of `size` bytes.  A partial write, as on a full disk, is
 * truncated again.  0 or -errno. */
int al_logfile_add(const struct al_logfile *log, const struct al_str *text, uint64_t size);

/** Test whether the byte before offset `size` is not a newline. */
bool al_logfile_ends_in_line(const struct al_logfile *log, uint64_t size);

#endif
