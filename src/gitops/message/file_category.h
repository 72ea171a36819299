// SPDX-License-Identifier: Apache-2.0
/* The category of a file, derived from its path by common naming conventions. */
#ifndef AL_GITOPS_MESSAGE_FILE_CATEGORY_H
#define AL_GITOPS_MESSAGE_FILE_CATEGORY_H

#include "util/str.h"

/** Categories of files. */
enum al_file_category {
    AL_CATEGORY_CODE,
    AL_CATEGORY_TEST,
    AL_CATEGORY_DOCS,
    AL_CATEGORY_BUILD,
    AL_CATEGORY_CI,
    AL_CATEGORY_CHORE
};

/** The category of a file. */
enum al_file_category al_file_category_of(const char *path);

/** The commit type that Conventional Commits uses for a change of this category alone: "feat",
 * "test", "docs", "build", "ci" or "chore". The type of a change of code depends on the change. */
const char *al_file_category_type(enum al_file_category category);

/** The scope of a change in a directory: its first component that is not mere layout ("src/auth"
 * gives "auth"); "" when there is none. Caller frees. */
char *al_file_category_scope(const char *dir);

#endif
