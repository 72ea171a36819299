// SPDX-License-Identifier: Apache-2.0
/* git/plumbing/batch.h: however many paths there are, no command line is too long and none is
 * lost. */
#include "git/command.h"
#include "git/plumbing/batch.h"
#include "tests/unit/git/lib.h"

/* A word is counted with its NUL and a pointer. */
#define EXTRA (1 + sizeof(char *))

static void add_word(struct al_str *words, char letter, size_t len)
{
    for (size_t i = 0; i < len; i++)
        al_str_addc(words, letter);
    al_str_addc(words, '\0');
}

/* How many of two words that take `bytes` together fit on the first command line. */
static size_t fitting(size_t bytes)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv argv = AL_STRV_INIT;
    size_t at = 0, first;
    bool left;

    add_word(&words, 'a', 10);
    add_word(&words, 'b', bytes - 10 - 2 * EXTRA);
    left = al_batch_add(&argv, &words, &at);
    first = argv.count;
    assert_true(left == (first < 2));
    assert_true(left == (at < words.len));
    if (left)
        assert_false(al_batch_add(&argv, &words, &at));
    assert_int_equal(argv.count, 2);
    assert_int_equal(argv.items[0][0], 'a');
    assert_int_equal(argv.items[1][0], 'b');
    return first;
}

static void fills_a_command_line_to_the_limit(void **state)
{
    size_t limit = al_batch_max_bytes();

    (void)state;
    assert_int_equal(fitting(limit - 1), 2);
    assert_int_equal(fitting(limit), 2);
    assert_int_equal(fitting(limit + 1), 1);
}

static void takes_a_word_that_is_too_long_by_itself(void **state)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv argv = AL_STRV_INIT;
    size_t at = 0;

    (void)state;
    add_word(&words, 'a', 2 * al_batch_max_bytes());
    add_word(&words, 'b', 1);
    assert_true(al_batch_add(&argv, &words, &at));
    assert_int_equal(argv.count, 1);
    assert_false(al_batch_add(&argv, &words, &at));
    assert_int_equal(argv.count, 2);
    assert_false(al_batch_add(&argv, &words, &at)); /* nothing is left */
    assert_int_equal(argv.count, 2);
}

/* The first names listed for `words`, and how many there are. */
static size_t list(struct world *w, const struct al_str *words, char **ret_first)
{
    static const char *const command[] = { "git", "ls-files", "-z", "--full-name", "--", NULL };
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    assert_int_equal(al_batch_list(repo, command, words, &names, NULL), 0);
    *ret_first = al_strdup(names.count ? names.items[0] : "");
    return names.count;
}

static void lists_what_several_batches_name_once_and_in_order(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_freep) char *first = NULL;
    al_auto(al_freep) char *none = NULL;
    size_t batches = 0, at = 0;

    assert_int_equal(list(w, &words, &none), 0);
    git_fixture_commit(w->repo, "b/c.txt", "c\n", "second");
    git_fixture_commit(w->repo, "b/d.txt", "d\n", "third");
    /* Words that name nothing lie between those that do. */
    al_str_add(&words, "b\0a.txt", sizeof("b\0a.txt"));
    for (size_t bytes = 0; bytes <= 2 * al_batch_max_bytes(); bytes += 4000)
        add_word(&words, 'x', 4000);
    al_str_add(&words, "b/d.txt\0a.txt", sizeof("b/d.txt\0a.txt"));
    do {
        al_auto(al_strv_clear) struct al_strv argv = AL_STRV_INIT;

        batches++;
        if (!al_batch_add(&argv, &words, &at))
            break;
    } while (true);
    assert_int_equal(batches, 3);
    assert_int_equal(list(w, &words, &first), 3);
    assert_string_equal(first, "a.txt");
}

/* What differs between two revisions, as airlock and as git list it. */
static void assert_changed(struct world *w, const char *from, const char *to)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *expected =
        git_output(w->repo, "diff", "--name-only", "--no-renames", from, to, NULL);
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;

    assert_int_equal(al_git_list_changed(repo, from, to, &list, NULL), 0);
    for (size_t i = 0; i < list.count; i++)
        al_str_addf(&names, "%s\n", list.items[i]);
    assert_string_equal(names.buf, expected);
}

