// SPDX-License-Identifier: Apache-2.0
/*
 * The private index of a working tree: a copy of the repository's index, below airlock's state
 * directory, that git may refresh when it reads.  docs/INDEX.md says what is safe about it.
 *
 * The repository's own index is never written by a git that reads.  Where it does not vouch for the
 * files, each such git would therefore read all of them again.
 *
 * Only answers to the agent come from a private index.  What a user is asked, what an approval is
 * bound to and what a checkpoint keeps does not.
 *
 * Threads: safe.
 */
#ifndef AL_GITOPS_INDEX_PRIVATE_INDEX_H
#define AL_GITOPS_INDEX_PRIVATE_INDEX_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "gitops/run.h"

/** A repository's index of this size is large: then even a directory that is not read again is a
 * gain. */
#define AL_LARGE_INDEX_BYTES (256 * 1024)

/** So many files that git would read again are worth a copy of the index. */
#define AL_STALE_ENTRIES_MIN 48u

/**
 * al_git_run() for a git that compares the working tree with the index: on the private index if
 * there is one or one is worth making, else on the repository's own.
 *
 * @param command      Of class AL_GIT_READ; private_index is set during the call.
 * @param lists_files  The command has the option --untracked-files=all.
 */
int al_private_index_run(const struct al_repo *repo, struct al_git_command *command,
                         bool lists_files, const struct al_git_run *options,
                         struct al_run_limits *budget, struct al_git_output *ret_output,
                         struct al_error *err);

#endif
