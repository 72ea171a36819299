// SPDX-License-Identifier: Apache-2.0
/* A drop by verbs/porcelain/stash.h: the entry that is named is dropped, and no other, even if
 * another git changes the indexes just then. */
#include "verbs/porcelain/stash.h"

#include "git/plumbing/stash_owners.h"
#include "tests/unit/git/lib.h"

/* So many times another git pushes while a drop looks for the entry: before, or after. */
static int before, after;
static struct world *pushing;

bool __real_al_git_stash_find(const struct al_repo *repo, const char *oid, int64_t *ret_index);
bool __wrap_al_git_stash_find(const struct al_repo *repo, const char *oid, int64_t *ret_index);

static void push(struct world *w, const char *message);

bool __wrap_al_git_stash_find(const struct al_repo *repo, const char *oid, int64_t *ret_index)
{
    bool found;

    if (pushing && before-- > 0)
        push(pushing, "before");
    found = __real_al_git_stash_find(repo, oid, ret_index);
    if (pushing && after-- > 0)
        push(pushing, "after");
    return found;
}

static void push(struct world *w, const char *message)
{
    static int count; /* no two entries are the same */
    al_auto(al_freep) char *text = al_asprintf("%s %d\n", message, count++);

    tmpdir_write(w->repo, "a.txt", text);
    git_ok(w->repo, "stash", "push", "-q", "-m", message, NULL);
}

static char *stashes(struct world *w)
{
    return git_output(w->repo, "stash", "list", "--format=%gs", NULL);
}

static int drop_amid(struct world *w, size_t index, int pushes_before, int pushes_after)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_stash_options options = { .action = AL_STASH_DROP };
    int r;

    al_git_stash_entries(repo, &oids);
    al_error_clear(&w->err);
    before = pushes_before;
    after = pushes_after;
    pushing = w;
    options.entries = index < oids.count ? oids.items[index] : "0123";
    r = al_git_stash(repo, &options, 1u << 20, &output, &w->err);
    pushing = NULL;
    if (r == 0)
        assert_non_null(strstr(output.out.out.buf, oids.items[index]));
    return r;
}

static int drop(struct world *w, size_t index)
{
    return drop_amid(w, index, 0, 0);
}

/* Drop each entry of three in turn: the log and the reference are as git leaves them. */
static void drops_as_git_does(void **state)
{
    struct world *w = *state;

    for (size_t index = 0; index < 3; index++) {
        al_auto(al_freep) char *entry = al_asprintf("stash@{%zu}", index);
        al_auto(al_freep) char *log = NULL;
        al_auto(al_freep) char *ref = NULL;
        al_auto(al_freep) char *log_left = NULL;
        al_auto(al_freep) char *ref_left = NULL;
        al_auto(al_freep) char *log_of_git = NULL;
        al_auto(al_freep) char *ref_of_git = NULL;

        push(w, "first");
        push(w, "second");
        push(w, "third");
        log = tmpdir_read(w->repo, ".git/logs/refs/stash");
        ref = tmpdir_read(w->repo, ".git/refs/stash");
        assert_int_equal(drop(w, index), 0);
        log_left = tmpdir_read(w->repo, ".git/logs/refs/stash");
        ref_left = tmpdir_read(w->repo, ".git/refs/stash");
        tmpdir_write(w->repo, ".git/logs/refs/stash", log);
        tmpdir_write(w->repo, ".git/refs/stash", ref);
        git_ok(w->repo, "stash", "drop", "-q", entry, NULL);
        log_of_git = tmpdir_read(w->repo, ".git/logs/refs/stash");
        ref_of_git = tmpdir_read(w->repo, ".git/refs/stash");
        assert_string_equal(log_left, log_of_git);
        assert_string_equal(ref_left, ref_of_git);
        git_ok(w->repo, "stash", "clear", NULL);
    }
}

static void drops_the_entry_that_is_named(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *left = NULL;

    push(w, "first");
    push(w, "second");
    push(w, "third");
    assert_int_equal(drop(w, 1), 0);
    left = stashes(w);
    assert_string_equal(left, "On main: third\nOn main: first\n");
}

static void deletes_the_reference_with_the_last_entry(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *left = NULL;

    push(w, "first");
    git_ok(w->repo, "pack-refs", "--all", NULL);
    assert_int_equal(drop(w, 0), 0);
    left = git_output(w->repo, "for-each-ref", "refs/stash", NULL);
    assert_string_equal(left, "");
    push(w, "again");
}

/* An entry of another git that comes in between moves the index of the one that is meant. */
static void leaves_what_is_pushed_meanwhile(void **state)
{
    static const struct {
        int before, after;
        const char *left;
    } cases[] = {
        { 1, 0, "On main: before\n" },
        { 0, 1, "On main: after\n" },
        /* one that was dropped in its place is the newest when it comes back */
        { 2, 2, "On main: after\nOn main: after\nOn main: before\nOn main: before\n" },
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        al_auto(al_freep) char *left = NULL;
        al_auto(al_freep) char *alone = NULL;
        al_auto(al_freep) char *expected = al_asprintf("%sOn main: first\n", cases[i].left);

        push(w, "first");
        push(w, "second");
        assert_int_equal(drop_amid(w, 0, cases[i].before, cases[i].after), 0);
        left = stashes(w);
        assert_string_equal(left, expected);
        git_ok(w->repo, "stash", "clear", NULL);
        push(w, "only");
        assert_int_equal(drop_amid(w, 0, cases[i].before, cases[i].after), 0);
        alone = stashes(w);
        assert_string_equal(alone, cases[i].left);
        git_ok(w->repo, "stash", "clear", NULL);
    }
}

static void ends_when_the_stash_keeps_changing(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *left = NULL;

    push(w, "first");
    push(w, "second");
    assert_int_equal(drop_amid(w, 1, 1000, 1000), AL_ERR_EXECUTION);
    left = stashes(w);
    assert_non_null(strstr(left, "On main: second\n"));
    assert_non_null(strstr(left, "On main: first\n"));
}

static void says_that_another_git_has_the_lock(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *left = NULL;

    push(w, "first");
    tmpdir_write(w->repo, ".git/refs/stash.lock", "");
    assert_int_equal(drop(w, 0), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "stash.lock"));
    left = stashes(w);
    assert_string_equal(left, "On main: first\n");
}

static void says_that_an_entry_is_gone(void **state)
{
    struct world *w = *state;

    push(w, "first");
    assert_int_equal(drop(w, 1), AL_ERR_EXECUTION);
    assert_string_equal(w->err.message, "The stash entry is no longer there");
    assert_string_equal(w->err.reason, "not_found");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(drops_the_entry_that_is_named),
        WORLD_TEST(drops_as_git_does),
        WORLD_TEST(deletes_the_reference_with_the_last_entry),
        WORLD_TEST(leaves_what_is_pushed_meanwhile),
        WORLD_TEST(says_that_another_git_has_the_lock),
        WORLD_TEST(ends_when_the_stash_keeps_changing),
        WORLD_TEST(says_that_an_entry_is_gone),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/porcelain/stash_drop", tests, NULL, NULL);
}
