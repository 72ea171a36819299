// SPDX-License-Identifier: Apache-2.0
/*
 * Run `git grep`.
 *
 * Source: git-grep(1).
 */
#ifndef AL_GIT_READING_GREP_H
#define AL_GIT_READING_GREP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "git/repo/repo.h"

/** The text that is searched for, and where.  Words of an agent are checked by the caller. */
struct al_grep_query {
    const char *pattern;
    const char *rev;             /**< NULL: the tracked files of the working tree */
    const struct al_strv *paths; /**< as the agent wrote them; NULL: all */
    bool ignore_case, regex, word, files_only;
    int64_t context;
};

/** One line, or with `files_only` one file.  Valid only while it is passed on. */
struct al_grep_line {
    const char *path; /**< raw bytes, relative to the top */
    const char *line; /**< its number, as text */
    const char *text; /**< without the newline; any bytes */
    size_t len;
    bool is_match; /**< false: a line around one */
};

/**
 * Search.  One git child.
 *
 * @param take  Gets each line; false ends the search.
 * @return 0, also without a match; git's failure.
 */
int al_git_grep(const struct al_repo *repo, const struct al_grep_query *query,
                bool (*take)(void *payload, const struct al_grep_line *line), void *payload,
                struct al_error *err);

/* --- Grep reader --- */

/*
 * Reader of the output of `git grep -z`, with --column or with -l.
 *
 * Source: git-grep(1) "-z".
 */

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
