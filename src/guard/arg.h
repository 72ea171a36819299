// SPDX-License-Identifier: Apache-2.0
/*
 * Checks of arguments that an agent gives and that end up on git's command line.
 *
 * A failed check gives AL_ERR_BAD_ARGS, with a message that names the parameter. Source:
 * git-check-ref-format(1), gitrevisions(7), gitglossary(7) "pathspec".
 */
#ifndef AL_GUARD_ARG_H
#define AL_GUARD_ARG_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/** Test whether a text has a control character. */
bool al_arg_has_control(const char *value);

/** Check a branch name: the rules of git-check-ref-format(1) --branch; no leading '-', no "@{". */
int al_arg_check_branch(const char *param, const char *value, struct al_error *err);

/** Check a revision: not empty, no leading '-', no control characters.  `A..B` is not a revision.
 */
int al_arg_check_revision(const char *param, const char *value, struct al_error *err);

/** Check a revision, or two revisions joined by ".." or "...", one of which may be missing. */
int al_arg_check_range(const char *param, const char *value, struct al_error *err);

/**
 * Split a text into the revisions and ranges that git-log(1) takes, at its spaces.  Those between
 * braces, as in `main@{2 days ago}`, and of a text that begins with ":/" belong to the revision.
 */
void al_arg_split_revisions(const char *value, struct al_strv *ret_words);

/** Check each of them.  One may begin with '^', and leaves out what it reaches; not all of them. */
int al_arg_check_revisions(const char *param, const char *value, struct al_error *err);

/**
 * Turn a path argument into a pathspec.
 *
 * @param      names_a_file  Whether the argument names an existing file or index entry.  Such a
 *                           name is literal: ":(literal)" is prefixed if it contains any of `*?[\`
 *                           or begins with ':'.  Otherwise `*?[` make a glob, and a leading ':' is
 *                           refused.
 * @param[out] ret_spec      The pathspec for git.  Caller frees.
 */
int al_arg_pathspec(const char *param, const char *value, bool names_a_file, char **ret_spec,
                    struct al_error *err);

#endif
