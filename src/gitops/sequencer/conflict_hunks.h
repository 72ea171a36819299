// SPDX-License-Identifier: Apache-2.0
/*
 * A file in conflict, hunk by hunk and in three sides, and how its hunks are resolved one by one.
 *
 * The hunks are those that the file on disk still has: a user may have resolved some of them.  What
 * identifies a hunk is its path and its two sides; equal hunks of a file are numbered in the order
 * in which git made them, so that an id names the same hunk while others are resolved.
 */
#ifndef AL_GITOPS_SEQUENCER_CONFLICT_HUNKS_H
#define AL_GITOPS_SEQUENCER_CONFLICT_HUNKS_H

#include "gitops/repo/repo.h"
#include "gitops/sequencer/conflict_blocks.h"
#include "util/str.h"

/** A file with more bytes is not read hunk by hunk. */
#define AL_CONFLICT_FILE_BYTES (16u << 20)

/** One hunk of the file on disk. */
struct al_conflict_hunk {
    char *id;                                /**< eight hex digits, and perhaps "-2" */
    const struct al_conflict_block *on_disk; /**< borrowed from the file */
    struct al_bytes sides[AL_STAGES];        /**< without carriage returns at the ends of lines */
    bool has_base; /**< the base is known, although it may have no lines */
};

/** A file in conflict as it is on disk. */
struct al_conflict_file {
    bool on_disk; /**< there is a regular file of at most AL_CONFLICT_FILE_BYTES */
    bool is_text; /**< it has no NUL, and neither has a side */
    struct al_str disk;
    struct al_conflict_blocks blocks; /**< of `disk` */
    struct al_conflict_hunk *hunks;   /**< one for each of `blocks` */
    /** Whether the content of a side ends with a newline, as an empty one does. */
    bool ends_with_newline[AL_STAGES];
    /* private: `disk` without carriage returns, and what git makes of the sides */
    struct al_str plain, merged, merged_with_base;
    struct al_conflict_blocks plain_blocks, merged_blocks, base_blocks;
};

#define AL_CONFLICT_FILE_INIT                                                                      \
    ((struct al_conflict_file){ .disk = AL_STR_INIT,                                               \
                                .plain = AL_STR_INIT,                                              \
                                .merged = AL_STR_INIT,                                             \
                                .merged_with_base = AL_STR_INIT })

void al_conflict_file_clear(struct al_conflict_file *file);

/**
 * Read a file in conflict.  Starts up to four git children; writes nothing in the repository.
 *
 * @param file  Set up with AL_CONFLICT_FILE_INIT.
 */
int al_git_conflict_file(const struct al_repo *repo, const struct al_conflict *conflict,
                         struct al_run_limits *budget, struct al_conflict_file *file,
                         struct al_error *err);

/** Test whether a file has this content on disk. */
bool al_conflict_file_is(const struct al_repo *repo, const char *path, const struct al_str *disk);

/** The hunk with an id; NULL: it is not there. */
const struct al_conflict_hunk *al_conflict_file_find(const struct al_conflict_file *file,
                                                     const char *id);

/** The resolution of one hunk. */
struct al_hunk_choice {
    const struct al_conflict_hunk *hunk; /**< NULL ends a list */
    const char *content; /**< whole lines; one that has no newline at its end gets it.  NULL: `side`
                          */
    enum al_stage side;
};

/** Append the file with the chosen hunks resolved and the others as they are. */
void al_conflict_file_settle(const struct al_conflict_file *file,
                             const struct al_hunk_choice *choices, size_t nchoices,
                             struct al_str *out);

/** conflict_sides.c: fill `merged`, `merged_with_base` and `ends_with_newline`; clear `is_text` if
 * a side is no text. */
int al_conflict_read_sides(const struct al_repo *repo, const struct al_conflict *conflict,
                           size_t marker_size, struct al_run_limits *budget,
                           struct al_conflict_file *file, struct al_error *err);

#endif
