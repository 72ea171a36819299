// SPDX-License-Identifier: Apache-2.0
/* gitops/porcelain/stash_drop.h: the entry that is named is dropped, and no other, even if another
 * git changes the indexes just then. */
#include "gitops/porcelain/stash_drop.h"

#include "gitops/plumbing/stash_owners.h"
#include "tests/unit/gitops/lib.h"

static int wrong; /* so many indexes are those of an entry that was pushed meanwhile */

bool __real_al_git_stash_find(const struct al_repo *repo, const char *oid, int64_t *ret_index);
bool __wrap_al_git_stash_find(const struct al_repo *repo, const char *oid, int64_t *ret_index);

bool __wrap_al_git_stash_find(const struct al_repo *repo, const char *oid, int64_t *ret_index)
{
    bool found = __real_al_git_stash_find(repo, oid, ret_index);

    if (found && wrong > 0) {
        wrong--;
        *ret_index -= 1;
    }
    return found;
}

static void push(struct world *w, const char *message)
{
    tmpdir_write(w->repo, "a.txt", message);
    git_ok(w->repo, "stash", "push", "-q", "-m", message, NULL);
}

static char *stashes(struct world *w)
{
    return git_output(w->repo, "stash", "list", "--format=%gs", NULL);
}

static int drop(struct world *w, size_t index)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_run_limits budget = long_budget();
    int r;

    al_git_stash_entries(repo, &oids);
    al_error_clear(&w->err);
    r = al_git_stash_drop(repo, index < oids.count ? oids.items[index] : "0123", &budget, &output,
                          &w->err);
    if (r == 0)
        assert_non_null(strstr(output.out.out.buf, oids.items[index]));
    return r;
}

static void drops_the_entry_that_is_named(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *left = NULL;

    wrong = 0;
    push(w, "first");
    push(w, "second");
    push(w, "third");
    assert_int_equal(drop(w, 1), 0);
    left = stashes(w);
    assert_string_equal(left, "On main: third\nOn main: first\n");
}

static void stores_another_entry_again_that_git_dropped(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *left = NULL;
    al_auto(al_freep) char *content = NULL;

    push(w, "first");
    push(w, "second");
    push(w, "third");
    wrong = 1;
    assert_int_equal(drop(w, 2), 0);
    left = stashes(w);
    assert_string_equal(left, "On main: second\nOn main: third\n");
    content = git_output(w->repo, "show", "stash@{0}:a.txt", NULL);
    assert_string_equal(content, "second");
}

static void ends_when_the_stash_keeps_changing(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *left = NULL;

    push(w, "first");
    push(w, "second");
    wrong = 1000;
    assert_int_equal(drop(w, 1), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "keeps changing the stash"));
    left = stashes(w);
    assert_non_null(strstr(left, "On main: first\n"));
    assert_non_null(strstr(left, "On main: second\n"));
}

static void says_that_an_entry_is_gone(void **state)
{
    struct world *w = *state;

    wrong = 0;
    push(w, "first");
    assert_int_equal(drop(w, 1), AL_ERR_EXECUTION);
    assert_string_equal(w->err.message, "The stash entry is no longer there");
    assert_string_equal(w->err.reason, "not_found");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(drops_the_entry_that_is_named),
        WORLD_TEST(stores_another_entry_again_that_git_dropped),
        WORLD_TEST(ends_when_the_stash_keeps_changing),
        WORLD_TEST(says_that_an_entry_is_gone),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/porcelain/stash_drop", tests, NULL, NULL);
}
