// SPDX-License-Identifier: Apache-2.0
/*
 * Words an agent gives that end up on git's command line.
 *
 * All checks give AL_ERR_BAD_ARGS with a message that names the parameter.
 * Source: git-check-ref-format(1), gitrevisions(7), gitglossary(7) "pathspec".
 */
#ifndef AL_GUARD_ARG_H
#define AL_GUARD_ARG_H

#include <stdbool.h>

#include "util/error.h"
#include "util/str.h"

/** A name for a branch: git-check-ref-format(1) --branch rules, no leading '-', no "@{". */
int al_arg_check_branch(const char *param, const char *value, struct al_error *err);

/** A revision to read: no leading '-', no control characters, not empty.  `A..B` is not one. */
int al_arg_check_revision(const char *param, const char *value, struct al_error *err);

/** A revision, or two with ".." or "..." between them, of which one may be left out. */
int al_arg_check_range(const char *param, const char *value, bool *ret_is_range,
                       struct al_error *err);

/**
 * A pathspec.  `names_a_file` is what the caller found: the words name an existing file or index
 * entry.  Then they are literal (":(literal)" is put before them when they contain `*?[\` or begin
 * with ':'); otherwise `*?[` make them a glob and a leading ':' is refused.
 *
 * @param[out] ret_spec  The word for git, owned by the caller.
 */
int al_arg_pathspec(const char *param, const char *value, bool names_a_file, char **ret_spec,
                    struct al_error *err);

#endif
