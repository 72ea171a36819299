// SPDX-License-Identifier: Apache-2.0
/*
 * Paths as the agent reads and writes them: relative to its working_dir, in results as in
 * arguments.
 *
 * Names are never quoted.  Control characters, newlines among them, are shown as <U+000A>.
 *
 * Arguments: a tool with `is_everyday` gets "../x" as the absolute path it means and
 * "<U+000A>" as the character, before any other stage looks at it (call/targets.c).
 */
#ifndef AL_CALL_PLACE_H
#define AL_CALL_PLACE_H

#include "base/str.h"
#include "git/repo/repo.h"

/** Append a path of the repository: "x", "dir/x", "../x".
 *
 * @param path  Raw bytes, relative to the top of the working tree.
 */
void al_place_add(const struct al_repo *repo, const char *path, struct al_str *out);

/** The same as al_place_add(), in a string that the caller frees. */
char *al_place(const struct al_repo *repo, const char *path);

/** Append a name that is no path: of a branch, an author, a subject.  Visible like a path. */
void al_place_add_name(const char *name, struct al_str *out);

/** Append a line, or a part of one, with such names in it.  Only a newline at the end of `fmt` is
 * one. */
void al_place_addf(struct al_str *out, const char *fmt, ...) al_printf(2, 3);

/** The reverse, for a path that the agent gave: relative to the top of the working tree, raw bytes.
 * Caller frees.
 *
 * @param given  As from the arguments of a call; "" and "." are the working directory.
 * @return 0, with "" for the top itself; AL_ERR_BAD_ARGS or AL_ERR_SANDBOX as al_repo_file().
 */
int al_place_from_argument(const struct al_repo *repo, const char *param, const char *given,
                           char **ret_path, struct al_error *err);

#endif
