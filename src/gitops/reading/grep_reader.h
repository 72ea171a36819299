// SPDX-License-Identifier: Apache-2.0
/*
 * Reader of the output of `git grep -z`, with --column or with -l.
 *
 * Source: git-grep(1) "-z".
 */
#ifndef AL_GITOPS_READING_GREP_READER_H
#define AL_GITOPS_READING_GREP_READER_H

#include "gitops/reading/grep.h"
#include "util/str.h"

/** The reader. */
struct al_grep_reader {
    const struct al_grep_query *query;
    bool (*take)(void *payload, const struct al_grep_line *line);
    void *payload;

    /* Private. */
    struct al_str fields[3];
    int at;
};

/** A reader for the output of a query; both are borrowed. */
#define AL_GREP_READER_INIT(q, t, p)                                                               \
    ((struct al_grep_reader){ .query = (q),                                                        \
                              .take = (t),                                                         \
                              .payload = (p),                                                      \
                              .fields = { AL_STR_INIT, AL_STR_INIT, AL_STR_INIT } })

void al_grep_reader_clear(struct al_grep_reader *reader);

/** Sink function: parse the next bytes, split anywhere.  `payload` is the reader.  False: the taker
 * has enough. */
bool al_grep_reader_add(void *payload, const char *data, size_t len);

#endif
