// SPDX-License-Identifier: Apache-2.0
/* The contents of a checkpoint are put in place, and what no checkpoint has is never lost. */
#include <sys/stat.h>

#include "history/files.h"
#include "tests/unit/history/restore_lib.h"

/* Files, permissions, links, the index, branches, tags, HEAD and the stash. */
static void puts_back_all_that_changed(void **state)
{
    struct saver *s = *state;
    al_auto(between_clear) struct between b = BETWEEN_INIT;
    al_auto(al_freep) char *before = NULL, *after = NULL;
    char link[16] = "";
    struct stat st;

    tmpdir_write(s->w->repo, "dir/deep/file", "deep\n");
    tmpdir_write(s->w->repo, "run", "#!/bin/sh\n");
    assert_int_equal(fchmodat(s->w->repo->fd, "run", 0755, 0), 0);
    tmpdir_symlink(s->w->repo, "a.txt", "link");
    git_ok(s->w->repo, "add", "run", "link", NULL);
    git_ok(s->w->repo, "branch", "gone", NULL);
    take(s, NULL);
    before = git_view(s);
    assert_int_equal(unlinkat(s->w->repo->fd, "dir/deep/file", 0), 0);
    assert_int_equal(unlinkat(s->w->repo->fd, "dir/deep", AT_REMOVEDIR), 0);
    assert_int_equal(unlinkat(s->w->repo->fd, "link", 0), 0);
    tmpdir_write(s->w->repo, "link/is-a-directory", "x");
    assert_int_equal(fchmodat(s->w->repo->fd, "run", 0600, 0), 0);
    git_ok(s->w->repo, "checkout", "-q", "-b", "new", NULL);
    git_fixture_commit(s->w->repo, "a.txt", "two\n", "second");
    git_ok(s->w->repo, "branch", "-D", "gone", NULL);
    git_ok(s->w->repo, "tag", "v1", NULL);
    tmpdir_write(s->w->repo, "a.txt", "stashed\n");
    git_ok(s->w->repo, "stash", "-q", NULL);
    look(s, &b);
    assert_unsaved(s, &b, "");
    must_apply(s, &b);
    after = git_view(s);
    assert_string_equal(after, before);
    assert_file(s->w->repo, "a.txt", "one\n");
    assert_file(s->w->repo, "dir/deep/file", "deep\n");
    assert_int_equal(fstatat(s->w->repo->fd, "run", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_int_equal(readlinkat(s->w->repo->fd, "link", link, sizeof(link) - 1), 5);
    assert_string_equal(link, "a.txt");
    assert_int_equal(b.report.kept.count, 0);
    take(s, NULL); /* nothing else is different either, and nothing is left lying about */
    al_differences_clear(&b.way.changes);
    assert_int_equal(
        al_checkpoint_changes_of(s->store, b.target, s->id, &b.way.changes, &s->w->err), 0);
    for (size_t i = 0; i < b.way.changes.count; i++)
        print_message("# differs: %s\n", b.way.changes.items[i].name);
    assert_int_equal(b.way.changes.count, 0);
}

static void puts_back_a_merge_that_was_in_progress(void **state)
{
    struct saver *s = *state;
    al_auto(between_clear) struct between b = BETWEEN_INIT;
    al_auto(al_freep) char *before = NULL, *after = NULL;

    git_ok(s->w->repo, "checkout", "-q", "-b", "theirs", NULL);
    git_fixture_commit(s->w->repo, "a.txt", "theirs\n", "theirs");
    git_ok(s->w->repo, "checkout", "-q", "main", NULL);
    git_fixture_commit(s->w->repo, "a.txt", "ours\n", "ours");
    assert_int_not_equal(git_status_of(s->w->repo, "merge", "-q", "theirs", NULL), 0);
    before = git_view(s);
    take(s, NULL);
    git_ok(s->w->repo, "merge", "--abort", NULL);
    look(s, &b);
    must_apply(s, &b);
    after = git_view(s);
    assert_string_equal(after, before);
    tmpdir_write(s->w->repo, "a.txt", "both\n");
    git_ok(s->w->repo, "add", "a.txt", NULL);
    git_ok(s->w->repo, "commit", "-q", "-m", "merged", NULL);
    git_ok(s->w->repo, "rev-parse", "-q", "--verify", "HEAD^2", NULL);
}

/* git gc could remove what no reference reached any more. */
static void brings_back_objects_the_repository_lost(void **state)
{
    struct saver *s = *state;
    al_auto(between_clear) struct between b = BETWEEN_INIT;
    struct al_strv dropping = AL_STRV_INIT;

    git_ok(s->w->repo, "checkout", "-q", "-b", "side", NULL);
    git_fixture_commit(s->w->repo, "b.txt", "side\n", "side");
    git_ok(s->w->repo, "checkout", "-q", "main", NULL);
    al_strv_add(&dropping, "refs/heads/side");
    assert_int_equal(try_take(s, NULL, &dropping), 0);
    al_strv_clear(&dropping);
    git_ok(s->w->repo, "branch", "-D", "side", NULL);
    git_ok(s->w->repo, "reflog", "expire", "--expire=now", "--all", NULL);
    git_ok(s->w->repo, "gc", "-q", "--prune=now", NULL);
    saver_reopen(s, "repo");
    look(s, &b);
    must_apply(s, &b);
    git_ok(s->w->repo, "fsck", "--full", "--strict", "--no-progress", NULL);
    {
        al_auto(al_freep) char *text = git_output(s->w->repo, "show", "side:b.txt", NULL);

        assert_string_equal(text, "side\n");
    }
}

static void keeps_files_that_the_target_could_not_have(void **state)
{
    struct saver *s = *state;
    al_auto(between_clear) struct between b = BETWEEN_INIT;

    tmpdir_write(s->w->repo, ".gitignore", "*.log\n");
    tmpdir_write(s->w->repo, "large", "more than the limit\n");
    tmpdir_write(s->w->repo, "a.log", "ignored\n");
    s->settings.max_file_bytes = 10;
    take(s, NULL);
    s->settings.max_file_bytes = 1u << 20;
    assert_int_equal(unlinkat(s->w->repo->fd, ".gitignore", 0), 0); /* the present has both */
    tmpdir_write(s->w->repo, "new", "n\n");
    look(s, &b);
    must_apply(s, &b);
    assert_file(s->w->repo, ".gitignore", "*.log\n");
    assert_file(s->w->repo, "a.log", "ignored\n");
    assert_file(s->w->repo, "large", "more than the limit\n");
    assert_file(s->w->repo, "new", NULL);
    assert_int_equal(b.report.kept.count, 1);
    assert_true(al_strv_contains(&b.report.kept, "a.log"));
    assert_int_equal(b.report.lacking.count, 1);
    assert_true(al_strv_contains(&b.report.lacking, "large"));
}

static void names_files_that_no_checkpoint_has(void **state)
{
    struct saver *s = *state;
    al_auto(between_clear) struct between b = BETWEEN_INIT;

    tmpdir_write(s->w->repo, "changed", "target\n");
    tmpdir_write(s->w->repo, "same", "target\n");
    tmpdir_write(s->w->repo, "dir", "target\n");
    tmpdir_symlink(s->w->repo, "target", "link");
    tmpdir_symlink(s->w->repo, "target", "same-link");
    tmpdir_write(s->w->repo, "was-file", "target\n");
    tmpdir_write(s->w->repo, "gone", "target\n");
    take(s, NULL);
    tmpdir_write(s->w->repo, ".git/info/exclude", "*\n"); /* so that the present has none */
    al_files_forget(s->store);
    tmpdir_write(s->w->repo, "changed", "since\n");
    assert_int_equal(unlinkat(s->w->repo->fd, "link", 0), 0);
    tmpdir_symlink(s->w->repo, "elsewhere", "link");
    assert_int_equal(unlinkat(s->w->repo->fd, "was-file", 0), 0);
    tmpdir_symlink(s->w->repo, "target", "was-file");
    assert_int_equal(unlinkat(s->w->repo->fd, "gone", 0), 0);
    assert_int_equal(unlinkat(s->w->repo->fd, "dir", 0), 0);
    tmpdir_mkdir(s->w->repo, "dir"); /* which an empty directory does not lose */
    look(s, &b);
    assert_unsaved(s, &b, "changed\nlink\nwas-file\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(puts_back_all_that_changed),
        SAVER_TEST(puts_back_a_merge_that_was_in_progress),
        SAVER_TEST(brings_back_objects_the_repository_lost),
        SAVER_TEST(keeps_files_that_the_target_could_not_have),
        SAVER_TEST(names_files_that_no_checkpoint_has),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("rollback/restore", tests, NULL, NULL);
}
