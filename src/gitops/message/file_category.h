// SPDX-License-Identifier: Apache-2.0
/* What a file is for, by its path: as people name files, which is all a path can tell. */
#ifndef AL_GITOPS_MESSAGE_FILE_CATEGORY_H
#define AL_GITOPS_MESSAGE_FILE_CATEGORY_H

#include "util/str.h"

/** What files are for. */
enum al_kind { AL_KIND_CODE, AL_KIND_TEST, AL_KIND_DOCS, AL_KIND_BUILD, AL_KIND_CI, AL_KIND_CHORE };

/** The kind of a file. */
enum al_kind al_kind_of(const char *path);

/** "feat", "test", "docs", "build", "ci" or "chore": what Conventional Commits calls a change of
 * this kind alone.  For code the change itself says which it is. */
const char *al_kind_type(enum al_kind kind);

/** The part of a project that a directory is about: its first component with a name of its own
 * ("src/auth" → "auth"), "" when it has none.  Caller frees. */
char *al_kind_area(const char *dir);

#endif
