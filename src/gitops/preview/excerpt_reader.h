// SPDX-License-Identifier: Apache-2.0
/*
 * A change as a person is shown it who decides by it: every file with its numbers, then the patch.
 *
 * Nothing that a repository says about a file (attributes, drivers, thresholds) decides whether its
 * change is shown: content that is text is shown as text.
 *
 * Source: git-diff(1) "RAW OUTPUT FORMAT", "--text".
 */
#ifndef AL_GITOPS_PREVIEW_EXCERPT_READER_H
#define AL_GITOPS_PREVIEW_EXCERPT_READER_H

#include "gitops/diff/diff_raw.h"

/** Reads `git diff --raw -z --patch --text` as it comes. */
struct al_excerpt_reader {
    struct al_diff_raw changes;
    struct al_str patch; /**< as much of it as is kept */
    uint64_t lines;      /**< of the patch, with those that are not kept */
    uint64_t bytes;      /**< that were read */
    bool more;           /**< reading ended before the patch did */
    bool in_full;        /**< all that is read is kept and written; set before anything is fed */

    /* of the reader */
    bool in_patch, in_line, in_hunk, is_full;
    struct al_str start;    /* of the line, until it is known by it */
    char first;             /* character of the line being read */
    bool nul_old, nul_new;  /* there is a NUL in what the section takes away, and in what it adds */
    uint64_t section_lines; /* lines in its hunks */
    size_t hunks_at;        /* where its first hunk begins in `patch` */
    size_t change;          /* whose section it is … */
    size_t sections;        /* … and which of them */
    bool has_section;
};

#define AL_EXCERPT_READER_INIT                                                                     \
    ((struct al_excerpt_reader){                                                                   \
        .changes = AL_DIFF_RAW_INIT, .patch = AL_STR_INIT, .start = AL_STR_INIT })

void al_excerpt_reader_clear(struct al_excerpt_reader *reader);

/** Feed bytes, split anywhere.  The form of a sink. */
bool al_excerpt_reader_add(void *payload, const char *data, size_t len);

/** End of input. */
void al_excerpt_reader_end(struct al_excerpt_reader *reader);

/**
 * The excerpt, appended to `out`: how many files and lines, and how many of the files are not shown
 * in full; up to 200 files, those first that lose most; as much of the patch as fits; and what is
 * left of it.  Nothing where nothing changed.
 */
void al_excerpt_write(struct al_excerpt_reader *reader, struct al_str *out);

#endif
