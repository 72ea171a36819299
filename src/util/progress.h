// SPDX-License-Identifier: Apache-2.0
/* Who wants to hear how far something is that takes long. */
#ifndef AL_UTIL_PROGRESS_H
#define AL_UTIL_PROGRESS_H

/** A callback and its payload. */
struct al_progress {
    /** One safe line of text, "Receiving objects:  42% (21/50)".  Called from the call's own
     * thread, as often as there is something new: whoever listens decides how much of it is too
     * much. */
    void (*report)(void *payload, const char *line);
    void *payload;
};

#endif
