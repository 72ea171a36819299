// SPDX-License-Identifier: Apache-2.0
/*
 * The one reader of patches as `git diff` prints them, including the combined diff of a conflict:
 * lines, with the files and hunks that they belong to.  It reads while git still prints.
 *
 * File content cannot pass for a header: a hunk ends where the line counts in its header say.
 *
 * Source: git-diff(1) "GENERATING PATCH TEXT WITH -P", "COMBINED DIFF FORMAT".
 */
#ifndef AL_GIT_DIFF_HUNKS_H
#define AL_GIT_DIFF_HUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/** A file of a patch, as its header says.  Names are raw bytes, relative to the top. */
struct al_patch_file {
    char *path;
    char *old_path; /**< of a rename or a copy; NULL */
    bool is_new, is_deleted, is_copy, is_binary, is_unmerged;
    unsigned old_mode, mode; /**< 0: there is no such side, or the header does not say */
};

/** The header of a hunk. Valid only during the call it is passed to. */
struct al_hunk {
    const char *file; /**< its path */
    int64_t old_start, old_lines, new_start, new_lines;
    const char *header; /**< section heading, e.g. "int main(void)"; not NUL-terminated */
    size_t header_len;
};

/** One line of a patch. It may contain any bytes. */
struct al_patch_line {
    const char *text; /**< without its newline; not NUL-terminated */
    size_t len;
    bool ended;                 /**< a newline ended it; only the last line may lack one */
    const struct al_hunk *head; /**< the hunk that this line begins; NULL: none */
    bool continues;   /**< the line before, of which a part was passed on; see al_hunks.in_parts */
    bool in_hunk;     /**< the line belongs to the current hunk; `text` includes the first column */
    bool begins_file; /**< the file of the parser is the one before, for the last time */
};

/** The parser. Set up with AL_HUNKS_INIT(). */
struct al_hunks {
    void (*take)(void *payload, const struct al_patch_line *line);
    void *payload;
    bool cuts_lines;           /**< a line of more than 4 MiB is cut */
    bool in_parts;             /**< a line of more than 64 KiB is passed on in parts, each of which
                                  is not ended but the last */
    size_t files;              /**< files in the patch; complete after al_hunks_end() */
    struct al_patch_file file; /**< what was read of the current file; no path: there is none yet */

    /* Private. */
    struct al_hunk hunk;
    int parents; /* parents of the current hunk; 0: outside a hunk */
    int64_t old_left, new_left;
    bool continues;             /* a part of the line was passed on */
    struct al_str partial_line; /* the line that is read */
};

#define AL_HUNKS_INIT(fn, data)                                                                    \
    ((struct al_hunks){ .take = (fn), .payload = (data), .partial_line = AL_STR_INIT })

void al_hunks_clear(struct al_hunks *hunks);

/** The name prefixes that the parser expects. Pass them to git as --src-prefix and --dst-prefix. */
#define AL_HUNKS_OLD_PREFIX "a/"
#define AL_HUNKS_NEW_PREFIX "b/"

/** Parse the next bytes, split anywhere. Calls `take` for each complete line. */
void al_hunks_add(struct al_hunks *hunks, const char *data, size_t len);

/** Test whether a line begins with these words. */
bool al_hunks_begins(const char *line, size_t len, const char *words);

/** End of input. */
void al_hunks_end(struct al_hunks *hunks);

#endif
