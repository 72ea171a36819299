// SPDX-License-Identifier: Apache-2.0
/* A look at a file that has been taken out of its place: what it is, and whether somebody writes it
 * still. */
#ifndef AL_HISTORY_LOOK_H
#define AL_HISTORY_LOOK_H

#include <stdbool.h>
#include <sys/stat.h>

#include "gitops/oid.h"

struct al_look {
    mode_t mode;       /**< st_mode; 0: there is nothing */
    struct al_oid oid; /**< of a regular file's content, and of a link's target; none for others,
                          and for what cannot be read */
    bool is_open;      /**< somebody has it open for writing */
};

/**
 * Look at an entry of a directory.  Nobody else opens it meanwhile, since nobody knows its name;
 * who has had it open may still write into it, and then `is_open` is set: a lease for reading
 * (fcntl(2), F_SETLEASE) is refused.  A file system without leases says that nobody does.
 */
void al_look_at(int dir_fd, const char *name, bool sha256, struct al_look *ret_look);

#endif
