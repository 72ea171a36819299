// SPDX-License-Identifier: Apache-2.0
/* Temporary files of a failed or killed transfer in the object store.  git gives unfinished packs
 * and objects temporary names, and removes them only with `git gc`, weeks later. */
#ifndef AL_GITOPS_TRANSPORT_LEFTOVERS_H
#define AL_GITOPS_TRANSPORT_LEFTOVERS_H

#include <stdint.h>

#include "gitops/repo/repo.h"

/** A time that no file of a transfer that begins now is older than, in ns since the epoch. */
int64_t al_leftovers_since(void);

/** Remove temporary files of objects and packs that are not older than `since`.  Call it when all
 * processes of the transfer have ended.  Does nothing when another git is at work in the
 * repository, and leaves any file that a process has open: it could belong to another program. */
void al_leftovers_remove(const struct al_repo *repo, int64_t since);

#endif
