// SPDX-License-Identifier: Apache-2.0
/*
 * Read blobs with `git cat-file`, up to a total size.
 *
 * Source: git-cat-file(1) "BATCH OUTPUT".
 */
#ifndef AL_GITOPS_DIFF_CAT_FILE_H
#define AL_GITOPS_DIFF_CAT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** One blob to read. The caller sets `oid` and `group`; al_git_cat_file() sets the rest. */
struct al_blob {
    const char *oid; /**< full object id; borrowed */
    size_t group;    /**< blobs of one group are adjacent, and are read together or not at all */
    bool exists;     /**< the repository has a blob with this id */
    bool kept;       /**< its bytes are in `data` */
    uint64_t size;
    struct al_str data;
};

/**
 * Read the sizes of all blobs, then the content of the groups that fit into `max_bytes` together,
 * in order.  Starts at most two git children.  After success the caller releases the content with
 * al_cat_file_clear(); after failure no content is kept.
 */
int al_git_cat_file(const struct al_repo *repo, struct al_blob *blobs, size_t count,
                    size_t max_bytes, struct al_run_limits *budget, struct al_error *err);

void al_cat_file_clear(struct al_blob *blobs, size_t count);

/* Parser of `git cat-file --batch` and `--batch-check` output, declared here for the fuzzer. */

/** Parser state. git answers in the order of `blobs`; with `with_data` only the blobs that are
 * `kept` were requested. */
struct al_blob_reader {
    struct al_blob *blobs;
    size_t count, at;
    bool with_data;     /**< read the content of the blobs that are `kept`; else the sizes of all */
    struct al_str line; /* the header being read */
    uint64_t left;      /* bytes left of the current object, with the newline after it */
    bool broken;        /**< the input is not what git prints */
};

#define AL_BLOB_READER_INIT(items, n, data)                                                        \
    ((struct al_blob_reader){                                                                      \
        .blobs = (items), .count = (n), .with_data = (data), .line = AL_STR_INIT })

void al_blob_reader_clear(struct al_blob_reader *reader);

/** Sink function: parse the next bytes, split anywhere. `payload` is the reader. */
bool al_blob_reader_add(void *payload, const char *data, size_t len);

#endif
