// SPDX-License-Identifier: Apache-2.0
/* rollback/restore.h: what a checkpoint has is put in place, and what no checkpoint has is never
 * lost. */
#include "rollback/restore.h"

#include <sys/stat.h>

#include "tests/unit/rollback/lib.h"

/** Two checkpoints, and what lies between them. */
struct between {
    char target[AL_OID_TEXT], present[AL_OID_TEXT];
    struct al_differences changes;
    struct al_saved_state from, to;
    struct al_run_limits limits;
    struct tmpdir *git_dir;
    struct al_strv kept;
};

static void between_clear(struct between *b)
{
    al_differences_clear(&b->changes);
    al_saved_state_clear(&b->from);
    al_saved_state_clear(&b->to);
    al_strv_clear(&b->kept);
    if (b->git_dir)
        subdir_close(b->git_dir);
}

/* Take the checkpoint of the present, to go back to s->id. */
static void look(struct saver *s, struct between *b)
{
    b->limits = long_budget();
    memcpy(b->target, s->id, sizeof(b->target));
    take(s, NULL);
    memcpy(b->present, s->id, sizeof(b->present));
    assert_int_equal(al_checkpoint_state(s->store, b->target, &b->limits, &b->to, &s->w->err), 0);
    assert_int_equal(al_checkpoint_state(s->store, b->present, &b->limits, &b->from, &s->w->err),
                     0);
    assert_int_equal(
        al_checkpoint_compare(s->store, b->present, b->target, &b->limits, &b->changes, &s->w->err),
        0);
    b->git_dir = subdir_open(s->w->repo, ".git");
}

static struct al_restore restore_of(struct saver *s, struct between *b)
{
    return (struct al_restore){
        .store = s->store,
        .repo = s->repo,
        .present = b->present,
        .target = b->target,
        .changes = &b->changes,
        .from = &b->from,
        .to = &b->to,
        .token = "0123456789abcdef",
        .budget = &b->limits,
        .top_fd = s->w->repo->fd,
        .git_fd = b->git_dir->fd,
        .common_fd = b->git_dir->fd,
    };
}

static int apply(struct saver *s, struct between *b)
{
    const struct al_restore restore = restore_of(s, b);

    al_error_clear(&s->w->err);
    return al_restore_apply(&restore, &b->kept, &s->w->err);
}

static void must_apply(struct saver *s, struct between *b)
{
    int r = apply(s, b);

    if (r < 0)
        print_message("# %s\n", s->w->err.message);
    assert_int_equal(r, 0);
}

/* "<name>\n" of what would be lost. */
static void assert_unsaved(struct saver *s, struct between *b, const char *expected)
{
    const struct al_restore restore = restore_of(s, b);
    al_auto(al_strv_clear) struct al_strv unsaved = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_restore_check(&restore, &unsaved);
    for (size_t i = 0; i < unsaved.count; i++)
        al_str_addf(&text, "%s\n", unsaved.items[i]);
    assert_string_equal(text.buf ? text.buf : "", expected);
}

static void assert_file(const struct tmpdir *dir, const char *name, const char *expected)
{
    al_auto(al_freep) char *text = tmpdir_read(dir, name);

    if (!expected) {
        assert_null(text);
        return;
    }
    assert_non_null(text);
    assert_string_equal(text, expected);
}

/* All that git says about the repository.  Caller frees. */
static char *git_view(const struct saver *s)
{
    al_auto(al_freep) char *status =
        git_output(s->w->repo, "status", "--porcelain=v2", "--branch", "--ignored", NULL);
    al_auto(al_freep) char *refs = git_output(s->w->repo, "for-each-ref", NULL);
    al_auto(al_freep) char *staged = git_output(s->w->repo, "ls-files", "--stage", NULL);

    return al_asprintf("%s%s%s", status, refs, staged);
}

