// SPDX-License-Identifier: Apache-2.0
/*
 * For worktree*.c: the paths that a push changes, as they are in the working tree of its target.
 *
 * An index entry can be marked: assume-unchanged, or skip-worktree.  git does not look at the files
 * of such entries, and forgets the marks when an entry is set.
 *
 * Source: git-update-index(1) "USING “ASSUME UNCHANGED” BIT", "SKIP-WORKTREE BIT".
 */
#ifndef AL_STAGING_PUSH_WORKTREE_PATHS_H
#define AL_STAGING_PUSH_WORKTREE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/oid.h"
#include "util/error.h"
#include "util/str.h"

struct al_git_command;
struct al_push;
struct al_run_limits;

/** A path that the push changes. */
struct al_worktree_path {
    char *name;
    char mode[7], oid[AL_OID_TEXT]; /**< in the new commit; mode "000000": deleted */
    bool is_new;                    /**< the old commit has no file there */
    bool entry_changed;             /**< the entry stays as it is, and so does the file */
    bool file_changed;              /**< the file stays as it is */
    bool is_missing;                /**< skip-worktree, and there is no file: none is written */
    bool assumes_unchanged, skips_worktree; /**< the marks of the entry */
};

/** The paths, sorted by name.  Zero-initialised, there are none. */
struct al_worktree_paths {
    struct al_worktree_path *items;
    size_t count, room;
};

void al_worktree_paths_clear(struct al_worktree_paths *paths);

/** The commit that the working tree was on; the empty tree for a branch without commits. */
const char *al_push_old(const struct al_push *push);

/** Test whether the push deletes the path. */
bool al_worktree_path_is_deleted(const struct al_worktree_path *path);

/** Look which paths a commit changes, and which of them the user has changed.  To look again, clear
 * `paths` first. */
int al_worktree_paths_look(const struct al_push *push, const char *commit,
                           struct al_worktree_paths *paths, struct al_run_limits *budget,
                           struct al_error *err);

/** Find the marks, and the changes of files that git does not look at because of them. */
int al_worktree_marks_look(const struct al_push *push, struct al_worktree_paths *paths,
                           struct al_run_limits *budget, struct al_error *err);

/** Mark the entries again that were marked before. */
int al_worktree_marks_restore(const struct al_push *push, const struct al_worktree_paths *paths,
                              struct al_run_limits *budget, struct al_error *err);

/** The path of this name; NULL: the push does not change it. */
struct al_worktree_path *al_worktree_paths_find(const struct al_worktree_paths *paths,
                                                const char *name);

/** Read what a git in the target prints: records of `nfields` fields, ended by NUL each. */
int al_push_worktree_read(const struct al_push *push, const char *const *words,
                          struct al_worktree_paths *paths, bool (*take)(void *, char *const *),
                          size_t nfields, struct al_run_limits *budget, struct al_error *err);

/** Run a git that writes in the target.  `out` gets the beginning of its output as safe text; NULL:
 * dropped. */
int al_push_worktree_run(const struct al_push *push, struct al_git_command *command,
                         struct al_run_limits *budget, struct al_str *out, struct al_error *err);

#endif
