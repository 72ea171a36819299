// SPDX-License-Identifier: Apache-2.0
/* The lock of the file of the newest checkpoints, see checkpoint/recent.h, and writing its head. */
#ifndef AL_CHECKPOINT_RECENT_HEAD_H
#define AL_CHECKPOINT_RECENT_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gitops/deadline.h"
#include "util/error.h"

/** Lock the file, which writers do.  @param deadline  May be NULL: wait as long as it takes. */
int al_recent_lock(int fd, struct al_deadline *deadline, struct al_error *err);
void al_recent_unlock(int fd);

/** Write all bytes at an offset: 0 or -errno. */
int al_recent_write_at(int fd, const char *data, size_t len, uint64_t at);

/** Begin the file anew in a format, on the disk.  Every record was settled.
 *
 * @param[out] ret_nonce  The nonce of the records from now on. */
int al_recent_write_head(int fd, unsigned format, bool sha256, uint64_t *ret_nonce,
                         struct al_error *err);

/** Fail: the store cannot be written. */
int al_recent_failed(int errno_value, struct al_error *err);

#endif