/* Files, permissions, links, the index, branches, tags, HEAD and the stash. */
static void puts_back_all_that_changed(void **state)
{
    struct saver *s = *state;
    al_auto(between_clear) struct between b = { .limits = { .left_ms = 0 } };
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
    assert_int_equal(b.kept.count, 0);
    take(s, NULL); /* nothing else is different either, and nothing is left lying about */
    al_differences_clear(&b.changes);
    assert_int_equal(
        al_checkpoint_compare(s->store, b.target, s->id, &b.limits, &b.changes, &s->w->err), 0);
    for (size_t i = 0; i < b.changes.count; i++)
        print_message("# differs: %s\n", b.changes.items[i].name);
    assert_int_equal(b.changes.count, 0);
}

static void puts_back_a_merge_that_was_in_progress(void **state)
{
    struct saver *s = *state;
    al_auto(between_clear) struct between b = { .limits = { .left_ms = 0 } };
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
    al_auto(between_clear) struct between b = { .limits = { .left_ms = 0 } };
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
    al_auto(between_clear) struct between b = { .limits = { .left_ms = 0 } };

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
    assert_int_equal(b.kept.count, 2);
    assert_true(al_strv_contains(&b.kept, "a.log"));
    assert_true(al_strv_contains(&b.kept, "large"));
}

static void names_files_that_no_checkpoint_has(void **state)
{
    struct saver *s = *state;
    al_auto(between_clear) struct between b = { .limits = { .left_ms = 0 } };

    tmpdir_write(s->w->repo, "changed", "target\n");
    tmpdir_write(s->w->repo, "same", "target\n");
    tmpdir_write(s->w->repo, "dir", "target\n");
    tmpdir_symlink(s->w->repo, "target", "link");
    tmpdir_symlink(s->w->repo, "target", "same-link");
    tmpdir_write(s->w->repo, "was-file", "target\n");
    tmpdir_write(s->w->repo, "gone", "target\n");
    take(s, NULL);
    tmpdir_write(s->w->repo, ".git/info/exclude", "*\n"); /* so that the present has none */
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

/* References are moved all or none, and before anything else is touched. */
static void moves_no_reference_that_moved_since(void **state)
{
    struct saver *s = *state;
    al_auto(between_clear) struct between b = { .limits = { .left_ms = 0 } };
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
    al_auto(between_clear) struct between b = { .limits = { .left_ms = 0 } };

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
        al_auto(between_clear) struct between b = { .limits = { .left_ms = 0 } };

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
    al_auto(between_clear) struct between b = { .limits = { .left_ms = 0 } };

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
    al_auto(between_clear) struct between b = { .limits = { .left_ms = 0 } };
    al_auto(al_freep) char *config = tmpdir_read(s->w->repo, ".git/config");

    tmpdir_write(s->w->repo, "file", "[core]\n\tpager = touch fired\n");
    take(s, NULL);
    assert_int_equal(unlinkat(s->w->repo->fd, "file", 0), 0);
    look(s, &b);
    assert_int_equal(b.changes.count, 1);
    for (size_t i = 0; i < COUNT(names); i++) {
        free(b.changes.items[0].name);
        b.changes.items[0].name = al_strdup(names[i]);
        assert_unsaved(s, &b, "");
        must_apply(s, &b);
    }
    assert_file(s->w->repo, ".git/config", config);
    assert_file(s->w->repo, ".git/hooks/pre-commit", NULL);
    assert_file(s->w->root, "escaped", NULL);
    assert_file(s->w->repo, "file", NULL);
    free(b.changes.items[0].name);
    b.changes.items[0].name = al_strdup("file");
    must_apply(s, &b);
    assert_file(s->w->repo, "file", "[core]\n\tpager = touch fired\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(puts_back_all_that_changed),
        SAVER_TEST(puts_back_a_merge_that_was_in_progress),
        SAVER_TEST(brings_back_objects_the_repository_lost),
        SAVER_TEST(keeps_files_that_the_target_could_not_have),
        SAVER_TEST(names_files_that_no_checkpoint_has),
        SAVER_TEST(moves_no_reference_that_moved_since),
        SAVER_TEST(leaves_a_head_that_moved_since),
        SAVER_TEST(waits_for_no_lock_of_gits),
        SAVER_TEST(writes_through_no_link),
        SAVER_TEST(writes_no_file_whose_name_is_no_plain_path),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("rollback/restore", tests, NULL, NULL);
}
