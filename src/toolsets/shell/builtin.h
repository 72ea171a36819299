// SPDX-License-Identifier: Apache-2.0
/* The builtin commands.  Their output and exit codes are those of bash. */
#ifndef AL_TOOLSETS_SHELL_BUILTIN_H
#define AL_TOOLSETS_SHELL_BUILTIN_H

#include "util/str.h"

/** Run echo; the words begin with the command.  Returns its exit code. */
int al_shell_echo(const struct al_strv *words, struct al_str *out);

/** Run pwd in the directory `dir`.  Returns its exit code. */
int al_shell_pwd(const struct al_strv *words, const char *dir, struct al_str *out,
                 struct al_str *errors);

#endif
