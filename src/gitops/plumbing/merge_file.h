// SPDX-License-Identifier: Apache-2.0
/*
 * git merge-file in a bare repository of airlock's own: neither attributes nor configuration of a
 * user's repository are read, so no merge driver can run.
 *
 * Source: git-merge-file(1).
 */
#ifndef AL_GITOPS_PLUMBING_MERGE_FILE_H
#define AL_GITOPS_PLUMBING_MERGE_FILE_H

#include <stdbool.h>

#include "gitops/plumbing/bare.h"

/** The label of each side in a conflict: "<<<<<<< ours (sandbox)", ">>>>>>> theirs (incoming)". */
#define AL_MERGE_LABEL_OURS   "ours (sandbox)"
#define AL_MERGE_LABEL_THEIRS "theirs (incoming)"

/** The files of a merge, as names in the bare repository's directory.  None is binary. */
struct al_merge_files {
    const char *base, *ours, *theirs;
};

/**
 * Merge three files.
 *
 * @param[out] ret_content   Appended: the result, with markers where the sides conflict.
 * @param[out] ret_conflict  Whether they do.
 */
int al_bare_merge_files(const struct al_bare *bare, const struct al_merge_files *files,
                        struct al_run_limits *budget, struct al_str *ret_content,
                        bool *ret_conflict, struct al_error *err);

#endif
