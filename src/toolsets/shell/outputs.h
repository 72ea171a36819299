// SPDX-License-Identifier: Apache-2.0
/* The files that go's arguments make it write. */
#ifndef AL_TOOLSETS_SHELL_OUTPUTS_H
#define AL_TOOLSETS_SHELL_OUTPUTS_H

#include "guard/root.h"
#include "util/error.h"
#include "util/str.h"

/** Check a command's words, the command first.  AL_ERR_SANDBOX when they would make go write
 * outside `root`; 0 for every other command. */
int al_shell_check_outputs(const struct al_root *root, const struct al_strv *words,
                           struct al_error *err);

#endif
