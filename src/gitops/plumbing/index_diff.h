// SPDX-License-Identifier: Apache-2.0
/* Where an index differs from a commit and from the files, told by stat data and without git. */
#ifndef AL_GITOPS_PLUMBING_INDEX_DIFF_H
#define AL_GITOPS_PLUMBING_INDEX_DIFF_H

#include <sys/stat.h>

#include "gitops/plumbing/index_scan.h"
#include "gitops/repo/repo.h"
#include "util/str.h"

/** A larger index is read by several threads, and compared with a commit only by what it says
 * itself (extension "TREE"): one that may differ from the commit is left to git. */
#define AL_INDEX_DIFF_ENTRIES_MAX 4096u
/** More files that may have changes are left to git, which looks into them. */
#define AL_INDEX_DIFF_FILES_MAX 64u

/**
 * Test whether git would take a file for unchanged without reading it, by the stat data of its
 * entry, of the file and of the index.  Every field has to be equal, so that git finds no more
 * changes, however it is configured.
 */
bool al_index_entry_is_unchanged(const struct al_index_entry *entry, const struct stat *file,
                                 const struct stat *index);

/** A larger file is not read. */
#define AL_INDEX_CONTENT_MAX_BYTES (1u << 20)

/**
 * Test whether a file has the bytes of its entry.
 *
 * @param top_fd  The top of the working tree.
 * @param[out] ret_plain  No conversion of line ends, keywords or to a superset of ASCII changes
 * these bytes when git reads them.
 */
bool al_index_entry_has_content(int top_fd, const struct al_index_entry *entry,
                                const struct stat *file, bool sha256, bool *ret_plain);

/** Test whether a file has the type and the mode of its entry. */
bool al_index_entry_has_mode(const struct al_index_entry *entry, const struct stat *file);

/**
 * List the paths at which the index differs from a commit, and those of files that may differ from
 * the index: a superset of what `git diff-index <commit>` lists.
 *
 * @param commit  As hex; NULL: only the files are compared with the index.
 * @param names   Relative to the top, appended.
 * @param budget  A large index takes its time; when it is over, the result is false.  NULL: a
 * large index is left to git.
 * @return false: it cannot be told here, and nothing was appended.
 */
bool al_index_diff(const struct al_repo *repo, const char *commit, struct al_run_limits *budget,
                   struct al_strv *names);

/** Test whether a small index is that of HEAD's commit, and no file may differ from it.  False as
 * well when that cannot be told here. */
bool al_index_is_clean(const struct al_repo *repo);

/** The most paths of al_index_diff_below().  More entries than AL_INDEX_DIFF_ENTRIES_MAX below them
 * are left to git. */
#define AL_INDEX_DIFF_PATHS_MAX 64u

/**
 * List those files at or below some paths that may differ from the index.  No other entry counts
 * for the limits.
 *
 * @param paths  Relative to the top, without "." and final slashes.
 * @param names  As above.
 */
bool al_index_diff_below(const struct al_repo *repo, const struct al_strv *paths,
                         struct al_strv *names);

#endif
