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

/** The most names one pattern may expand to, the most entries looked at for it, and the most
 * comparisons of a character of the pattern with one of a name (about a second's worth). */
#define AL_GLOB_NAMES_MAX   10000
#define AL_GLOB_ENTRIES_MAX 200000
#define AL_GLOB_WORK_MAX    (256u * 1024u * 1024u)

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
 * @return 0, or AL_ERR_BAD_ARGS when there are too many names, or the pattern is too long.
 */
int al_glob_expand(int dir_fd, const char *pattern, struct al_strv *names, struct al_error *err);

#endif
