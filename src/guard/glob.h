// SPDX-License-Identifier: Apache-2.0
/*
 * File name patterns, expanded as bash does it (`*`, `?`, `[...]`, `[!...]`, `[[:class:]]`), and
 * never beyond one directory's tree.
 *
 * In a pattern a backslash makes the next character stand for itself.  A name that begins with '.'
 * is matched only by a pattern that does, and `.` and `..` by none.  A character is a UTF-8 one; a
 * byte that is part of none is a character of its own.
 */
#ifndef AL_GUARD_GLOB_H
#define AL_GUARD_GLOB_H

#include <stdbool.h>

#include "util/error.h"
#include "util/str.h"

/** The longest pattern, and the most parts between slashes it may have. */
#define AL_GLOB_PATTERN_MAX 4096
#define AL_GLOB_PARTS_MAX   256

/** The most names one pattern may expand to, and the most entries looked at for it. */
#define AL_GLOB_NAMES_MAX   10000
#define AL_GLOB_ENTRIES_MAX 200000

/** What patterns that belong together have cost so far, about a second's worth at most. */
struct al_glob_cost {
    size_t entries;     /**< looked at */
    size_t comparisons; /**< of a character of a pattern with one of a name */
};

#define AL_GLOB_COST_INIT       ((struct al_glob_cost){ .entries = 0 })
#define AL_GLOB_ALL_ENTRIES_MAX (5 * AL_GLOB_ENTRIES_MAX)
#define AL_GLOB_COMPARISONS_MAX (256u * 1024u * 1024u)

/** Whether one name, without slashes, matches. */
bool al_glob_match(const char *pattern, const char *name);

/** A pattern as the text it stands for when it matches nothing.  Caller frees. */
char *al_glob_literal(const char *pattern);

/**
 * Append the names a pattern matches below a directory, in order of their bytes; nothing when none
 * does.
 *
 * @param dir_fd   The directory it is relative to; links are followed as long as they stay inside.
 * @param pattern  Without a leading '/' and without a `..` component (AL_ERR_SANDBOX for those).
 * @param cost     Of the patterns before it, and then with it.
 * @return 0, or AL_ERR_BAD_ARGS when there are too many names, the pattern is too long, or all of
 *         them cost too much.
 */
int al_glob_expand(int dir_fd, const char *pattern, struct al_glob_cost *cost,
                   struct al_strv *names, struct al_error *err);

#endif
