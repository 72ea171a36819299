// SPDX-License-Identifier: Apache-2.0
/* Output of git that a user decides by: an excerpt, or all of it. */
#ifndef AL_GITOPS_EXCERPT_H
#define AL_GITOPS_EXCERPT_H

#include "gitops/command.h"
#include "util/str.h"

/** Bytes of a diff that are read for an excerpt: more than is shown, so that the number of further
 * lines is usually exact. */
#define AL_GIT_EXCERPT_MAX_BYTES (256u * 1024u)

/** The most bytes that are read when the whole text is wanted. */
#define AL_GIT_IN_FULL_MAX_BYTES (64u << 20)

/** The number of bytes to read: `wanted`, or AL_GIT_IN_FULL_MAX_BYTES with budget->in_full. */
size_t al_git_excerpt_bytes(const struct al_run_limits *budget, size_t wanted);

/** Append an excerpt, as al_text_add_excerpt() does; with budget->in_full the whole text, with
 * every control character shown. */
void al_git_add_excerpt(const struct al_run_limits *budget, const char *text, size_t len, bool more,
                        struct al_str *out);

#endif
