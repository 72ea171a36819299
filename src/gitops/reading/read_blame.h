// SPDX-License-Identifier: Apache-2.0
/*
 * Run `git blame`.
 *
 * Source: git-blame(1) "THE PORCELAIN FORMAT".
 */
#ifndef AL_GITOPS_READING_READ_BLAME_H
#define AL_GITOPS_READING_READ_BLAME_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

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

/** The lines that are wanted. */
struct al_blame_lines {
    uint64_t first; /**< 1: from the beginning */
    uint64_t last;  /**< UINT64_MAX: to the end */
};

/**
 * Blame a file.  One git child.
 *
 * @param path   As the agent wrote it.
 * @param rev    NULL: the working tree.
 */
int al_git_read_blame(const struct al_repo *repo, const char *path, const char *rev,
                      struct al_blame_lines lines, al_blame_fn take, void *payload,
                      struct al_run_limits *budget, struct al_error *err);

/* --- Blame reader --- */

/*
 * Reader of the output of `git blame --porcelain`.
 *
 * Source: git-blame(1) "THE PORCELAIN FORMAT".
 */

struct al_blame_known;

/** The reader. */
struct al_blame_reader {
    al_blame_fn take;
    void *payload;

    /* Private. */
    struct al_blame_known *commits;
    size_t count, at, before; /* `at`: of the line that is read; `before`: of the line before */
    uint64_t line;
    struct al_str text;
};

#define AL_BLAME_READER_INIT(t, p)                                                                 \
    ((struct al_blame_reader){                                                                     \
        .take = (t), .payload = (p), .before = SIZE_MAX, .text = AL_STR_INIT })

void al_blame_reader_clear(struct al_blame_reader *reader);

/** Sink function: parse the next bytes, split anywhere.  `payload` is the reader.  False: the taker
 * has enough. */
bool al_blame_reader_add(void *payload, const char *data, size_t len);

#endif
