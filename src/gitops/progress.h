// SPDX-License-Identifier: Apache-2.0
/*
 * git's progress taken out of its standard error: what tells how far it is goes to a listener, what
 * is left is what git says when nobody asks for progress.
 *
 * Source: git's progress.c; gitprotocol-pack(5) on the sideband, whose lines begin with "remote: ".
 */
#ifndef AL_GITOPS_PROGRESS_H
#define AL_GITOPS_PROGRESS_H

#include <stdbool.h>

#include "proc/proc.h"
#include "util/progress.h"
#include "util/str.h"

struct al_progress_filter {
    const struct al_progress *to; /**< borrowed */
    struct al_sink rest;
    struct al_str line; /* unfinished; private */
    bool full;          /* the sink wants no more; private */
};

#define AL_PROGRESS_FILTER_INIT(listener, sink)                                                    \
    ((struct al_progress_filter){ .to = (listener), .rest = (sink), .line = AL_STR_INIT })

/** Feed bytes, split anywhere.  The form of a sink. */
bool al_progress_filter_add(void *payload, const char *data, size_t len);

/** End of input: pass on what was held back, and release it. */
void al_progress_filter_end(struct al_progress_filter *filter);

/** Whether a line, without its end, only tells how far git is. */
bool al_is_progress(const char *line);

#endif
