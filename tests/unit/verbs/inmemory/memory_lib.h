// SPDX-License-Identifier: Apache-2.0
/* The base of tests of merging in memory. */
#ifndef TESTS_UNIT_GITOPS_INMEMORY_MEMORY_LIB_H
#define TESTS_UNIT_GITOPS_INMEMORY_MEMORY_LIB_H

#include "tests/unit/git/tree.h"
#include "verbs/inmemory/inmemory.h"

static inline void memory_freep(struct al_inmemory **memory)
{
    al_inmemory_free(*memory);
}

static inline struct al_inmemory *must_open_memory(struct world *w, const struct al_repo *repo)
{
    struct al_inmemory *memory = NULL;

    assert_int_equal(al_inmemory_open(repo, &memory, &w->err), 0);
    return memory;
}

/* The id that git gives for a word.  Caller frees. */
static inline char *id_of(const struct world *w, const char *word)
{
    char *id = git_output(w->repo, "rev-parse", word, NULL);

    id[strcspn(id, "\n")] = '\0';
    return id;
}

/* Fail with airlock's message. */
static inline void assert_worked(const struct world *w, int r)
{
    if (r < 0)
        print_message("# %s\n", w->err.message);
    assert_int_equal(r, 0);
}

/* A commit of one file on a branch that begins at `from`; the branch stays checked out. */
static inline void branch_with(struct world *w, const char *branch, const char *from,
                               const char *name, const char *text)
{
    git_ok(w->repo, "checkout", "-q", "-b", branch, from, NULL);
    git_fixture_commit(w->repo, name, text, branch);
}

#endif
