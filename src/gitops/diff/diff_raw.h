// SPDX-License-Identifier: Apache-2.0
/*
 * What changed, file by file: `git diff --raw --numstat -z` read as it comes.
 *
 * Source: git-diff(1) "RAW OUTPUT FORMAT", "--numstat".
 */
#ifndef AL_GITOPS_DIFF_DIFF_RAW_H
#define AL_GITOPS_DIFF_DIFF_RAW_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** More changed files than this are counted and not kept. */
#define AL_DIFF_RAW_MAX 5000

/** One changed file. */
struct al_change {
    char status;       /**< 'A' added, 'M' modified, 'D' deleted, 'R' renamed, 'T' type changed */
    bool same_content; /**< renamed or given another mode, and nothing else */
    bool binary;
    unsigned old_mode, new_mode;
    char *path, *old_path;   /**< raw; old_path NULL unless renamed */
    char *old_oid, *new_oid; /**< in full; zeros for nothing, and for what is not an object yet */
    uint64_t added, deleted; /**< lines */
    size_t patch_end;        /**< where its part of a patch that is shown ends, see shown.h */
};

struct al_diff_raw {
    struct al_change *items;
    size_t count;
    size_t total; /**< with those that were not kept */

    /* of the reader */
    struct al_str field;
    struct al_change reading;
    int state;
    size_t counted; /* changes that have their numbers of lines */
    bool broken;
};

#define AL_DIFF_RAW_INIT ((struct al_diff_raw){ .field = AL_STR_INIT })

void al_diff_raw_clear(struct al_diff_raw *changes);

/** Feed bytes, split anywhere.  The form of a sink. */
bool al_diff_raw_add(void *payload, const char *data, size_t len);

/** Whether only whole raw records were fed: what follows with -p is the patch behind a NUL. */
bool al_diff_raw_at_end(const struct al_diff_raw *changes);

/** What is staged, against HEAD or, on an unborn branch, against nothing. */
int al_git_staged_changes(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_diff_raw *ret_changes, struct al_error *err);

#endif
