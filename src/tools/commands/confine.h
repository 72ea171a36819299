// SPDX-License-Identifier: Apache-2.0
/* The sandbox of `airlock run --confine`, made by bubblewrap: which files there are, and which git
 * directories cannot be written. */
#ifndef AL_TOOLS_COMMANDS_CONFINE_H
#define AL_TOOLS_COMMANDS_CONFINE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"
#include "guard/root.h"

/** Find bubblewrap, outside of the roots.  *ret_program is the caller's.
 * @return 0; AL_ERR_SANDBOX naming the package, or what `network` needs. */
int al_confine_find(const struct al_git_shell *shell, const struct al_roots *roots, bool network,
                    char **ret_program, struct al_error *err);

/**
 * Run a command in a sandbox: the system can be read, the root can be written, and so can a private
 * /tmp and home directory.  Git directories below the root can be read; its git is run by airlock
 * outside.  What the command makes that git takes for a git directory is none any more afterwards.
 *
 * @param[out] ret_code   As al_proc_run_foreground().
 * @param[out] ret_notes  Lines about such directories.
 * @return 0; AL_ERR_SANDBOX when there is no sandbox, and then nothing ran.
 */
int al_confine_run(const char *bubblewrap, const struct al_root *root,
                   const struct al_git_shell *shell, const struct al_strv *command, bool network,
                   int *ret_code, struct al_strv *ret_notes, struct al_error *err);

#endif
