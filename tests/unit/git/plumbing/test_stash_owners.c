// SPDX-License-Identifier: Apache-2.0
/* git/plumbing/stash_owners.h: which entry a push has made while another git pushes, and the
 * records of whose it is. */
#include "git/plumbing/stash_owners.h"

#include "tests/unit/git/lib.h"

static void push(struct world *w, const char *content, const char *message)
{
    tmpdir_write(w->repo, "a.txt", content);
    git_ok(w->repo, "stash", "push", "-q", "-m", message, NULL);
}

/* The index of the entry that was pushed since there were `count`, by a push that printed a
 * message; -1: it is not known. */
static int64_t index_of_new(struct world *w, size_t count, const char *message)
{
    al_auto(al_str_clear) struct al_str said = AL_STR_INIT;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv before = AL_STRV_INIT;
    al_auto(al_freep) char *oid = NULL;
    int64_t index = -1;

    al_str_addf(&said, "Saved working directory and index state On main: %s\n", message);
    al_git_stash_entries(repo, &all);
    for (size_t i = all.count - count; i < all.count; i++)
        al_strv_add(&before, all.items[i]);
    assert_int_equal(al_git_stash_find_new(repo, &before, &said, &oid), all.count - count);
    if (oid)
        assert_true(al_git_stash_find(repo, oid, &index));
    return index;
}

static void the_only_new_entry_is_the_one(void **state)
{
    struct world *w = *state;

    push(w, "1", "first");
    assert_int_equal(index_of_new(w, 1, "first"), -1); /* none is new */
    push(w, "2", "second");
    assert_int_equal(index_of_new(w, 1, "second"), 0);
}

static void of_several_new_entries_it_is_the_one_with_the_message(void **state)
{
    struct world *w = *state;

    push(w, "1", "old");
    push(w, "2", "mine and  not\ntheirs");
    push(w, "3", "theirs");
    assert_int_equal(index_of_new(w, 1, "mine and  not\ntheirs"), 1);
    assert_int_equal(index_of_new(w, 1, "theirs"), 0);
    assert_int_equal(index_of_new(w, 1, "their"), -1);
    assert_int_equal(index_of_new(w, 1, "of nobody"), -1);
    push(w, "4", "theirs");
    assert_int_equal(index_of_new(w, 1, "theirs"), -1);
}

static void a_record_belongs_to_its_working_tree(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(repo_freep) struct al_repo *linked = NULL;
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    al_auto(al_stash_owners_clear) struct al_stash_owners others = AL_STASH_OWNERS_INIT;
    al_auto(al_freep) char *words = NULL;

    git_ok(w->repo, "worktree", "add", "-q", "../linked", NULL);
    repo = must_open(w, "repo");
    linked = must_open(w, "linked");
    al_stash_owners_add(repo, "0123", "one");
    al_stash_owners_add(linked, NULL, NULL);
    al_stash_owners_read(repo, &owners);
    al_stash_owners_read(linked, &others);
    assert_true(owners.is_shared && others.is_shared);
    assert_true(al_stash_is_own(&owners, "0123"));
    assert_false(al_stash_is_own(&others, "0123"));
    assert_false(al_stash_is_own(&owners, "012"));
    assert_false(al_stash_is_own(&owners, "-"));
    assert_false(owners.pushed_nothing);
    assert_true(others.pushed_nothing);
    words = al_stash_owner_words(&others, "0123");
    assert_string_equal(words, "the main working tree, agent one");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(the_only_new_entry_is_the_one),
        WORLD_TEST(of_several_new_entries_it_is_the_one_with_the_message),
        WORLD_TEST(a_record_belongs_to_its_working_tree),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/plumbing/stash_owners", tests, NULL, NULL);
}
