// SPDX-License-Identifier: Apache-2.0
/*
 * The hunks of a patch as `git diff` prints it, combined ones of a conflict included, found while
 * it still prints.
 *
 * Content cannot pass for a header: a hunk ends where its own line counts say.
 *
 * Source: git-diff(1) "GENERATING PATCH TEXT WITH -P", "COMBINED DIFF FORMAT".
 */
#ifndef AL_GITOPS_DIFF_HUNKS_H
#define AL_GITOPS_DIFF_HUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/str.h"

/** What a hunk begins with.  Lasts as long as the line it is given with. */
struct al_hunk {
    const char *file; /**< raw; the old name of a file that was deleted */
    int64_t old_start, old_lines, new_start, new_lines;
    const char *header; /**< what git found before it ("int main(void)"), not terminated */
    size_t header_len;
};

/** One line of a patch, bytes of any kind. */
struct al_patch_line {
    const char *text; /**< not terminated, without its newline */
    size_t len;
    bool ended;                 /**< it had a newline; only the last line may have none */
    const struct al_hunk *head; /**< the hunk this line begins; NULL: none */
    bool in_hunk;               /**< it is a line of the hunk begun last, with its first column */
};

/** Takes a patch apart.  Set up with AL_HUNKS_INIT(). */
struct al_hunks {
    void (*take)(void *payload, const struct al_patch_line *line);
    void *payload;
    size_t files;   /**< in all of the patch, once it ended */
    bool truncated; /**< only the beginning of the patch came; set by who knows */

    /* Private. */
    struct al_hunk hunk;
    char *old_name, *new_name;
    int parents; /* of the hunk the next line may belong to, 0: none */
    int64_t old_left, new_left;
    struct al_str partial_line; /* a line without an end so far */
};

#define AL_HUNKS_INIT(fn, data)                                                                    \
    ((struct al_hunks){ .take = (fn), .payload = (data), .partial_line = AL_STR_INIT })

void al_hunks_clear(struct al_hunks *hunks);

/** The prefixes of names in a patch read here, as options of git. */
#define AL_HUNKS_OLD_PREFIX "a/"
#define AL_HUNKS_NEW_PREFIX "b/"

/** Feed bytes, split anywhere; lines that are complete are taken. */
void al_hunks_add(struct al_hunks *hunks, const char *data, size_t len);

/** The patch ends here, or was cut: of a line without a newline, what is left of a character that
 * the cut went through does not count. */
void al_hunks_end(struct al_hunks *hunks);

#endif
