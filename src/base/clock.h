// SPDX-License-Identifier: Apache-2.0
/* The monotonic clock and the wall clock. */
#ifndef AL_BASE_CLOCK_H
#define AL_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/** Monotonic time in milliseconds (CLOCK_MONOTONIC), for deadlines and durations. */
int64_t al_clock_ms(void);

/** Wall clock in nanoseconds since 1970 (CLOCK_REALTIME), for comparison with times of files. */
int64_t al_clock_ns(void);

/** Wall clock as ISO 8601 in UTC with milliseconds, "2026-01-02T03:04:05.678Z" (24 bytes + NUL). */
void al_clock_iso(char ret_text[25]);

/** A time of al_clock_iso() in milliseconds since 1970; 0: NULL, or none. */
int64_t al_clock_iso_ms(const char *text);

/** Local wall clock as YYYYMMDD_HHMMSS (15 bytes + NUL). */
void al_clock_stamp(char ret_text[16]);

#endif
