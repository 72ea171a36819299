// SPDX-License-Identifier: Apache-2.0
/* A restore stops at what changed since, and writes nothing outside. */
#include "tests/unit/history/restore_lib.h"

/* References are moved all or none, and before anything else is touched. */
static void moves_no_reference_that_moved_since(void **state)
{
    struct saver *s = *state;
    al_auto(between_clear) struct between b = BETWEEN_INIT;
    al_auto(al_freep) char *before = NULL, *after = NULL;

    take(s, NULL);
    git_ok(s->w->repo, "branch", "one", NULL);
    git_ok(s->w->repo, "branch", "two", NULL);
    tmpdir_write(s->w->repo, "a.txt", "two\n");
    look(s, &b);
    git_fixture_commit(s->w->repo, "c.txt", "c\n", "just now");
    git_ok(s->w->repo, "branch", "-f", "two", "HEAD", NULL);
    before = git_view(s);
    assert_int_equal(apply(s, &b), AL_ERR_EXECUTION);
    after = git_view(s);
    assert_string_equal(after, before);
    assert_file(s->w->repo, "a.txt", "two\n");
}

static void leaves_a_head_that_moved_since(void **state)
{
    struct saver *s = *state;
    al_auto(between_clear) struct between b = BETWEEN_INIT;

    git_ok(s->w->repo, "branch", "side", NULL);
    git_ok(s->w->repo, "branch", "other", NULL);
    take(s, NULL);
    git_ok(s->w->repo, "checkout", "-q", "side", NULL);
    tmpdir_write(s->w->repo, "a.txt", "two\n");
    look(s, &b);
    git_ok(s->w->repo, "symbolic-ref", "HEAD", "refs/heads/other", NULL);
    assert_int_equal(apply(s, &b), AL_ERR_EXECUTION);
    assert_non_null(strstr(s->w->err.message, "HEAD was moved"));
    assert_file(s->w->repo, ".git/HEAD", "ref: refs/heads/other\n");
    assert_file(s->w->repo, "a.txt", "two\n");
    git_ok(s->w->repo, "symbolic-ref", "HEAD", "refs/heads/side", NULL);
    must_apply(s, &b);
    assert_file(s->w->repo, ".git/HEAD", "ref: refs/heads/main\n");
}

static void waits_for_no_lock_of_gits(void **state)
{
    static const struct {
        const char *lock, *words[3];
    } rows[] = {
        { ".git/HEAD.lock", { "checkout", "-q", "side" } },
        { ".git/config.lock", { "config", "user.name", "Another" } },
    };
    struct saver *s = *state;

    git_ok(s->w->repo, "branch", "side", NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(between_clear) struct between b = BETWEEN_INIT;

        take(s, NULL);
        git_ok(s->w->repo, rows[i].words[0], rows[i].words[1], rows[i].words[2], NULL);
        saver_reopen(s, "repo");
        look(s, &b);
        tmpdir_write(s->w->repo, rows[i].lock, "");
        assert_int_equal(apply(s, &b), AL_ERR_EXECUTION);
        assert_int_equal(s->w->err.code, AL_CODE_LOCK_TIMEOUT);
        assert_file(s->w->repo, rows[i].lock, "");
        assert_int_equal(unlinkat(s->w->repo->fd, rows[i].lock, 0), 0);
        must_apply(s, &b);
        assert_file(s->w->repo, rows[i].lock, NULL);
    }
}

static void writes_through_no_link(void **state)
{
    struct saver *s = *state;
    al_auto(between_clear) struct between b = BETWEEN_INIT;

    tmpdir_write(s->w->repo, "dir/file", "target\n");
    tmpdir_write(s->w->outside, "file", "theirs\n");
    take(s, NULL);
    tmpdir_write(s->w->repo, "dir/file", "since\n");
    tmpdir_write(s->w->repo, "dir/new", "since\n");
    tmpdir_write(s->w->outside, "new", "theirs\n");
    look(s, &b);
    assert_int_equal(renameat(s->w->repo->fd, "dir", s->w->repo->fd, "moved"), 0);
    tmpdir_symlink(s->w->repo, s->w->outside->path, "dir");
    assert_int_equal(apply(s, &b), AL_ERR_EXECUTION);
    assert_file(s->w->outside, "file", "theirs\n");
    assert_file(s->w->outside, "new", "theirs\n");
}

/* A store that was tampered with must not lead out of the working tree. */
static void writes_no_file_whose_name_is_no_plain_path(void **state)
{
    static const char *const names[] = {
        ".git",
        ".git/config",
        ".git/hooks/pre-commit",
        "../escaped",
        "dir/../../escaped",
        "/escaped",
        "dir//file",
        "./file",
        "",
    };
    struct saver *s = *state;
    al_auto(between_clear) struct between b = BETWEEN_INIT;
    al_auto(al_freep) char *config = tmpdir_read(s->w->repo, ".git/config");

    tmpdir_write(s->w->repo, "file", "[core]\n\tpager = touch fired\n");
    take(s, NULL);
    assert_int_equal(unlinkat(s->w->repo->fd, "file", 0), 0);
    look(s, &b);
    assert_int_equal(b.way.changes.count, 1);
    for (size_t i = 0; i < COUNT(names); i++) {
        free(b.way.changes.items[0].name);
        b.way.changes.items[0].name = al_strdup(names[i]);
        assert_unsaved(s, &b, "");
        must_apply(s, &b);
    }
    assert_file(s->w->repo, ".git/config", config);
    assert_file(s->w->repo, ".git/hooks/pre-commit", NULL);
    assert_file(s->w->root, "escaped", NULL);
    assert_file(s->w->repo, "file", NULL);
    free(b.way.changes.items[0].name);
    b.way.changes.items[0].name = al_strdup("file");
    must_apply(s, &b);
    assert_file(s->w->repo, "file", "[core]\n\tpager = touch fired\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(moves_no_reference_that_moved_since),
        SAVER_TEST(leaves_a_head_that_moved_since),
        SAVER_TEST(waits_for_no_lock_of_gits),
        SAVER_TEST(writes_through_no_link),
        SAVER_TEST(writes_no_file_whose_name_is_no_plain_path),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("rollback/restore_races", tests, NULL, NULL);
}
