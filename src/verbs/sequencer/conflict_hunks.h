// SPDX-License-Identifier: Apache-2.0
/*
 * A file in conflict, hunk by hunk and in three sides, and how its hunks are resolved one by one.
 *
 * The conflict is what git makes of the three stages of the path.  It is made once more,
 * with markers of a length that no stage has, and the file on disk is compared with it: so a line
 * that looks like a marker is one only if git wrote it, and text of the file itself otherwise.  The
 * hunks are those that the file on disk still has: a user may have resolved some of them.
 *
 * The id of a hunk is made of its path and its two sides; equal hunks of a file are numbered in the
 * order in which git made them, so that an id names the same hunk while others are resolved.
 *
 * git merges a path that was renamed before it knows all sides, and writes conflicts into the
 * stages themselves, with markers that are one longer.  Those are hunks as well, and to take a side
 * takes that side of them.
 */
#ifndef AL_VERBS_SEQUENCER_CONFLICT_HUNKS_H
#define AL_VERBS_SEQUENCER_CONFLICT_HUNKS_H

#include "base/str.h"
#include "git/repo/repo.h"
#include "verbs/sequencer/conflict.h"

#define AL_CONFLICT_DISK_BYTES (64u << 20)

/** The length of a marker, unless an attribute sets another one. */
#define AL_CONFLICT_MARKER_SIZE 7

/** Bytes of a text, borrowed from it. */
struct al_bytes {
    const char *data;
    size_t len;
};

/** One conflict in a text.  Every side is whole lines. */
struct al_conflict_block {
    size_t start, end; /**< the bytes it takes up, with its markers and the newline of the last */
    size_t line;       /**< the line of its first marker, from 1 */
    bool has_base;     /**< it shows the base too, as merge.conflictStyle diff3 does */
    struct al_bytes sides[AL_STAGES];
};

/** The conflicts of a text, in order. */
struct al_conflict_blocks {
    struct al_conflict_block *items;
    size_t count;
};

/** One hunk of the file on disk. */
struct al_conflict_hunk {
    char *id;                         /**< eight hex digits, and perhaps "-2" */
    struct al_bytes sides[AL_STAGES]; /**< without carriage returns at the ends of lines */
    bool has_base;                    /**< the base is known, although it may have no lines */
};

/** The content of a stage. */
struct al_blob {
    const char *oid; /**< borrowed; NULL: no file there, or a submodule */
    bool exists;     /**< the repository has it */
    bool kept;       /**< its bytes are in `data`; there may be too many */
    uint64_t size;
    struct al_str data;
};

/** A text that git made, without carriage returns at the ends of its lines. */
struct al_conflict_made {
    struct al_str text;
    struct al_conflict_blocks blocks;
    size_t marker_size; /**< of its conflicts; 0: it was not made yet */
};

/** A file in conflict: what git knows of it, and what is on disk. */
struct al_conflict_file {
    const struct al_conflict *conflict; /**< borrowed */
    struct al_blob stages[AL_STAGES];
    bool is_unmerged; /**< git does not merge it as text, by its attributes: on disk it left ours */
    bool on_disk;     /**< there is a regular file of at most AL_CONFLICT_DISK_BYTES */
    bool is_large;    /**< it or a stage has too many bytes or hunks: none is listed */
    bool is_text;     /**< it has no NUL, and neither has a stage */
    bool has_markers; /**< a marker that git wrote is there, of a whole hunk or not */
    size_t nested_size; /**< length of the markers inside of the stages; 0: they have none */
    struct al_str disk;
    struct al_conflict_blocks blocks; /**< of `disk` */
    struct al_conflict_hunk *hunks;   /**< one for each of `blocks`, by al_git_conflict_hunks() */
    /* private */
    size_t marker_size;                        /* on disk */
    struct al_conflict_made plain, made, wide; /* `disk`; git's in the same style; with bases */
    size_t *lines;                             /* by al_conflict_align(); NULL: not looked for */
};

#define AL_CONFLICT_FILE_INIT                                                                      \
    ((struct al_conflict_file){ .stages[AL_STAGE_BASE].data = AL_STR_INIT,                         \
                                .stages[AL_STAGE_OURS].data = AL_STR_INIT,                         \
                                .stages[AL_STAGE_THEIRS].data = AL_STR_INIT,                       \
                                .disk = AL_STR_INIT,                                               \
                                .plain.text = AL_STR_INIT,                                         \
                                .made.text = AL_STR_INIT,                                          \
                                .wide.text = AL_STR_INIT })

void al_conflict_file_clear(struct al_conflict_file *file);

/**
 * Read some files in conflict, and find the hunks that are left.
 *
 * @param[out] files  One for each conflict; to be cleared after a failure, too.
 */
int al_git_conflict_files(const struct al_repo *repo, const struct al_conflict *conflicts,
                          size_t count, struct al_conflict_file *files, struct al_error *err);

/** Test whether a text that the file could become, or a part of it, has markers of git's; NULL is
 * no text. */
int al_git_has_markers(const struct al_repo *repo, const struct al_conflict_file *file,
                       const char *text, bool *ret_has, struct al_error *err);

/** Fill `hunks` with ids and sides. */
int al_git_conflict_hunks(const struct al_repo *repo, struct al_conflict_file *file,
                          struct al_error *err);

/** The resolution of one hunk. */
struct al_hunk_resolution {
    bool given;          /**< false: it stays as it is */
    const char *content; /**< whole lines; one that has no newline at its end gets it.  NULL: `side`
                          */
    enum al_stage side;
    bool both; /**< ours, and then theirs */
};

/** Append the file with the chosen hunks resolved: there is a choice for each of them. */
void al_conflict_file_settle(const struct al_conflict_file *file,
                             const struct al_hunk_resolution *choices, struct al_str *out);

/** Append a text with every conflict in it resolved to one side; with length 0 as it is. */
void al_conflict_take_side(struct al_bytes text, size_t marker_size, enum al_stage side,
                           struct al_str *out);

/** A line of the file's own, whatever it looks like. */
#define AL_CONFLICT_OWN (SIZE_MAX - 1)

/** Find the conflicts of a text, which has to outlive them.  One without an end is none.
 *
 * @param lines  What each line is; only AL_CONFLICT_OWN counts.  NULL: none is that.
 */
void al_conflict_blocks_find(struct al_bytes text, size_t marker_size, const size_t *lines,
                             struct al_conflict_blocks *ret_blocks);

void al_conflict_blocks_clear(struct al_conflict_blocks *blocks);

/**
 * Merge three texts that need be in no repository, none of them binary: ours, base, theirs.
 *
 * @param options  Of git merge-file.
 * @param sink     Gets the result, with markers where the sides conflict.
 * @return How many conflicts it has, or an error.
 */
int al_conflict_merge_texts(const struct al_location *at, const struct al_str *const texts[3],
                            const struct al_strv *options, struct al_sink sink,
                            struct al_error *err);

#endif
