// SPDX-License-Identifier: Apache-2.0
/*
 * The base of a sandbox: its files as they were last pulled or pushed, and the commits of the
 * branches they came from.  A status compares the sandbox with its base and with what is staged.
 *
 * On disk the base is a commit, refs/base/<key>: its tree, and the other commits as its message.
 */
#ifndef AL_STAGING_BASE_H
#define AL_STAGING_BASE_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/oid.h"
#include "staging/heads.h"
#include "util/error.h"
#include "util/str.h"

struct al_run_limits;
struct al_staged;
struct al_staging;

/** A file of the base. */
struct al_base_file {
    char *path;    /**< below the workspace: "a/b" */
    unsigned mode; /**< 0100644, 0100755 or 0120000; 0 only inside base.c: removed */
    size_t order;  /**< private: the later entry of two for a path is the valid one */
    struct al_oid oid;
};

/** Files sorted by the bytes of their paths.  Zero-initialised, it is empty. */
struct al_base {
    struct al_base_file *items;
    size_t count;
    size_t capacity;
    size_t sorted; /**< private: the first entries, which are in order */
    struct al_heads heads;
};

void al_base_clear(struct al_base *base);

/**
 * Read the base of a sandbox; a sandbox that has none gives an empty one.  No lock is needed to
 * look at it; to change it, hold the store's lock from here to al_base_save().
 */
int al_base_load(struct al_staging *staging, const char *key, struct al_run_limits *budget,
                 struct al_base *ret_base, struct al_error *err);

/** Write the base of a sandbox, durable.  The blobs of its files are in the store and durable
 * already.  With the store's lock held. */
int al_base_save(struct al_staging *staging, const char *key, struct al_base *base,
                 struct al_run_limits *budget, struct al_error *err);

/** Set a file, or remove it. */
void al_base_set(struct al_base *base, const char *path, unsigned mode, const struct al_oid *oid);
void al_base_remove(struct al_base *base, const char *path);

/** Set the files of a staged commit, and remove those that it deletes. */
void al_base_apply(struct al_base *base, const struct al_staged *staged);

/** Bring the files into order after al_base_set() and al_base_remove(), before `items` is read.
 * al_base_find() and al_base_save() do it by themselves. */
void al_base_sort(struct al_base *base);

/** The file of this path; NULL: none.  Borrowed until the base changes. */
const struct al_base_file *al_base_find(struct al_base *base, const char *path);

/** Append the files that cannot be beside one of this path: those that are directories on the way
 * to it, and those below it. */
void al_base_list_replaced(struct al_base *base, const char *path, struct al_strv *ret_paths);

#endif
