// SPDX-License-Identifier: Apache-2.0
/* The version of the installed git. */
#ifndef AL_GITOPS_VERSION_H
#define AL_GITOPS_VERSION_H

#include "util/error.h"
#include <stdbool.h>

/**
 * Ask a git for its version, such as "2.39.5".  This is the only git child without a repository;
 * its sandbox lets it start no program and open no socket.
 *
 * @return 0, or AL_ERR_EXECUTION.  Caller frees *ret_version.
 */
int al_git_version(const char *program, char **ret_version, struct al_error *err);

/** Test whether airlock works with a version, as al_git_version() gives it (2.34 or newer). */
bool al_git_version_is_supported(const char *version);

#endif
