// SPDX-License-Identifier: Apache-2.0
/*
 * The files that journal/open_records.h describes, as others read them.
 *
 * Earlier versions wrote a file a call, `<pid>-<n>` or with a dot before it: lines of which the
 * last whole one counts, an empty one meaning that no call is open.  These are read as well.
 */
#ifndef AL_JOURNAL_OPEN_SCAN_H
#define AL_JOURNAL_OPEN_SCAN_H

#include "util/json.h"
#include "util/str.h"

/** Larger files are none of ours. */
#define AL_OPEN_FILE_MAX_BYTES (64u << 20)

/** The calls of a file that began and did not end, in their order: an object whose values are what
 * is known of them, as their line in the log.  Caller owns the reference. */
json_t *al_open_scan_calls(const char *text, size_t len);

/** The open calls of one file; 0 when it has served its purpose. */
typedef int al_open_scan_fn(void *payload, long pid, json_t *calls);

/** Each file of the directory whose process died is handed over, and removed if `found` agrees.  Of
 * several processes that do so at once, one gets a file. */
void al_open_scan_dead(int dir_fd, al_open_scan_fn *found, void *payload);

/** Each file of the directory whose process lives is handed over.  What `found` gives does not
 * count. */
void al_open_scan_running(int dir_fd, al_open_scan_fn *found, void *payload);

#endif
