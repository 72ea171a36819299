// SPDX-License-Identifier: Apache-2.0
/*
 * The names a checkpoint looks at.
 */
#ifndef AL_CHECKPOINT_COLLECT_H
#define AL_CHECKPOINT_COLLECT_H

#include <stdbool.h>
#include <stddef.h>

#include "checkpoint/checkpoint.h"
#include "checkpoint/file_list.h"
#include "gitops/deadline.h"
#include "gitops/oid.h"
#include "gitops/repo/repo.h"
#include "util/str.h"

/** A nested repository with more levels of directories than this is refused. */
#define AL_FILE_LIST_DEPTH_MAX 256

/** What the index and the disk said, before it is put in order. */
struct al_collected_files {
    struct al_file_list names; /**< the result */
    struct al_oid *unmerged;   /**< objects of entries in a conflict: no file can stand for them */
    size_t nunmerged;
    struct al_oid entries; /**< digest of the index's entries */
};

#define AL_COLLECTED_FILES_INIT ((struct al_collected_files){ .names = AL_FILE_LIST_INIT })

void al_collected_files_clear(struct al_collected_files *collected);

/**
 * Ask git for the names and walk into nested repositories.
 *
 * @param include_ignored  Globs of ignored files to take as well; may be NULL.
 * @param digests          Make the digest of the entries; it takes some milliseconds.
 * @return 0; AL_ERR_EXECUTION beyond AL_CHECKPOINT_FILES_MAX names or when git failed;
 *         AL_ERR_TIMEOUT, AL_ERR_CANCELLED.
 */
int al_collect_files(const struct al_repo *repo, int top_fd, const struct al_strv *include_ignored,
                     bool digests, struct al_deadline *deadline,
                     struct al_collected_files *ret_collected, struct al_error *err);

#endif
