// SPDX-License-Identifier: Apache-2.0
/* The state behind struct al_shell, for the files of this folder. */
#ifndef AL_TOOLS_SHELL_STATE_H
#define AL_TOOLS_SHELL_STATE_H

#include <pthread.h>

#include "base/str.h"
#include "guard/program.h"
#include "tools/shell/shell.h"

struct al_shell_program;

/**
 * One session's shell.
 *
 *   options, isolation, firejail, work_dir, env, go_env   set by al_shell_new(), then constant
 *   programs                                              guarded by `lock`; entries are only added
 */
struct al_shell {
    struct al_shell_options options;
    enum al_isolation isolation; /**< never AL_ISOLATION_AUTO */
    char *firejail;              /**< path of firejail; NULL unless AL_ISOLATION_FIREJAIL */
    char *work_dir;              /**< <state>/shell, the only directory outside the root that
                                      programs may write */
    struct al_strv env;          /**< environment of every program but go */
    struct al_strv go_env;       /**< environment of go */
    pthread_mutex_t lock;
    struct al_shell_program *programs; /**< newest first */
};

#endif
