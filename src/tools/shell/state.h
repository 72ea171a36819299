// SPDX-License-Identifier: Apache-2.0
/* The state behind struct al_shell, for the files of this folder. */
#ifndef AL_TOOLS_SHELL_STATE_H
#define AL_TOOLS_SHELL_STATE_H

#include "base/str.h"
#include "guard/program.h"
#include "tools/shell/shell.h"

/** One session's shell: set by al_shell_new(), then constant. */
struct al_shell {
    struct al_shell_options options;
    enum al_isolation isolation; /**< never AL_ISOLATION_AUTO */
    char *firejail;              /**< path of firejail; NULL unless AL_ISOLATION_FIREJAIL */
    char *work_dir;              /**< <state>/shell, the only directory outside the root that
                                      programs may write */
    struct al_strv env;          /**< environment of every program but go */
    struct al_strv go_env;       /**< environment of go */
};

#endif
