// SPDX-License-Identifier: Apache-2.0
/* A time as people write it. */
#ifndef AL_CLI_WHEN_H
#define AL_CLI_WHEN_H

#include <stdbool.h>

/** Bytes of a time in the journal's form, 2026-01-02T03:04:05.678Z, with its NUL and to spare. */
#define AL_WHEN_TEXT 32

/**
 * Read a time: a date with or without a time of day, in ISO 8601, as a tool log's `timestamp`, or
 * as git's words: now, today and yesterday (from midnight), "2 hours ago", 2.hours.ago, "last
 * week", 90s, 15m, 2h, 3d, 1w.  Local, unless it says otherwise.
 * @return false when it is none; then nothing is written.
 */
bool al_when_parse(const char *text, char ret_time[AL_WHEN_TEXT]);

#endif
