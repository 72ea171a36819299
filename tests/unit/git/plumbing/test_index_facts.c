// SPDX-License-Identifier: Apache-2.0
/* git/plumbing/index_scan.h: what the entries of an index may have. */
#include "git/plumbing/index_scan.h"

#include "git/repo/repo.h"
#include "tests/unit/git/lib.h"

/** The facts: a letter each. */
static void assert_facts(struct world *w, const char *expected)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    const struct al_index_facts facts = al_repo_index_facts(&repo->at);
    const char found[] = { facts.marks ? 'm' : '-', facts.gitlinks ? 'g' : '-',
                           facts.conflicts ? 'c' : '-', '\0' };

    assert_string_equal(found, expected);
}

static void reads_the_entries(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, "named", "text\n");
    git_ok(w->repo, "add", "-N", "named", NULL);
    assert_facts(w, "---");
    git_ok(w->repo, "update-index", "--assume-unchanged", "named", NULL);
    assert_facts(w, "m--");
    git_ok(w->repo, "rm", "-q", "--cached", "named", NULL);
    assert_facts(w, "---");
    git_ok(w->repo, "update-index", "--add", "--cacheinfo",
           "160000,1234567812345678123456781234567812345678,link", NULL);
    assert_facts(w, "-g-");
    git_ok(w->repo, "read-tree", "--empty", NULL);
    assert_facts(w, "---");
    git_ok(w->repo, "update-index", "--split-index", NULL);
    assert_facts(w, "mgc");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(reads_the_entries),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/plumbing/index_facts", tests, NULL, NULL);
}
