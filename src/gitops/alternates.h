// SPDX-License-Identifier: Apache-2.0
/*
 * Object stores that a repository borrows objects from.
 *
 * Source: gitrepository-layout(5) "objects/info/alternates".
 */
#ifndef AL_GITOPS_ALTERNATES_H
#define AL_GITOPS_ALTERNATES_H

#include <stdbool.h>

struct al_roots;

/**
 * Test whether every store that git would read objects from lies in the roots: the alternates of
 * `objects`, and theirs.  A store that does not exist is skipped, as git skips it.  False also for
 * an alternates file that cannot be read, a quoted path, and more than 64 stores.
 */
bool al_alternates_are_inside(const struct al_roots *roots, const char *objects);

#endif