static void lists_what_differs_between_commits(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *old = git_output(w->repo, "rev-parse", "HEAD", NULL);
    al_auto(al_freep) char *now = NULL, *parent = NULL;

    old[strcspn(old, "\n")] = '\0';
    git_fixture_commit(w->repo, "b/c.txt", "c\n", "second");
    git_fixture_commit(w->repo, "b-c", "d\n", "third");
    git_ok(w->repo, "mv", "a.txt", "d", NULL);
    git_fixture_commit(w->repo, "a.txt/e", "e\n", "a directory in the place of a file");
    now = git_output(w->repo, "rev-parse", "HEAD", NULL);
    now[strcspn(now, "\n")] = '\0';
    parent = al_asprintf("%s^", now);
    assert_changed(w, old, now);
    assert_changed(w, now, old);
    assert_changed(w, now, now);
    assert_changed(w, parent, now); /* an id with something behind it is no id */
    assert_changed(w, now, parent);
    assert_changed(w, "HEAD~2", "HEAD");
}

#define LIST_MAX_BYTES (64 << 20)
#define DEPTH          19
#define NAME_BYTES     200
#define LEAF_BYTES     276 /* behind DEPTH names, each with its '/', a path has 4095 bytes */
#define PATHS          (LIST_MAX_BYTES / 4096)

/* Commits of PATHS files whose names take LIST_MAX_BYTES with their NULs, a byte less, and a byte
 * more: the branches "limit", "less" and "more"; "none" has no file. */
static void commit_long_paths(struct world *w)
{
    static const char who[] = "committer A <a@example.org> 1 +0000\ndata 0\n";
    al_auto(al_str_clear) struct al_str stream = AL_STR_INIT, dir = AL_STR_INIT;

    for (size_t i = 0; i < DEPTH * (NAME_BYTES + 1); i++)
        al_str_addc(&dir, (i + 1) % (NAME_BYTES + 1) ? 'd' : '/');
    al_str_truncate(&dir, dir.len - 1);
    al_str_addf(&stream, "commit refs/heads/none\n%scommit refs/heads/limit\n%s", who, who);
    for (int i = 0; i < PATHS; i++)
        al_str_addf(&stream, "M 100644 inline l/%0*d\ndata 0\n\n", LEAF_BYTES, i);
    al_str_addf(&stream, "R l %s\n", dir.buf);
    for (int more = -1; more <= 1; more += 2)
        al_str_addf(&stream, "commit refs/heads/%s\n%sfrom refs/heads/limit\nR %s/%0*d %s/%0*d\n",
                    more < 0 ? "less" : "more", who, dir.buf, LEAF_BYTES, 0, dir.buf,
                    LEAF_BYTES + more, 0);
    tmpdir_write(w->repo, "stream", stream.buf);
    git_ok(w->repo, "-c", "alias.load=!git fast-import --quiet <stream", "load", NULL);
}

static void lists_what_differs_to_the_limit(void **state)
{
    static const char *const names[] = { "less", "limit", "more" };
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

    commit_long_paths(w);
    for (size_t i = 0; i < AL_COUNT(names); i++) {
        al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        int r = al_git_list_changed(repo, "none", names[i], &list, &err);

        assert_int_equal(r, i < 2 ? 0 : AL_ERR_EXECUTION);
        if (r == 0)
            assert_int_equal(list.count, PATHS);
        else
            assert_string_equal(err.message,
                                "Too many changed files for one call; name fewer paths");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_a_command_line_to_the_limit),
        cmocka_unit_test(takes_a_word_that_is_too_long_by_itself),
        WORLD_TEST(lists_what_several_batches_name_once_and_in_order),
        WORLD_TEST(lists_what_differs_between_commits),
        WORLD_TEST(lists_what_differs_to_the_limit),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/batch", tests, NULL, NULL);
}
