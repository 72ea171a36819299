// SPDX-License-Identifier: Apache-2.0
/*
 * Git on a bare repository of airlock's own, outside every root.
 *
 * The child may write there and nowhere else.  It reads the roots only where objects are borrowed
 * from a repository in them, which is said in the environment of that one child and never written
 * down: whoever forges objects in a repository must not forge them here.
 */
#ifndef AL_GITOPS_PLUMBING_BARE_H
#define AL_GITOPS_PLUMBING_BARE_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/repo/repo.h"
#include "proc/proc.h"
#include "util/error.h"
#include "util/str.h"

/** The repository; borrowed. */
struct al_bare {
    const struct al_repo *repo; /**< whose objects may be borrowed, and whose git layer runs git */
    int dir_fd;                 /**< its directory, open */
};

/** Takes the bytes of objects in the order asked for, each in pieces; `last` with the final one.  A
 * negative status ends the reading. */
typedef int (*al_object_fn)(void *payload, size_t which, const char *data, size_t len, bool last,
                            struct al_error *err);

/** Read objects of the bare repository.  AL_ERR_EXECUTION when one is missing. */
int al_bare_read(const struct al_bare *bare, const char *const *oids, size_t noids,
                 al_object_fn take, void *payload, struct al_run_limits *budget,
                 struct al_error *err);

/** Append the lines of the objects among `oids` that exist here or in the borrowed repository.
 * With `blobs`, only blobs. */
int al_bare_existing(const struct al_bare *bare, const struct al_strv *oids, bool blobs,
                     struct al_str *ret_lines, struct al_run_limits *budget, struct al_error *err);

/**
 * Pack objects, borrowed ones included, into the bare repository.
 *
 * @param lines  With `reachable` revisions as rev-list takes them, else object ids; a line each.
 * @param[out] ret_hash  The name of the pack, pack-<hash>; "" when there was nothing to pack.
 */
int al_bare_pack(const struct al_bare *bare, const struct al_str *lines, bool reachable,
                 struct al_run_limits *budget, char **ret_hash, struct al_error *err);

/**
 * The files of a tree, all levels: "<mode> SP blob SP <oid> TAB <path>" NUL each.
 * @param names  Entries of the tree to look at.
 */
int al_bare_list_tree(const struct al_bare *bare, const char *treeish, const char *const *names,
                      size_t nnames, struct al_sink sink, struct al_run_limits *budget,
                      struct al_error *err);

/** What differs between two checkpoints' working trees, as safe text for people: how much, file by
 * file, or the lines themselves. */
int al_bare_diff(const struct al_bare *bare, const char *from, const char *to, bool lines,
                 size_t max_bytes, struct al_run_limits *budget, struct al_str *ret_text,
                 struct al_error *err);

/** The same of two trees or commits of this repository or the borrowed one. */
int al_bare_diff_trees(const struct al_bare *bare, const char *from, const char *to, bool lines,
                       size_t max_bytes, struct al_run_limits *budget, struct al_str *ret_text,
                       struct al_error *err);

/** Write the tree that an index file's entries are, and give its id, which the caller frees.
 * AL_ERR_EXECUTION when they are none, for instance in a conflict. */
int al_bare_write_tree(const struct al_bare *bare, const struct al_str *index,
                       struct al_run_limits *budget, char **ret_tree, struct al_error *err);

/** The references: "<oid> SP <name> SP <all but the first paragraph of the commit's message>" LF
 * each. */
int al_bare_refs(const struct al_bare *bare, struct al_sink sink, struct al_run_limits *budget,
                 struct al_error *err);

/** Delete references, packed or not. */
int al_bare_delete_refs(const struct al_bare *bare, const struct al_strv *names,
                        struct al_run_limits *budget, struct al_error *err);

/** Join small packs, and put the references in one file. */
int al_bare_tidy(const struct al_bare *bare, struct al_run_limits *budget, struct al_error *err);

/** Keep what a reference or a kept pack holds, and nothing else. */
int al_bare_prune(const struct al_bare *bare, struct al_run_limits *budget, struct al_error *err);

#endif
