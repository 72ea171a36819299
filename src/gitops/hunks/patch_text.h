// SPDX-License-Identifier: Apache-2.0
/* The lines of a patch in memory, and what their beginnings say. */
#ifndef AL_GITOPS_HUNKS_PATCH_TEXT_H
#define AL_GITOPS_HUNKS_PATCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/str.h"

/** One line of a patch. */
struct al_patch_at {
    const char *text; /**< borrowed; not NUL-terminated */
    size_t len;       /**< without its newline */
    size_t at;        /**< where it begins */
    size_t next;      /**< where the next one begins */
};

/** Read the line that begins at `at`; false at the end. */
bool al_patch_at(const struct al_str *text, size_t at, struct al_patch_at *ret_line);

/** Test whether a line begins with these words. */
bool al_patch_begins(const struct al_patch_at *line, const char *words);

/** The numbers of "@@ -1,2 +3,4 @@".  A side without lines starts with the line that would follow,
 * where git names the line before. */
struct al_patch_ranges {
    int64_t old_start, old_lines, new_start, new_lines;
};

/** Append "-1,2 +3,4" as git writes it. */
void al_patch_add_ranges(const struct al_patch_ranges *ranges, struct al_str *out);

#endif
