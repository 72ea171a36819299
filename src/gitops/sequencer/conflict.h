// SPDX-License-Identifier: Apache-2.0
/*
 * Conflicts as the index holds them: of a merge, a rebase, a cherry-pick, a revert or a stash.
 *
 * Source: git-ls-files(1) "--unmerged", gitattributes(5) "conflict-marker-size".
 */
#ifndef AL_GITOPS_SEQUENCER_CONFLICT_H
#define AL_GITOPS_SEQUENCER_CONFLICT_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** More conflicts than this are not listed. */
#define AL_CONFLICTS_MAX 10000

/** Length of a conflict marker unless an attribute says otherwise. */
#define AL_MARKER_SIZE 7

/** Whose version of a file. */
enum al_stage { AL_STAGE_BASE, AL_STAGE_OURS, AL_STAGE_THEIRS, AL_STAGES };

/** One side of a conflict. */
struct al_side {
    char *oid;     /**< NULL: this side has no such file */
    unsigned mode; /**< as git has it: 0100644, 0100755, 0120000, 0160000 */
};

struct al_conflict {
    char *path; /**< raw, relative to the top */
    struct al_side sides[AL_STAGES];
};

/** The conflicts of a repository, in the order of the index. */
struct al_conflicts {
    struct al_conflict *items;
    size_t count;
    bool more; /**< there are more than AL_CONFLICTS_MAX */
};

#define AL_CONFLICTS_INIT ((struct al_conflicts){ .items = NULL })

void al_conflicts_clear(struct al_conflicts *conflicts);

/** List them; none is a success. */
int al_git_conflicts(const struct al_repo *repo, struct al_run_limits *budget,
                     struct al_conflicts *ret_conflicts, struct al_error *err);

/** The conflict of a path, NULL when it is not in conflict. */
const struct al_conflict *al_conflicts_find(const struct al_conflicts *conflicts, const char *path);

/** Append the paths. */
void al_conflicts_add_paths(const struct al_conflicts *conflicts, struct al_strv *out);

/** Refuse with AL_CODE_CONFLICT, naming files, while there are conflicts. */
int al_git_check_no_conflicts(const struct al_repo *repo, struct al_run_limits *budget,
                              struct al_error *err);

/** What a person or a model is shown of one conflict. */
struct al_conflict_view {
    const struct al_conflict *conflict; /**< borrowed */
    char *ours, *theirs; /**< the whole text, exact; NULL: that side has no such file, or the
                            content is not text, or did not fit */
    char *markers;       /**< the conflicted hunks of the file, "" when there are none */
};

struct al_conflict_views {
    struct al_conflict_view *items;
    size_t count;
    bool truncated; /**< something did not fit */
};

#define AL_CONFLICT_VIEWS_INIT ((struct al_conflict_views){ .items = NULL })

void al_conflict_views_clear(struct al_conflict_views *views);

/**
 * Views of all conflicts within `max_bytes` of text: first every path, then the hunks of each file,
 * then both sides of each file.  Nothing is cut in the middle: what does not fit is absent, and a
 * file's sides are there both or neither, so that a single absent one was deleted on that side.
 */
int al_git_conflict_views(const struct al_repo *repo, const struct al_conflicts *conflicts,
                          size_t max_bytes, struct al_run_limits *budget,
                          struct al_conflict_views *ret_views, struct al_error *err);

/** What conflict markers are long in each of these paths, as the attributes say.  `ret_sizes` has
 * room for all. */
int al_git_marker_sizes(const struct al_repo *repo, const struct al_strv *paths,
                        struct al_run_limits *budget, size_t *ret_sizes, struct al_error *err);

/* markers.c: text with conflict markers. */

/**
 * Append the conflicted hunks, from the line "<<<<<<<" to the line ">>>>>>>", with a newline
 * between them and none at the end.
 * @return false when not all of them fit `max_bytes`; those that fit are there.
 */
bool al_conflict_hunks(const char *text, size_t len, size_t marker_size, size_t max_bytes,
                       struct al_str *out);

/** Whether a line of the text begins or ends a conflict, or parts one off its base: content that
 * was not looked through to its end. */
bool al_conflict_has_markers(const char *text, size_t len, size_t marker_size);

#endif
