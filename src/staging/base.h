// SPDX-License-Identifier: Apache-2.0
/*
 * The base of a sandbox: its files as they were last pulled or pushed, and the commits of the
 * branches they came from.  A status compares the sandbox with its base and with what is staged.
 *
 * On disk the base is a commit, refs/base/<key>: its tree, and what else is known as its message.
 */
#ifndef AL_STAGING_BASE_H
#define AL_STAGING_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "git/command.h"
#include "git/oid.h"
#include "staging/sandbox/sandbox.h"

struct al_run_limits;
struct al_staged;
struct al_staging;

/** The beginning of a pointer of git-lfs(1). */
#define AL_LFS_MARK "version https://git-lfs.github.com/spec/"

/** Zero-initialised, it is empty. */
struct al_base {
    struct al_sandbox_files files;
    json_t *heads;   /**< see al_heads_set(); NULL: none */
    json_t *markers; /**< of files with conflict markers, see markers.c; NULL: none */
};

void al_base_clear(struct al_base *base);

/**
 * Read the base of a sandbox; a sandbox that has none gives an empty one.  No lock is needed to
 * look at it; to change it, hold the store's lock from here to al_base_save().
 */
int al_base_load(struct al_staging *staging, const char *key, struct al_run_limits *budget,
                 struct al_base *ret_base, struct al_error *err);

/** Write the base of a sandbox, durable.  The blobs of its files are in the store and durable
 * already.  The caller holds the store's lock. */
int al_base_save(struct al_staging *staging, const char *key, struct al_base *base,
                 struct al_run_limits *budget, struct al_error *err);

/** Set files, or with mode 0 remove them.  The changes are sorted by path; of several for one path
 * the last one counts. */
void al_base_change(struct al_base *base, const struct al_sandbox_files *changes);

/** Set the files of a staged commit, and remove those that it deletes. */
void al_base_apply(struct al_base *base, const struct al_staged *staged);

/** Append the files that cannot be beside one of this path: those below it, and those that are
 * directories on the way to it. */
void al_files_list_replaced(const struct al_sandbox_files *files, const char *path,
                            struct al_strv *ret_paths);

/* --- The commits that files of a sandbox are based on --- */

/*
 * An array of `{target, branch, head}`, at most one for each branch of each target:
 * al_target_key(), the full name, and the commit that files were pulled at or pushed to.
 */

/** The commit that is known for a branch; NULL: none.  Borrowed until the heads change. */
const char *al_heads_find(const json_t *heads, const char *target, const char *branch);

/** Test whether two lists have another commit for the same branch. */
bool al_heads_differ(const json_t *heads, const json_t *others);

/** Record the commit of a branch.  `*heads` is made if it is NULL. */
void al_heads_set(json_t **heads, const char *target, const char *branch, const char *commit);

/* --- Origins --- */

/*
 * The files of a branch that a sandbox last saw: those that were pulled from it or pushed to it.
 *
 * The base (staging/base.h) says what a status compares a file of the sandbox with, wherever it
 * came from.  The origin is the common ancestor of a pull from its branch: what was pushed to
 * another branch meanwhile is a change of the sandbox.  A file that disappears from a branch is
 * removed from the sandbox only if the branch is where it came from.
 */

/**
 * The name under which an origin is kept, for al_base_load() and al_base_save(): "<key>-<digits>".
 * One that is not known is empty.
 *
 * @param key     Of the sandbox.
 * @param target  al_target_key().
 * @param branch  The full name.
 * @return Caller frees.
 */
char *al_origin_name(const char *key, const char *target, const char *branch);

/* --- The files of a commit --- */

/*
 * The limits of reading a commit's tree: a few objects that name each other can stand for any
 * number of files, and of directories in each other.
 */

/** The most files and directories together.  A sandbox has no more files either. */
#ifndef AL_TREE_ENTRIES_MAX /* tests compile with smaller limits */
#define AL_TREE_ENTRIES_MAX 1000000u
#endif

/** The most bytes of their paths. */
#ifndef AL_TREE_NAMES_MAX_BYTES
#define AL_TREE_NAMES_MAX_BYTES (256u << 20)
#endif

/** The most directories that a file or a directory lies in. */
#ifndef AL_TREE_DEPTH_MAX
#define AL_TREE_DEPTH_MAX 1000u
#endif

/** The files of a commit.  A submodule has the mode 0160000.  Zero-initialised, it is empty. */
struct al_tree {
    struct al_sandbox_files files; /**< sorted */
    struct al_str trees;           /**< the ids of all trees below the top, one a line */
};

void al_tree_clear(struct al_tree *tree);

/**
 * List the files of a commit, of a lender as well.
 *
 * @param what    "the commit to pull".
 * @param advice  What to do about a tree that is too large.
 * @return 0; AL_ERR_EXECUTION for one, and for one that has two entries of one name.
 */
int al_tree_read(const struct al_location *at, bool sha256, const char *commit, const char *what,
                 const char *advice, struct al_tree *ret_tree, struct al_error *err);

#endif
