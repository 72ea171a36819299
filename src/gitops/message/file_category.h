// SPDX-License-Identifier: Apache-2.0
/* What a file is for, by its path: as people name files, which is all a path can tell. */
#ifndef AL_GITOPS_MESSAGE_FILE_CATEGORY_H
#define AL_GITOPS_MESSAGE_FILE_CATEGORY_H

#include "util/str.h"

/** What files are for. */
enum al_file_category {
    AL_CATEGORY_CODE,
    AL_CATEGORY_TEST,
    AL_CATEGORY_DOCS,
    AL_CATEGORY_BUILD,
    AL_CATEGORY_CI,
    AL_CATEGORY_CHORE
};

/** The kind of a file. */
enum al_file_category al_file_category_of(const char *path);

/** "feat", "test", "docs", "build", "ci" or "chore": what Conventional Commits calls a change of
 * this kind alone.  For code the change itself says which it is. */
const char *al_file_category_type(enum al_file_category category);

/** The part of a project that a directory is about: its first component with a name of its own
 * ("src/auth" → "auth"), "" when it has none.  Caller frees. */
char *al_file_category_scope(const char *dir);

#endif
