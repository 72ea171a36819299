// SPDX-License-Identifier: Apache-2.0
/* auto_pull of a worker file. */
#ifndef AL_CLI_AUTO_PULL_H
#define AL_CLI_AUTO_PULL_H

#include "cli/setup.h"

struct al_cancel;

/**
 * Pull the files that the worker file names into the sandbox, one call of git_pull for each, which
 * is checked and journaled like any other.  What cannot be pulled is named on standard error.
 *
 * @param cancel  Borrowed.
 */
void al_auto_pull(const struct al_setup *setup, struct al_cancel *cancel);

#endif
