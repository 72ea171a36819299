// SPDX-License-Identifier: Apache-2.0
/* The reverse of al_text_sanitize_line() for names: a caller gives back what it was shown. */
#ifndef AL_GUARD_SHOWN_NAME_H
#define AL_GUARD_SHOWN_NAME_H

/**
 * Read a name with characters shown as <U+000A>.
 *
 * Only what would be shown so is read: control characters and invisible ones.  So no "/", "." or
 * NUL comes of it.
 *
 * @return the name; NULL if it has nothing of the kind.  Caller frees.
 */
char *al_shown_name_read(const char *shown);

#endif
