// SPDX-License-Identifier: Apache-2.0
/* verbs/porcelain/patch_files.c: all patches together are git's own diff, and either all of them
 * are written or none. */
#include "verbs/porcelain/patch_files.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/unit/git/lib.h"

/* Write the patches of HEAD~1..HEAD into <root>/out; false sets w->err. */
static bool write_out(struct world *w, struct al_strv *names)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(subdir_closep) struct tmpdir *out = subdir_open(w->root, "out");
    al_auto(al_freep) char *path = tmpdir_path(w->root, "out");
    const struct al_diff_options options = { .unified = -1,
                                             .from_ref = "HEAD~1",
                                             .to_ref = "HEAD" };

    al_error_clear(&w->err);
    return al_git_write_patches(repo, &options, &(struct al_path){ .abs = path, .fd = out->fd },
                                NULL, names, &w->err) == 0;
}

static size_t count_files(struct world *w)
{
    al_auto(al_freep) char *path = tmpdir_path(w->root, "out");
    DIR *dir = opendir(path);
    const struct dirent *entry;
    size_t count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return count;
}

/* The output of plain git for the same two commits, byte for byte, with unquoted names. */
static void read_diff(struct world *w, struct al_str *ret_diff)
{
    git_ok(w->repo, "-c",
           "alias.whole=!git -c core.quotePath=false diff --no-renames HEAD~1 HEAD >../expected",
           "whole", NULL);
    assert_int_equal(al_fs_read(w->root->fd, "expected", 64u << 20, ret_diff), 0);
}

/* Assert that the patch files, one after the other, are that diff. */
static void assert_equals(struct world *w, const struct al_strv *names,
                          const struct al_str *expected)
{
    al_auto(al_str_clear) struct al_str whole = AL_STR_INIT;
    al_auto(subdir_closep) struct tmpdir *out = subdir_open(w->root, "out");

    for (size_t i = 0; i < names->count; i++) {
        al_auto(al_str_clear) struct al_str patch = AL_STR_INIT;

        assert_int_equal(al_fs_read(out->fd, names->items[i], 64u << 20, &patch), 0);
        assert_true(al_starts_with(patch.buf, "diff --git "));
        al_str_add(&whole, patch.buf, patch.len);
    }
    assert_int_equal(whole.len, expected->len);
    assert_memory_equal(whole.buf, expected->buf, whole.len);
    assert_int_equal(count_files(w), names->count);
}

static void assert_whole(struct world *w, const struct al_strv *names)
{
    al_auto(al_str_clear) struct al_str expected = AL_STR_INIT;

    read_diff(w, &expected);
    assert_equals(w, names, &expected);
}

static void commit_all(struct world *w, const char *message)
{
    git_ok(w->repo, "add", "-A", NULL);
    git_ok(w->repo, "commit", "-q", "-m", message, NULL);
}

static void assert_names(const struct al_strv *names, const char *const *expected)
{
    for (size_t i = 0; i < names->count; i++) {
        assert_non_null(expected[i]);
        assert_string_equal(names->items[i], expected[i]);
    }
    assert_null(expected[names->count]);
}

static void remove_file(struct world *w, const char *name)
{
    assert_int_equal(unlinkat(w->repo->fd, name, 0), 0);
}

/* Make a commit with every kind of change git knows, on top of one with every kind of file. */
static void make_changes(struct world *w)
{
    tmpdir_write(w->repo, "deleted", "gone\n");
    tmpdir_write(w->repo, "mode", "x\n");
    tmpdir_write(w->repo, "old-name", "many\nlines\nthat\nmove\n");
    tmpdir_write(w->repo, "to-link", "a file\n");
    tmpdir_symlink(w->repo, "a.txt", "to-file");
    tmpdir_write_bytes(w->repo, "binary", "\0\1\2", 3);
    tmpdir_write(w->repo, "headers", "before\n");
    tmpdir_write(w->repo, "no-newline", "x");
    commit_all(w, "before");
    remove_file(w, "deleted");
    assert_int_equal(fchmodat(w->repo->fd, "mode", 0755, 0), 0);
    assert_int_equal(renameat(w->repo->fd, "old-name", w->repo->fd, "renamed"), 0);
    remove_file(w, "to-link");
    tmpdir_symlink(w->repo, "a.txt", "to-link");
    remove_file(w, "to-file");
    tmpdir_write(w->repo, "to-file", "diff --git a/x b/x\n");
    tmpdir_write_bytes(w->repo, "binary", "\0\3diff --git \n", 15);
    tmpdir_write(w->repo, "headers", "diff --git a b\n before\n+diff --git a b\n\ndiff --git ");
    tmpdir_write(w->repo, "no-newline", "diff --git ");
    tmpdir_write(w->repo, "added/deep", "new\n");
    tmpdir_write(w->repo, "empty", "");
    commit_all(w, "after");
}

static const char *const changed[] = {
    "added__deep.patch", "binary.patch",  "deleted.patch",    "empty.patch",
    "headers.patch",     "mode.patch",    "no-newline.patch", "old-name.patch",
    "renamed.patch",     "to-file.patch", "to-link.patch",    NULL,
};

static void writes_every_kind_of_change(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    make_changes(w);
    assert_true(write_out(w, &names));
    assert_names(&names, changed);
    assert_whole(w, &names);
}

