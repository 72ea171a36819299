// SPDX-License-Identifier: Apache-2.0
/*
 * Reader of the output of `git blame --porcelain`.
 *
 * Source: git-blame(1) "THE PORCELAIN FORMAT".
 */
#ifndef AL_GITOPS_READING_BLAME_READER_H
#define AL_GITOPS_READING_BLAME_READER_H

#include "gitops/reading/read_blame.h"
#include "util/str.h"

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
