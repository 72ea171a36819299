// SPDX-License-Identifier: Apache-2.0
/* A callback for the progress of a long operation. */
#ifndef AL_BASE_PROGRESS_H
#define AL_BASE_PROGRESS_H

/** A callback and its payload. */
struct al_progress {
    /** Gets one sanitized line, such as "Receiving objects:  42% (21/50)"; NULL: what the last line
     * said is over.  Runs on the thread of
     * the call, for every new line; the callback limits the rate if it has to. */
    void (*report)(void *payload, const char *line);
    void *payload;
};

#endif
