// SPDX-License-Identifier: Apache-2.0
/*
 * For the files of gitops/follow/ only: the paths that differ between two commits, as they are in a
 * working tree.
 *
 * An index entry can be marked: assume-unchanged, or skip-worktree.  git does not look at the files
 * of such entries, and forgets the marks when an entry is set.
 *
 * Source: git-update-index(1) "USING “ASSUME UNCHANGED” BIT", "SKIP-WORKTREE BIT".
 */
#ifndef AL_GITOPS_FOLLOW_PATHS_H
#define AL_GITOPS_FOLLOW_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/follow/follow.h"
#include "gitops/oid.h"
#include "util/error.h"
#include "util/str.h"

struct al_git_command;
struct al_run_limits;

/** A path that differs between the commits. */
struct al_follow_path {
    char *name;
    char mode[7], oid[AL_OID_TEXT]; /**< in the new commit; mode "000000": deleted */
    bool is_new;                    /**< the old commit has no file there */
    bool entry_changed;             /**< the entry stays as it is, and so does the file */
    bool file_changed;              /**< the file stays as it is */
    bool is_missing;                /**< skip-worktree, and there is no file: none is written */
    bool assumes_unchanged, skips_worktree; /**< the marks of the entry */
};

/** The paths, sorted by name.  Zero-initialised, there are none. */
struct al_follow_paths {
    struct al_follow_path *items;
    size_t count, room;
};

void al_follow_paths_clear(struct al_follow_paths *paths);

/** Test whether the new commit does not have the path. */
bool al_follow_path_is_deleted(const struct al_follow_path *path);

/** Look which paths a commit changes, and which of them the user has changed.  To look again, clear
 * `paths` first. */
int al_follow_look(const struct al_follow *with, const char *commit, struct al_follow_paths *paths,
                   struct al_run_limits *budget, struct al_error *err);

/** Find the marks, and the changes of files that git does not look at because of them. */
int al_follow_look_at_marks(const struct al_follow *with, struct al_follow_paths *paths,
                            struct al_run_limits *budget, struct al_error *err);

/** Mark the entries again that were marked before. */
int al_follow_restore_marks(const struct al_follow *with, const struct al_follow_paths *paths,
                            struct al_run_limits *budget, struct al_error *err);

/** The path of this name; NULL: it does not differ. */
struct al_follow_path *al_follow_paths_find(const struct al_follow_paths *paths, const char *name);

/** Read what a git in the working tree prints: records of `nfields` fields, ended by NUL each. */
int al_follow_read(const struct al_follow *with, const char *const *words,
                   struct al_follow_paths *paths, bool (*take)(void *, char *const *),
                   size_t nfields, struct al_run_limits *budget, struct al_error *err);

/** Run a git that writes there.  `out` gets the beginning of its output as safe text; NULL:
 * dropped. */
int al_follow_run(const struct al_follow *with, struct al_git_command *command,
                  struct al_run_limits *budget, struct al_str *out, struct al_error *err);

#endif
