// SPDX-License-Identifier: Apache-2.0
/*
 * Settling one conflicted file.
 *
 * The file is written by airlock, below the descriptor of the top, through no link, beside its
 * place and renamed there; then the index is told.  No filter and no merge driver runs.
 */
#ifndef AL_GITOPS_SEQUENCER_RESOLVE_H
#define AL_GITOPS_SEQUENCER_RESOLVE_H

#include "gitops/repo/repo.h"
#include "gitops/sequencer/conflict.h"
#include "util/str.h"

/** A side larger than this is not written. */
#define AL_RESOLVE_MAX_BYTES (64u << 20)

/** What a conflict is settled with. */
enum al_resolution { AL_RESOLVE_OURS, AL_RESOLVE_THEIRS, AL_RESOLVE_CONTENT };

/** What a file is to become. */
struct al_resolve_options {
    const char *path; /**< the agent's word, relative to the top */
    enum al_resolution how;
    const char *content; /**< with AL_RESOLVE_CONTENT: the whole file */
};

/**
 * What must be so before anyone is asked.
 *
 * @return 0; AL_ERR_SANDBOX for a path in .git (AL_CODE_PROTECTED_PATH) or outside the roots;
 *         AL_ERR_EXECUTION with AL_CODE_OPERATION_FAILED for one that is not in conflict, lies
 *         behind a link, would go through a filter, or is no plain file to be given content;
 *         AL_ERR_BAD_ARGS with AL_CODE_CONFLICT for content that still has conflict markers.
 */
int al_git_resolve_check(const struct al_repo *repo, const struct al_resolve_options *options,
                         struct al_run_limits *budget, struct al_error *err);

/** The file that is written over: its absolute path, appended to `out`. */
void al_git_resolve_affected_files(const struct al_repo *repo,
                                   const struct al_resolve_options *options, struct al_strv *out);

/** What will be there, as an excerpt appended to `out`. */
int al_git_resolve_preview(const struct al_repo *repo, const struct al_resolve_options *options,
                           struct al_run_limits *budget, struct al_str *out, struct al_error *err);

/** Write the file, or remove it where the chosen side has none, and mark it resolved. */
int al_git_resolve(struct al_repo *repo, const struct al_resolve_options *options,
                   struct al_run_limits *budget, struct al_error *err);

#endif
