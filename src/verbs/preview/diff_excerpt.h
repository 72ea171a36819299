// SPDX-License-Identifier: Apache-2.0
/* A diff as an excerpt for an approval. */
#ifndef AL_VERBS_PREVIEW_DIFF_EXCERPT_H
#define AL_VERBS_PREVIEW_DIFF_EXCERPT_H

#include <stdbool.h>

#include "base/str.h"
#include "git/command.h"
#include "git/diff/diff.h"
#include "git/plumbing/diff_raw.h"
#include "git/repo/repo.h"

/** Append the diff to `out` as an excerpt for an approval. The objects it shows are verified
 * against their ids and added to the budget's stable_read. */
int al_git_diff_excerpt(const struct al_repo *repo, const struct al_diff_options *options,
                        struct al_str *out, struct al_error *err);

/* --- Excerpt reader --- */

/*
 * Read a diff and write the excerpt of it that a user decides by: every file with its line counts,
 * then the patch.
 *
 * Nothing that a repository says about a file (attributes, drivers, thresholds) decides whether its
 * change is shown: content that is text is shown as text.
 *
 * Source: git-diff(1) "RAW OUTPUT FORMAT", "--text".
 */

/** Reader of `git diff --raw -z --patch --text`. Set up with AL_EXCERPT_READER_INIT. */
struct al_excerpt_reader {
    struct al_diff_raw changes;
    struct al_str patch; /**< the part of the patch that is stored */
    uint64_t lines;      /**< lines of the patch, including those not stored */
    uint64_t bytes;      /**< bytes read */
    bool more;           /**< reading stopped before the end of the patch */
    bool in_full;        /**< store and write the whole patch; set before the first byte is fed */

    /* Parser state. */
    bool is_full;
    struct al_hunks patch_lines;
    char first; /* of the last line of content */
    struct al_excerpt_side {
        bool nul;           /* the hunks have a NUL byte */
        bool script;        /* a new file that begins with "#!" */
    } old_side, new_side;   /* of the section */
    uint64_t section_lines; /* lines in the hunks of the current section */
    size_t hunks_at;        /* where the section's first hunk begins in `patch` */
    size_t change;          /* index of the change that the current section shows */
    size_t sections;        /* sections of that change so far */
    bool has_section;
};

#define AL_EXCERPT_READER_INIT                                                                     \
    ((struct al_excerpt_reader){ .changes = AL_DIFF_RAW_INIT,                                      \
                                 .patch = AL_STR_INIT,                                             \
                                 .patch_lines = { .partial_line = AL_STR_INIT } })

void al_excerpt_reader_clear(struct al_excerpt_reader *reader);

/** Sink function: parse the next bytes, split anywhere. `payload` is the reader. */
bool al_excerpt_reader_add(void *payload, const char *data, size_t len);

/** End of input. */
void al_excerpt_reader_end(struct al_excerpt_reader *reader);

/** Append the patch alone: as much as fits and how much is left out, or all of it with in_full.
 * Returns whether anything is left out. */
bool al_excerpt_write_patch(const struct al_excerpt_reader *reader, struct al_str *out);

/** Test whether the lines of a modified file end otherwise than before: with CR LF instead of LF,
 * or the other way round.  The patch shows such lines alike. */
bool al_excerpt_changes_line_ends(const struct al_change *change);

/** A remark on a file that changes the meaning of other files, or that runs on another machine:
 * "runs in CI".  NULL: none. */
const char *al_excerpt_remark(const char *path);

/* --- Commits --- */

/*
 * The list of commits in a question: the commits that a merge brings, that a push sends, or that
 * are lost with a branch.
 *
 * The repository's own files cannot hide a commit from the list: each commit's content is checked
 * against its id, and its parents are not taken from a commit-graph.  The list says so if a shallow
 * boundary cuts the history.
 *
 * Source: git-rev-list(1), gitformat-commit-graph(5), git-fetch(1) "--depth".
 */

/** The commits to list. */
struct al_commits_shown {
    const char *const *words; /**< for `git log`, ending with NULL */
    const char *format;       /**< of `git log` */
    const char *title;        /**< a line above them */
    bool with_diffs; /**< in full, the diff of each one follows.  `format` begins with "%h " */
};

/** Append what git lists, in lines: for a result, which needs no proof. */
int al_git_commits_list(const struct al_repo *repo, const struct al_commits_shown *shown,
                        struct al_str *out, struct al_error *err);

/**
 * Append a list of commits as an excerpt; nothing when there are none.
 *
 * @param[out] ret_any  True if the list has a commit.
 * @return 0; AL_ERR_EXECUTION naming a commit whose content does not match its id, or when git
 * fails.
 */
int al_git_commits_excerpt(const struct al_repo *repo, const struct al_commits_shown *shown,
                           struct al_str *out, bool *ret_any, struct al_error *err);

#endif
