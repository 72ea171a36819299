// SPDX-License-Identifier: Apache-2.0
/*
 * Resolve conflicted files.
 *
 * airlock writes each file itself: under a temporary name, below the descriptor of the top, through
 * no link, then renamed.  Then it updates the index, once for all.  No filter and no merge driver
 * runs.
 */
#ifndef AL_VERBS_SEQUENCER_RESOLVE_H
#define AL_VERBS_SEQUENCER_RESOLVE_H

#include "base/str.h"
#include "git/repo/repo.h"
#include "verbs/sequencer/conflict.h"

/** The ways to resolve a conflict. */
enum al_resolution {
    AL_RESOLVE_OURS,
    AL_RESOLVE_THEIRS,
    AL_RESOLVE_CONTENT,
    AL_RESOLVE_PARTLY, /**< the content has conflicts left, so the file stays in conflict */
    AL_RESOLVE_DISK,   /**< the file as it is on disk, or that it is not there */
};

/** Options of a resolution. */
struct al_resolve_options {
    const char *path; /**< path as the agent wrote it, relative to the top */
    enum al_resolution how;
    const char *content; /**< whole file content, for AL_RESOLVE_CONTENT and AL_RESOLVE_PARTLY */
};

/**
 * Check resolutions, of different files, before approval is asked for.
 *
 * @return 0; AL_ERR_SANDBOX for a path in .git (AL_CODE_PROTECTED_PATH) or outside the roots;
 *         AL_ERR_EXECUTION with AL_CODE_OPERATION_FAILED for a path that is not in conflict, is
 *         behind a link, would go through a filter, or is given content but is a link or submodule;
 *         AL_ERR_BAD_ARGS with AL_CODE_CONFLICT for content that still has conflict markers.
 */
int al_git_resolve_check(const struct al_repo *repo, const struct al_resolve_options *options,
                         size_t count, struct al_error *err);

/**
 * Check that a file in conflict has no markers of git's left on disk.  A path that is no file, or
 * larger than AL_CONFLICT_DISK_BYTES, is not looked into.
 *
 * @return 0; AL_ERR_BAD_ARGS with AL_CODE_CONFLICT.
 */
int al_git_check_no_markers(const struct al_repo *repo, const struct al_conflict *conflict,
                            struct al_error *err);

/** Append the absolute path of the file that would be overwritten. */
void al_git_resolve_affected_files(const struct al_repo *repo,
                                   const struct al_resolve_options *options, struct al_strv *out);

/** Append the content that each file would get, as an excerpt for an approval. */
int al_git_resolve_preview(const struct al_repo *repo, const struct al_resolve_options *options,
                           size_t count, struct al_str *out, struct al_error *err);

/** Write each file, or remove it if the chosen side has none, and mark the conflict as resolved. */
int al_git_resolve(struct al_repo *repo, const struct al_resolve_options *options, size_t count,
                   struct al_error *err);

#endif
