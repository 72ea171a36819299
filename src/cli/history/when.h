// SPDX-License-Identifier: Apache-2.0
/* Times on the command line. */
#ifndef AL_CLI_HISTORY_WHEN_H
#define AL_CLI_HISTORY_WHEN_H

#include <stdbool.h>

/** Size of a buffer for a time in the journal's form, 2026-01-02T03:04:05.678Z. */
#define AL_WHEN_TEXT 32

/**
 * Read a time.  It is local time, unless it has a zone.
 *
 *   2026-01-31, 2026-01-31T12:30:00Z             ISO 8601, with or without a time of day
 *   20260131_123000                              a tool log's `timestamp`
 *   now, today, yesterday                        the latter two mean midnight
 *   "2 hours ago", 2.hours.ago, "last week"      relative, in git's words
 *   90s, 15m, 2h, 3d, 1w                         relative, abbreviated
 *
 * @return false if the text is not a time; ret_time is then unchanged.
 */
bool al_when_parse(const char *text, char ret_time[AL_WHEN_TEXT]);

#endif