static void writes_nothing_for_no_change(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    git_ok(w->repo, "commit", "-q", "--allow-empty", "-m", "nothing", NULL);
    assert_true(write_out(w, &names));
    assert_int_equal(names.count, 0);
    assert_int_equal(count_files(w), 0);
}

static void tells_colliding_names_apart(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    tmpdir_write(w->repo, "a/b", "1\n");
    tmpdir_write(w->repo, "a__b", "2\n");
    tmpdir_write(w->repo, "a__b-2", "3\n");
    tmpdir_write(w->repo, "c\nd", "4\n");
    tmpdir_write(w->repo, "c\td", "5\n");
    tmpdir_write(w->repo, "e\xff", "6\n");
    tmpdir_write(w->repo, "\xc3\xa9 f", "7\n");
    commit_all(w, "all");
    assert_true(write_out(w, &names));
    assert_names(&names,
                 (const char *[]){ "a__b.patch", "a__b-2.patch", "a__b-2-2.patch", "c_d.patch",
                                   "c_d-2.patch", "e_.patch", "\xc3\xa9 f.patch", NULL });
    assert_whole(w, &names);
}

/* Whether a change of one file with a name of this length can be written. */
static bool writes_name_of(struct world *w, size_t len)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_freep) char *name = al_malloc(len + 1);
    al_auto(al_freep) char *out = tmpdir_path(w->root, "out");
    bool written;

    memset(name, 'n', len);
    name[len] = '\0';
    git_fixture_commit(w->repo, name, "x\n", "long");
    written = write_out(w, &names);
    assert_int_equal(count_files(w), written);
    al_fs_remove_tree(out);
    return written;
}

static void refuses_a_name_that_is_too_long(void **state)
{
    struct world *w = *state;

    assert_true(writes_name_of(w, 255 - strlen(".patch") - 1));
    assert_true(writes_name_of(w, 255 - strlen(".patch")));
    assert_false(writes_name_of(w, 255 - strlen(".patch") + 1));
    assert_non_null(strstr(w->err.message, "too long"));
}

static void leaves_nothing_when_git_fails(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_freep) char *blob = NULL, *object = NULL;

    make_changes(w);
    blob = git_output(w->repo, "rev-parse", "HEAD:no-newline", NULL);
    object = al_asprintf(".git/objects/%.2s/%.38s", blob, blob + 2);
    assert_int_equal(unlinkat(w->repo->fd, object, 0), 0);
    assert_false(write_out(w, &names)); /* after several patches were written */
    assert_int_equal(w->err.status, AL_ERR_EXECUTION);
    assert_int_equal(count_files(w), 0);
}

/* Like a full disk: no file can become larger than this. */
static int write_with_limit(struct world *w, rlim_t max_bytes)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    struct rlimit limit;

    (void)signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
        return 100;
    limit.rlim_cur = max_bytes;
    if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
        return 101;
    return write_out(w, &names) ? 0 : -w->err.status;
}

static void leaves_nothing_when_the_disk_is_full(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int status;
    pid_t pid;

    tmpdir_write(w->repo, "aa", "small\n");
    for (int i = 0; i < 20000; i++)
        al_str_addf(&text, "line %d\n", i);
    tmpdir_write(w->repo, "large", text.buf);
    commit_all(w, "large");
    pid = fork();
    if (pid == 0)
        _exit(write_with_limit(w, 20000));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), -AL_ERR_EXECUTION);
    assert_int_equal(count_files(w), 0);
}

/* Many small patches, so that their headers fall on every position of git's writes and the
 * reads. */
static void finds_the_headers_in_much_output(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    for (int i = 0; i < 1500; i++) {
        al_auto(al_freep) char *name = al_asprintf("many/%d", i);
        al_auto(al_freep) char *text = al_asprintf("%.*s\n", i % 41, changed[i % 5]);

        tmpdir_write(w->repo, name, text);
    }
    commit_all(w, "many");
    assert_true(write_out(w, &names));
    assert_int_equal(names.count, 1500);
    assert_whole(w, &names);
}

static void refuses_an_existing_file_and_leaves_nothing(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    make_changes(w);
    for (size_t i = 0; changed[i]; i++) {
        al_auto(al_freep) char *there = al_asprintf("out/%s", changed[i]);
        al_auto(al_freep) char *message = al_asprintf(
            "output_dir: '%s' exists already; remove it or choose another directory", changed[i]);
        al_auto(al_freep) char *kept = NULL;

        tmpdir_write(w->root, there, "mine\n");
        assert_false(write_out(w, &names));
        assert_string_equal(w->err.message, message);
        assert_int_equal(count_files(w), 1);
        kept = tmpdir_read(w->root, there);
        assert_string_equal(kept, "mine\n");
        assert_int_equal(unlinkat(w->root->fd, there, 0), 0);
    }
    assert_int_equal(names.count, 0);
    assert_true(write_out(w, &names));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(writes_every_kind_of_change),
        WORLD_TEST(writes_nothing_for_no_change),
        WORLD_TEST(tells_colliding_names_apart),
        WORLD_TEST(refuses_a_name_that_is_too_long),
        WORLD_TEST(leaves_nothing_when_git_fails),
        WORLD_TEST(leaves_nothing_when_the_disk_is_full),
        WORLD_TEST(finds_the_headers_in_much_output),
        WORLD_TEST(refuses_an_existing_file_and_leaves_nothing),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("verbs/patches", tests, NULL, NULL);
}
