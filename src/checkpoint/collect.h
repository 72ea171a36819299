// SPDX-License-Identifier: Apache-2.0
/* Which files a checkpoint reads: index entries, untracked files, files of nested repositories, and
 * the ignored files that the configuration names. */
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

/** The files of a repository, and two facts about its index. */
struct al_collected_files {
    struct al_file_list names; /**< every file, in order */
    /** Objects of unmerged index entries.  No file of the working tree can have their content. */
    struct al_oid *unmerged;
    size_t nunmerged;
    struct al_oid entries; /**< digest of the index entries */
};

#define AL_COLLECTED_FILES_INIT ((struct al_collected_files){ .names = AL_FILE_LIST_INIT })

void al_collected_files_clear(struct al_collected_files *collected);

/**
 * Let git list the files, and walk into nested repositories.
 *
 * @param include_ignored  Globs of ignored files to include; may be NULL.
 * @param digests          Compute the digest of the index entries.  It takes some milliseconds.
 * @return 0; AL_ERR_EXECUTION beyond AL_CHECKPOINT_FILES_MAX files or when git failed;
 *         AL_ERR_TIMEOUT, AL_ERR_CANCELLED.
 */
int al_collect_files(const struct al_repo *repo, int top_fd, const struct al_strv *include_ignored,
                     bool digests, struct al_deadline *deadline,
                     struct al_collected_files *ret_collected, struct al_error *err);

/** Test whether one of the globs matches an ignored file. */
bool al_collect_includes(const struct al_strv *include_ignored, const char *path);

#endif
