// SPDX-License-Identifier: Apache-2.0
/* The files of one vetting: those it depends on, and the private ones made for it. */
#ifndef AL_GITOPS_VET_VET_FILES_H
#define AL_GITOPS_VET_VET_FILES_H

#include "gitops/vet/vet.h"
#include "util/str.h"

/** The vetting is forgotten when this file changes, appears or goes away; NULL is fine. */
void al_vetting_depend_on(struct al_vetting *vetting, const char *path);

/** $XDG_CONFIG_HOME/git/<name>, or its default path.  NULL without a home.  Caller frees. */
char *al_user_config_path(const struct al_git *git, const char *name);

/** Write a file into the vetting's private folder.  Its path, which the caller frees; NULL with
 * errno when it cannot be written. */
char *al_vetting_write_file(struct al_git *git, struct al_vetting *vetting, const char *name,
                            const struct al_str *text);

/**
 * Make a private copy of a file of the user's.
 *
 * @param configured  Its path; NULL: `name` in git's configuration directory.
 * @return The path of the copy, which the caller frees; NULL when there is no content.
 */
char *al_vetting_copy_user_file(struct al_git *git, struct al_vetting *vetting,
                                const char *configured, const char *name);

#endif
