// SPDX-License-Identifier: Apache-2.0
/*
 * The files of a journal.
 *
 * A log that is full is renamed to "tool_log.<seq of its last line>.jsonl" and a new one begun.
 * The chain continues from one file to the next.  No file is ever removed: a missing file shows as
 * missing lines do.
 */
#ifndef AL_HISTORY_HISTORY_H
#define AL_HISTORY_HISTORY_H

#include "history/head.h"
#include "util/str.h"

/** The files at one moment.  Set up with AL_HISTORY_INIT. */
struct al_history {
    struct al_strv rotated; /**< paths of the renamed files, oldest first */
    int log_fd;             /**< the current file; -1 when there is none */
    uint64_t size;          /**< of the current file, in bytes */
    struct al_head head;    /**< filled in when a key was given */
    /** AL_HEAD_EMPTY: there is no head.  AL_HEAD_BAD: it is not valid, or no key was given. */
    enum al_head_found found;
};

#define AL_HISTORY_INIT ((struct al_history){ .rotated = AL_STRV_INIT, .log_fd = -1 })

/**
 * Find the files of the journal `file` while no line is appended.
 *
 * @param key  The key to check the head with; NULL when the head is not needed.
 * @return 0, also when there is no journal; or -errno.
 */
int al_history_open(const char *file, const struct al_key *key, struct al_history *ret_history);
void al_history_clear(struct al_history *history);

/** The number of files, including the current one; and a descriptor of one of them, oldest first,
 * or -errno.  The caller closes the descriptor. */
size_t al_history_count(const struct al_history *history);
int al_history_file(const struct al_history *history, size_t index);

/** Test whether nothing was ever recorded. */
bool al_history_is_empty(const struct al_history *history);

/** The path of a renamed file.  Caller frees. */
char *al_history_name(const char *file, uint64_t last_seq);

/** Open a file of a journal for reading, without following a link or waiting for a fifo.  A
 * descriptor or -errno. */
int al_history_open_file(const char *path);

#endif
