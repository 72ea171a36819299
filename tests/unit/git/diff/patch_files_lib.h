// SPDX-License-Identifier: Apache-2.0
/* Helpers for the tests of patch files. The source is included instead of linked, because tests
 * feed its sink by hand. */
#ifndef TESTS_UNIT_GITOPS_DIFF_PATCH_FILES_LIB_H
#define TESTS_UNIT_GITOPS_DIFF_PATCH_FILES_LIB_H

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "git/command.h"
#include "git/diff/diff.h"
#include "git/diff/patch_files.c"
#include "git/diff/patch_files.h"
#include "tests/unit/git/lib.h"

/* Write the patches of HEAD~1..HEAD into <root>/out. Returns the file names, or NULL and sets
 * w->err. */

static inline bool write_over(struct world *w, const struct al_replacing *replacing,
                              struct al_strv *names)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(subdir_closep) struct tmpdir *out = subdir_open(w->root, "out");
    const struct al_diff_options options = { .unified = -1,
                                             .from_ref = "HEAD~1",
                                             .to_ref = "HEAD" };
    struct al_run_limits budget = long_budget();

    al_error_clear(&w->err);
    return al_git_write_patches(repo, &options, out->fd, replacing, &budget, names, &w->err) == 0;
}

static inline bool write_out(struct world *w, struct al_strv *names)
{
    return write_over(w, NULL, names);
}

static inline size_t count_files(struct world *w)
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
static inline void read_diff(struct world *w, const char *options, struct al_str *ret_diff)
{
    al_auto(al_freep) char *alias = al_asprintf(
        "alias.whole=!git -c core.quotePath=false diff %s --no-renames HEAD~1 HEAD >../expected",
        options);

    git_ok(w->repo, "-c", alias, "whole", NULL);
    assert_int_equal(al_fs_read(w->root->fd, "expected", 64u << 20, ret_diff), 0);
}

/* Assert that the patch files, one after the other, are that diff. */
static inline void assert_equals(struct world *w, const struct al_strv *names,
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

static inline void assert_whole(struct world *w, const struct al_strv *names)
{
    al_auto(al_str_clear) struct al_str expected = AL_STR_INIT;

    read_diff(w, "", &expected);
    assert_equals(w, names, &expected);
}

static inline void commit_all(struct world *w, const char *message)
{
    git_ok(w->repo, "add", "-A", NULL);
    git_ok(w->repo, "commit", "-q", "-m", message, NULL);
}

static inline void assert_names(const struct al_strv *names, const char *const *expected)
{
    for (size_t i = 0; i < names->count; i++) {
        assert_non_null(expected[i]);
        assert_string_equal(names->items[i], expected[i]);
    }
    assert_null(expected[names->count]);
}

static inline void remove_file(struct world *w, const char *name)
{
    assert_int_equal(unlinkat(w->repo->fd, name, 0), 0);
}

/* Make a commit with every kind of change git knows, on top of one with every kind of file. */
static inline void make_changes(struct world *w)
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

#endif
