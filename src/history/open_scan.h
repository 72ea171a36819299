// SPDX-License-Identifier: Apache-2.0
/*
 * Reading the files that history/open_records.h describes.
 *
 * Files of earlier versions are read as well.  Such a file has one call, its name is `<pid>-<n>`,
 * with or without a dot before it, and its last complete line counts.  An empty line means that no
 * call is open.
 */
#ifndef AL_HISTORY_OPEN_SCAN_H
#define AL_HISTORY_OPEN_SCAN_H

#include "util/json.h"
#include "util/str.h"

/** A larger file is not airlock's. */
#define AL_OPEN_FILE_MAX_BYTES (64u << 20)

/** The calls in a file's text that began and did not end, in order: an object whose values are the
 * calls' lines in the log.  Caller owns the reference. */
json_t *al_open_scan_calls(const char *text, size_t len);

/** Receives the open calls of one file.  0 when the file is no longer needed. */
typedef int al_open_scan_fn(void *payload, long pid, json_t *calls);

/** Report each file whose process died, and remove it if `found` returns 0.  If several processes
 * do so at the same time, one of them gets each file. */
void al_open_scan_dead(int dir_fd, al_open_scan_fn *found, void *payload);

/** Report each file whose process lives.  The results of `found` are ignored. */
void al_open_scan_running(int dir_fd, al_open_scan_fn *found, void *payload);

#endif
