// SPDX-License-Identifier: Apache-2.0
/*
 * Filters git's progress out of its standard error: progress lines go to a listener, all other text
 * goes to a sink.
 *
 * Source: git's progress.c; gitprotocol-pack(5) on the sideband, whose lines begin with "remote: ".
 */
#ifndef AL_GIT_PROGRESS_H
#define AL_GIT_PROGRESS_H

#include <stdbool.h>

#include "base/progress.h"
#include "base/str.h"
#include "proc/proc.h"

struct al_progress_filter {
    const struct al_progress *to; /**< borrowed */
    struct al_sink rest;
    struct al_str line; /* the unfinished line; private */
    bool full;          /* the sink wants no more; private */
};

#define AL_PROGRESS_FILTER_INIT(listener, sink)                                                    \
    ((struct al_progress_filter){ .to = (listener), .rest = (sink), .line = AL_STR_INIT })

/** Feed bytes, split anywhere.  An al_sink function; always true. */
bool al_progress_filter_add(void *payload, const char *data, size_t len);

/** End of input: pass on the unfinished line and release memory. */
void al_progress_filter_end(struct al_progress_filter *filter);

/** Test whether a line, without its line end, is a progress line. */
bool al_is_progress(const char *line);

#endif
