// SPDX-License-Identifier: Apache-2.0
/*
 * Guessing tokens is slow: after AL_THROTTLE_FREE wrong tokens within AL_THROTTLE_WINDOW_MS from
 * one address, each further one is answered AL_THROTTLE_WAIT_MS later.  Right tokens never wait.
 *
 * An IPv6 address counts by its first 64 bits, which one subscriber has to himself.  The address
 * whose last wrong token is the oldest is forgotten when there are too many.
 *
 * Threads: one at a time.  The clock is handed in.
 */
#ifndef AL_SERVE_HTTP_THROTTLE_H
#define AL_SERVE_HTTP_THROTTLE_H

#include <stdint.h>

#define AL_THROTTLE_FREE          10u
#define AL_THROTTLE_WINDOW_MS     60000
#define AL_THROTTLE_WAIT_MS       1000
#define AL_THROTTLE_ADDRESSES_MAX 4096u

struct al_throttle;

/** Make a throttle; free(3) it. */
struct al_throttle *al_throttle_new(void);

/**
 * Count a wrong token.
 *
 * @param address  As numbers, without a port; "" for a Unix socket.
 * @param now_ms   Of a clock that never goes back.
 * @return how long its answer has to wait, in milliseconds.
 */
int al_throttle_wrong(struct al_throttle *throttle, const char *address, int64_t now_ms);

#endif
