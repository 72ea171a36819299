// SPDX-License-Identifier: Apache-2.0
/* The exact bytes of objects, as many as fit. */
#ifndef AL_GITOPS_DIFF_CAT_FILE_H
#define AL_GITOPS_DIFF_CAT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** One object to read.  Set `oid` and `group`; the rest is filled. */
struct al_blob {
    const char *oid; /**< borrowed, full */
    size_t group;    /**< objects of one group are next to each other, and kept together or not */
    bool exists;     /**< it is a blob of the repository */
    bool kept;       /**< its bytes are in `data` */
    uint64_t size;
    struct al_str data;
};

/**
 * Learn the sizes of all, and read the bytes of those that fit `max_bytes` together, in order and
 * group by group.  Two git children at most.
 */
int al_git_cat_file(const struct al_repo *repo, struct al_blob *blobs, size_t count,
                    size_t max_bytes, struct al_run_limits *budget, struct al_error *err);

void al_cat_file_clear(struct al_blob *blobs, size_t count);

/* The reader of `git cat-file --batch` and `--batch-check`, for al_git_cat_file() and the fuzzer.
 */

/** Answers come in the order of the objects with `wanted`; bytes follow when `with_data`. */
struct al_blob_reader {
    struct al_blob *blobs;
    size_t count, at;
    bool with_data;     /**< read the objects that are `kept`, else learn the sizes of all */
    struct al_str line; /* the header being read */
    uint64_t left;      /* of the object being read, its newline included */
    bool broken;        /**< not what git prints */
};

#define AL_BLOB_READER_INIT(items, n, data)                                                        \
    ((struct al_blob_reader){                                                                      \
        .blobs = (items), .count = (n), .with_data = (data), .line = AL_STR_INIT })

void al_blob_reader_clear(struct al_blob_reader *reader);

/** Feed bytes, split anywhere.  The form of a sink. */
bool al_blob_reader_add(void *payload, const char *data, size_t len);

#endif
