// SPDX-License-Identifier: Apache-2.0
/* The base of tests of a git child and of its environment: another program in git's place. */
#ifndef TESTS_UNIT_GITOPS_COMMAND_LIB_H
#define TESTS_UNIT_GITOPS_COMMAND_LIB_H

#include "tests/unit/git/lib.h"

/* Open the repository with git, then go on with another program in its place. */
static inline struct al_repo *open_with(struct world *w, const char *program)
{
    struct al_repo *repo = must_open(w, "repo");

    al_strv_add(&w->git->kept, program);
    w->git->options.program = w->git->kept.items[w->git->kept.count - 1];
    return repo;
}

#endif
