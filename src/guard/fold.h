// SPDX-License-Identifier: Apache-2.0
/*
 * Names that a file system may take for one another: it may ignore case, how a letter is composed,
 * and characters that are not seen.
 *
 * Source: Unicode CaseFolding.txt (what folds to ASCII), DerivedCoreProperties.txt
 * (Default_Ignorable_Code_Point), HFS+ (TN1150).
 */
#ifndef AL_GUARD_FOLD_H
#define AL_GUARD_FOLD_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Fold the first `len` bytes of a path, component by component.  Paths that some file system takes
 * for one fold to the same text.  The reverse does not hold: beyond what folds to ASCII, all names
 * with other characters do.
 *
 * @return caller frees.
 */
char *al_fold_path(const char *path, size_t len);

/** Test whether a file system may take a name for this one, which is ASCII in small letters. */
bool al_fold_is(const char *name, size_t len, const char *ascii);

#endif
