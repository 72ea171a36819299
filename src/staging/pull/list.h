// SPDX-License-Identifier: Apache-2.0
/* For pull.c: the files of a commit that is pulled from. */
#ifndef AL_STAGING_PULL_LIST_H
#define AL_STAGING_PULL_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gitops/command.h"
#include "gitops/oid.h"
#include "util/error.h"
#include "util/str.h"

struct al_repo;

/** A file of a commit. */
struct al_pull_file {
    char *path;
    unsigned mode; /**< 0100644, 0100755, 0120000 or, for a submodule, 0160000 */
    struct al_oid oid;
    uint64_t size; /**< in bytes */
    bool has_size; /**< false: git may not have the object, and was not asked */
};

/** Files of a commit, sorted by path as bytes.  Zero-initialised, it is empty. */
struct al_pull_list {
    struct al_pull_file *items;
    size_t count, capacity;
    struct al_strv trees; /**< the ids of all trees below the top, as hex */
};

/** Tells which files are listed.  The others take no memory. */
struct al_pull_filter {
    bool (*keeps)(void *payload, const char *path);
    void *payload;
};

void al_pull_list_clear(struct al_pull_list *list);

/**
 * List files of a commit.
 *
 * @param filter  The files that are wanted; NULL: all.
 * @return 0; AL_ERR_EXECUTION also for a tree that has two entries of one name, and for one that is
 *         too large (tree_bounds.h).
 */
int al_pull_list_read(const struct al_repo *repo, const char *commit,
                      const struct al_pull_filter *filter, struct al_run_limits *budget,
                      struct al_pull_list *ret_list, struct al_error *err);

/** The file of this path; NULL: none. */
const struct al_pull_file *al_pull_list_find(const struct al_pull_list *list, const char *path);

#endif
