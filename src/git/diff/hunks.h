// SPDX-License-Identifier: Apache-2.0
/*
 * Parser for the hunks of a patch as `git diff` prints it, including the combined diff of a
 * conflict.  It parses while git still prints.
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

/** The header of a hunk. Valid only during the call it is passed to. */
struct al_hunk {
    const char *file; /**< bytes as git has them; the old name if the file was deleted */
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
    bool in_hunk; /**< the line belongs to the current hunk; `text` includes the first column */
};

/** The parser. Set up with AL_HUNKS_INIT(). */
struct al_hunks {
    void (*take)(void *payload, const struct al_patch_line *line);
    void *payload;
    size_t files;   /**< files in the patch; complete after al_hunks_end() */
    bool truncated; /**< set by the caller when the input was cut */

    /* Private. */
    struct al_hunk hunk;
    char *old_name, *new_name;
    int parents; /* parents of the current hunk; 0: outside a hunk */
    int64_t old_left, new_left;
    struct al_str partial_line; /* an incomplete line */
};

#define AL_HUNKS_INIT(fn, data)                                                                    \
    ((struct al_hunks){ .take = (fn), .payload = (data), .partial_line = AL_STR_INIT })

void al_hunks_clear(struct al_hunks *hunks);

/** The name prefixes that the parser expects. Pass them to git as --src-prefix and --dst-prefix. */
#define AL_HUNKS_OLD_PREFIX "a/"
#define AL_HUNKS_NEW_PREFIX "b/"

/** Parse the next bytes, split anywhere. Calls `take` for each complete line. */
void al_hunks_add(struct al_hunks *hunks, const char *data, size_t len);

/** A name, unquoted if git has quoted it.  Caller frees. */
char *al_hunks_name(const char *at, size_t len);

/** The file that a line begins, by its new name unless it is renamed; NULL: the line begins none.
 * Caller frees. */
char *al_hunks_begun_file(const char *line, size_t len, bool *ret_unmerged);

/** Test whether a line begins with these words. */
bool al_hunks_begins(const char *line, size_t len, const char *words);

/** End of input. With `truncated`, an incomplete UTF-8 character at the end is dropped. */
void al_hunks_end(struct al_hunks *hunks);

#endif
