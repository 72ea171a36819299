// SPDX-License-Identifier: Apache-2.0
/* Comparing gitops/plumbing/index_diff.h with git. */
#ifndef TESTS_UNIT_GITOPS_PLUMBING_INDEX_DIFF_LIB_H
#define TESTS_UNIT_GITOPS_PLUMBING_INDEX_DIFF_LIB_H

#include "gitops/plumbing/index_diff.h"
#include "tests/unit/gitops/tree.h"

static inline bool differing_within(struct world *w, struct al_run_limits budget,
                                    struct al_strv *names)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *head = git_output(w->repo, "rev-parse", "HEAD", NULL);

    head[strcspn(head, "\n")] = '\0';
    return al_index_diff(repo, head, &budget, names);
}

static inline bool differing(struct world *w, struct al_strv *names)
{
    return differing_within(w, (struct al_run_limits){ .left_ms = 60000 }, names);
}

/* git's list is in ours; `exactly`: and is all of it. */
static inline void assert_has_all(struct world *w, bool exactly)
{
    al_auto(al_freep) char *text =
        git_output(w->repo, "diff-index", "--name-only", "--no-renames", "HEAD", NULL);
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    size_t count = 0;
    char *save = NULL;

    assert_true(differing(w, &names));
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        assert_true(al_strv_contains(&names, line));
        count++;
    }
    if (exactly)
        assert_int_equal(names.count, count);
}

/* Files that are older than the index, so that their stat data tells.  Git compares seconds. */
static inline void make_old(struct world *w)
{
    static unsigned seconds = 1000000000;
    al_auto(al_freep) char *alias = al_asprintf(
        "alias.k=!find . -path ./.git -prune -o -type f -exec touch -d @%u {} +", seconds++);

    git_ok(w->repo, "-c", alias, "k", NULL);
    (void)git_status_of(w->repo, "update-index", "-q", "--refresh", NULL);
}

static inline void begin(struct world *w)
{
    for (int i = 0; i < 6; i++) {
        al_auto(al_freep) char *name = al_asprintf("dir%d/sub/file%d", i % 2, i);

        tmpdir_write(w->repo, name, "one\n");
    }
    tmpdir_write(w->repo, "dir", "not a directory\n");
    git_ok(w->repo, "add", "-A", NULL);
    git_ok(w->repo, "commit", "-q", "-m", "all", NULL);
    make_old(w);
}

#endif
