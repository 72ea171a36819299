// SPDX-License-Identifier: Apache-2.0
/*
 * What a transfer that failed or was killed leaves in the object store: git gives unfinished packs
 * and objects temporary names, and removes them only with `git gc`, weeks later.
 */
#ifndef AL_GITOPS_TRANSPORT_LEFTOVERS_H
#define AL_GITOPS_TRANSPORT_LEFTOVERS_H

#include <stdint.h>

#include "gitops/repo/repo.h"

/** The time of the file system's clock that nothing of a transfer that begins now is older than. */
int64_t al_leftovers_since(void);

/**
 * Remove temporary files of objects and packs that are not older than `since`.  All are left alone
 * when another git is at work in the repository, and one is that a process has open: it could be
 * somebody else's.  Call it when all processes of the transfer have ended.
 */
void al_leftovers_remove(const struct al_repo *repo, int64_t since);

#endif
