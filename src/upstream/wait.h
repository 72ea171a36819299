// SPDX-License-Identifier: Apache-2.0
/* A thread that waits for an upstream server: for its start, and for the answer to a request. */
#ifndef AL_UPSTREAM_WAIT_H
#define AL_UPSTREAM_WAIT_H

#include "upstream/state.h"

/** Register a wait; al_upstream_wait_end() is due.  0 or AL_ERR_EXECUTION. */
int al_upstream_wait_begin(struct al_upstream *server, struct al_upstream_wait *wait,
                           struct al_error *err);

/** Remove a wait, and tell the server to cancel the request that is still in flight. */
void al_upstream_wait_end(struct al_upstream *server, struct al_upstream_wait *wait,
                          const char *reason);

/** Block until the state may have changed, `cancel` has fired or the deadline has passed. */
void al_upstream_wait_once(const struct al_upstream_wait *wait, struct al_cancel *cancel,
                           int64_t deadline_ms);

/**
 * Wait until the server is ready, also for one that has failed before the wait began and is started
 * again soon.
 *
 * @return 0; AL_ERR_EXECUTION or AL_ERR_SANDBOX: why it could not start, or that it has ended;
 *         AL_ERR_TIMEOUT; AL_ERR_CANCELLED.
 */
int al_upstream_wait_ready(struct al_upstream *server, const struct al_upstream_wait *wait,
                           struct al_cancel *cancel, int64_t deadline_ms, struct al_error *err);

#endif
