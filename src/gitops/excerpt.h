// SPDX-License-Identifier: Apache-2.0
/* What git said, for a user who decides by it: an excerpt, or all of it. */
#ifndef AL_GITOPS_EXCERPT_H
#define AL_GITOPS_EXCERPT_H

#include "gitops/command.h"
#include "util/str.h"

/** How much of a diff is read for an excerpt: more than is shown, so that the number of further
 * lines is usually exact. */
#define AL_GIT_EXCERPT_MAX_BYTES (256u * 1024u)

/** More than this is not read where all is wanted. */
#define AL_GIT_IN_FULL_MAX_BYTES (64u << 20)

/** How much is to be read of what an excerpt needs `wanted` bytes of. */
size_t al_git_excerpt_bytes(const struct al_run_limits *budget, size_t wanted);

/** al_text_add_excerpt(), or with budget->in_full the whole text, every control character shown. */
void al_git_add_excerpt(const struct al_run_limits *budget, const char *text, size_t len, bool more,
                        struct al_str *out);

#endif
