// SPDX-License-Identifier: Apache-2.0
/*
 * The files of a journal.
 *
 * A log that is full is renamed to "tool_log.<seq of its last line>.jsonl" and a new one begun; the
 * chain goes on from the one to the other.  No file is ever removed: one that is missing shows like
 * lines that are.
 */
#ifndef AL_JOURNAL_HISTORY_H
#define AL_JOURNAL_HISTORY_H

#include "journal/head.h"
#include "util/str.h"

/** The files at one moment.  Set up with AL_HISTORY_INIT. */
struct al_history {
    struct al_strv rotated;   /**< paths of the full files, oldest first */
    int log_fd;               /**< the file that is being written; -1 when there is none */
    uint64_t size;            /**< of that file, in bytes */
    struct al_head head;      /**< filled in when a key was given */
    enum al_head_found found; /**< AL_HEAD_EMPTY: there is none; AL_HEAD_BAD also without a key */
};

#define AL_HISTORY_INIT ((struct al_history){ .rotated = AL_STRV_INIT, .log_fd = -1 })

/**
 * Look at the files of the journal `file` while no line is appended.
 *
 * @param key  To read the head with; NULL when it is not wanted.
 * @return 0, also when nothing is there; or -errno.
 */
int al_history_open(const char *file, const struct al_key *key, struct al_history *ret_history);
void al_history_clear(struct al_history *history);

/** How many files there are, the one being written included; and one of them, oldest first, for
 * the caller to close.  A descriptor or -errno. */
size_t al_history_count(const struct al_history *history);
int al_history_file(const struct al_history *history, size_t index);

/** Whether nothing was ever recorded. */
bool al_history_is_empty(const struct al_history *history);

/** The path a full file gets.  Caller frees. */
char *al_history_name(const char *file, uint64_t last_seq);

/** Open a file of a journal for reading: no link is followed, no fifo waited for.  -errno. */
int al_history_open_file(const char *path);

#endif
