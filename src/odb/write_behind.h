// SPDX-License-Identifier: Apache-2.0
/*
 * For pack_write.c: a thread that writes and hashes one buffer while the next one is filled.
 */
#ifndef AL_ODB_WRITE_BEHIND_H
#define AL_ODB_WRITE_BEHIND_H

#include <stddef.h>

#include "gitops/oid.h"

struct al_write_behind;

/**
 * Start the thread.  It has the descriptor's position and the hash to itself except after
 * al_write_behind_wait().
 *
 * @param fd   To write to.  Borrowed, as is `sum`.
 * @param sum  Gets what is written.
 * @return NULL if there can be no thread.
 */
struct al_write_behind *al_write_behind_begin(int fd, struct al_hash *sum);

/**
 * Give it a buffer to write, which has to stay as it is until the next call of this or of
 * al_write_behind_wait(): the buffer before is written then.
 *
 * @return 0, or -errno of a buffer before.  After a failure nothing is written any more.
 */
int al_write_behind_put(struct al_write_behind *behind, const void *data, size_t len);

/** Wait until everything is written.  0 or -errno. */
int al_write_behind_wait(struct al_write_behind *behind);

/** Wait, and end the thread.  NULL is fine. */
void al_write_behind_end(struct al_write_behind *behind);

#endif
