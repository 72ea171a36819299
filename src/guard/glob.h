// SPDX-License-Identifier: Apache-2.0
/*
 * File name patterns, expanded like bash does (`*`, `?`, `[...]`, `[!...]`, `[[:class:]]`), inside
 * one directory's tree.
 *
 * - A backslash makes the next character literal.
 * - A name that begins with '.' is matched only by a pattern that does; `.` and `..` are never
 *   matched.
 * - A character is a UTF-8 character; a byte that is not part of one is a character of its own.
 */
#ifndef AL_GUARD_GLOB_H
#define AL_GUARD_GLOB_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include <stddef.h>

/** The longest pattern in bytes, and the most parts between slashes. */
#define AL_GLOB_PATTERN_MAX 4096
#define AL_GLOB_PARTS_MAX   256

/** The most names that one pattern may expand to, and the most directory entries examined for it.
 */
#define AL_GLOB_NAMES_MAX   10000
#define AL_GLOB_ENTRIES_MAX 200000

/** The cost so far of the patterns of one command line.  The limits below amount to about a second.
 */
struct al_glob_cost {
    size_t entries;     /**< examined */
    size_t comparisons; /**< of one character of a pattern and one of a name */
};

#define AL_GLOB_COST_INIT       ((struct al_glob_cost){ .entries = 0 })
#define AL_GLOB_ALL_ENTRIES_MAX (5 * AL_GLOB_ENTRIES_MAX)
#define AL_GLOB_COMPARISONS_MAX (256u * 1024u * 1024u)

/** Test whether a name without slashes matches. */
bool al_glob_match(const char *pattern, const char *name);

/** The same where '.' at the beginning of a name is a character like others. */
bool al_glob_match_any(const char *pattern, const char *name);

/** The text that a pattern stands for when it matches nothing.  Caller frees. */
char *al_glob_literal(const char *pattern);

/**
 * Append the names that a pattern matches below a directory, in byte order; nothing if there is no
 * match.
 *
 * @param dir_fd   The directory.  Links are followed as long as they stay inside.
 * @param pattern  Without a leading '/' and without `..` components (AL_ERR_SANDBOX for those).
 * @param cost     The cost of the patterns before; this pattern's cost is added.
 * @return 0, or AL_ERR_BAD_ARGS when there are too many names, the pattern is too long, or the
 *         patterns cost too much.
 */
int al_glob_expand(int dir_fd, const char *pattern, struct al_glob_cost *cost,
                   struct al_strv *names, struct al_error *err);

#endif
