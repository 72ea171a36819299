// SPDX-License-Identifier: Apache-2.0
/*
 * Run `git blame`.
 *
 * Source: git-blame(1) "THE PORCELAIN FORMAT".
 */
#ifndef AL_GIT_READING_READ_BLAME_H
#define AL_GIT_READING_READ_BLAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "git/repo/repo.h"
#include "git/run.h"

/** The commit of a line.  Valid only while it is passed on. */
struct al_blamed {
    const char *oid;  /**< whole; zeros for lines that are not committed */
    const char *date; /**< 2026-02-07, the author's; "" if it is not committed */
    const char *author, *subject;
    bool is_committed;
};

/** Gets a line; false ends the reading.
 *
 * @param begins  The line before is of another commit. */
typedef bool (*al_blame_fn)(void *payload, const struct al_blamed *commit, bool begins,
                            uint64_t line, const char *text, size_t len);

/** The lines to blame. */
struct al_blame_query {
    const char *path;     /**< as the agent wrote it */
    const char *rev;      /**< NULL: the working tree */
    uint64_t first, last; /**< lines, counted from 1; 0: from the beginning, to the end */
};

/** Run `git blame` for its own text.  A non-zero exit code is an error. */
int al_git_blame(const struct al_repo *repo, const struct al_blame_query *query, size_t max_bytes,
                 struct al_git_output *ret_output, struct al_error *err);

/** Blame a file, line by line.  One git child. */
int al_git_read_blame(const struct al_repo *repo, const struct al_blame_query *query,
                      al_blame_fn take, void *payload, struct al_error *err);

/** AL_ERR_SANDBOX when blame.ignoreRevsFile of the repository leads outside the roots. */
int al_git_blame_check(const struct al_repo *repo, struct al_error *err);

/* --- Blame reader --- */

/*
 * Reader of the output of `git blame --line-porcelain`.
 *
 * Source: git-blame(1) "THE PORCELAIN FORMAT".
 */

/** The reader. */
struct al_blame_reader {
    al_blame_fn take;
    void *payload;

    /* Private. */
    struct al_str oid, author, subject, text; /* of the line that is read */
    char date[16];
    int64_t time;
    uint64_t line;
    bool begins;
};

#define AL_BLAME_READER_INIT(t, p)                                                                 \
    ((struct al_blame_reader){ .take = (t),                                                        \
                               .payload = (p),                                                     \
                               .oid = AL_STR_INIT,                                                 \
                               .author = AL_STR_INIT,                                              \
                               .subject = AL_STR_INIT,                                             \
                               .text = AL_STR_INIT })

void al_blame_reader_clear(struct al_blame_reader *reader);

/** Sink function: parse the next bytes, split anywhere.  `payload` is the reader.  False: the taker
 * has enough. */
bool al_blame_reader_add(void *payload, const char *data, size_t len);

#endif
