// SPDX-License-Identifier: Apache-2.0
/*
 * The programs that a git with network access starts: airlock-askpass and airlock-ssh.  Both are
 * this program under another name, and run inside the confinement of the git that started them.
 */
#ifndef AL_CLI_HELPERS_H
#define AL_CLI_HELPERS_H

#include <stdbool.h>

/** If argv[0] is the name of a helper, do its work, set *ret_code to the exit code and return true.
 */
bool al_helper_run(int argc, char **argv, int *ret_code);

#endif
