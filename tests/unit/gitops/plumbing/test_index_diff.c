// SPDX-License-Identifier: Apache-2.0
/* gitops/plumbing/index_diff.h: what differs from the index, told without git. */
#include "gitops/plumbing/index_diff.h"

#include <fcntl.h>
#include <unistd.h>

#include "gitops/oid.h"
#include "tests/unit/gitops/plumbing/index_diff_lib.h"
#include "util/fs.h"

static void lists_what_git_lists(void **state)
{
    static const char *const commands[][5] = {
        { "status", NULL }, /* nothing */
        { "rm", "-q", "--cached", "a.txt", NULL },
        { "rm", "-q", "dir0/sub/file0", NULL },
        { "mv", "dir1/sub/file1", "dir1/moved", NULL },
        { "update-index", "--chmod=+x", "dir0/sub/file2", NULL },
        { "rm", "-q", "-rf", "dir1", NULL },
        { "reset", "-q", "--hard", NULL },
        { "commit", "-q", "--allow-empty", "-mempty", NULL },
        { "gc", "-q", NULL },
        { "rm", "-q", "--cached", "dir1/sub/file3", NULL },
    };
    struct world *w = *state;

    begin(w);
    for (size_t i = 0; i < COUNT(commands); i++) {
        const char *const *words = commands[i];

        git_ok(w->repo, words[0], words[1], words[1] ? words[2] : NULL,
               words[1] && words[2] ? words[3] : NULL, NULL);
        assert_has_all(w, false);
        make_old(w);
        assert_has_all(w, true);
    }
}

static void lists_what_changed_in_the_files(void **state)
{
    struct world *w = *state;

    begin(w);
    assert_has_all(w, true);
    tmpdir_write(w->repo, "a.txt", "two\n"); /* the same length */
    assert_has_all(w, true);
    assert_int_equal(unlinkat(w->repo->fd, "dir0/sub/file0", 0), 0);
    assert_has_all(w, true);
    assert_int_equal(fchmodat(w->repo->fd, "dir0/sub/file2", 0755, 0), 0);
    assert_has_all(w, true);
    assert_int_equal(renameat(w->repo->fd, "dir1", w->repo->fd, "elsewhere"), 0);
    assert_has_all(w, true);
    assert_int_equal(symlinkat("elsewhere", w->repo->fd, "dir1"), 0); /* the files are not there */
    assert_has_all(w, true);
    tmpdir_write(w->repo, "new", "only its name\n");
    git_ok(w->repo, "add", "-N", "new", NULL);
    assert_has_all(w, false);
}

/* git gives an entry the size 0 if its file may have changed since.  An empty file is then none
 * that is unchanged. */
static void believes_no_size_of_zero(void **state)
{
    static const unsigned char empty[] = { 0xe6, 0x9d, 0xe2, 0x9b, 0xb2, 0xd1, 0xd6, 0x43 };
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str index = AL_STR_INIT;
    al_auto(al_freep) char *committed = NULL;
    struct al_oid id;
    unsigned char *oid;
    int fd;

    begin(w);
    committed = git_output(w->repo, "rev-parse", "HEAD:a.txt", NULL);
    assert_true(al_oid_parse(committed, false, &id));
    tmpdir_write(w->repo, "a.txt", "");
    git_ok(w->repo, "add", "a.txt", NULL);
    make_old(w);
    assert_int_equal(al_fs_read(w->repo->fd, ".git/index", 1 << 20, &index), 0);
    oid = memmem(index.buf, index.len, empty, sizeof(empty));
    assert_non_null(oid);
    memcpy(oid, id.bytes, 20); /* nothing but the size tells */
    fd = openat(w->repo->fd, ".git/index", O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, index.buf, index.len), (ssize_t)index.len);
    assert_int_equal(close(fd), 0);
    assert_has_all(w, true);
}

static void leaves_submodules_to_git(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    begin(w);
    git_ok(w->repo, "update-index", "--add", "--cacheinfo",
           "160000,1111111111111111111111111111111111111111,sub", NULL);
    assert_false(differing(w, &names));
    git_ok(w->repo, "commit", "-q", "-m", "sub", NULL);
    git_ok(w->repo, "rm", "-q", "--cached", "sub", NULL);
    assert_false(differing(w, &names)); /* the commit has it */
    assert_int_equal(names.count, 0);
}

static void leaves_many_changes_to_git(void **state)
{
    struct world *w = *state;

    for (size_t count = AL_INDEX_DIFF_FILES_MAX - 1; count <= AL_INDEX_DIFF_FILES_MAX + 1;
         count++) {
        al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

        for (size_t i = 0; i < count; i++) {
            al_auto(al_freep) char *name = al_asprintf("many%zu", i);

            tmpdir_write(w->repo, name, "one\n");
        }
        git_ok(w->repo, "add", "-A", NULL);
        git_ok(w->repo, "commit", "-q", "-m", "many", NULL);
        make_old(w);
        for (size_t i = 0; i < count; i++) {
            al_auto(al_freep) char *name = al_asprintf("many%zu", i);

            tmpdir_write(w->repo, name, "two\n");
        }
        assert_int_equal(differing(w, &names), count <= AL_INDEX_DIFF_FILES_MAX);
        git_ok(w->repo, "rm", "-q", "-r", "-f", "--ignore-unmatch", "many*", NULL);
    }
}

/* What is found below the paths, one a line; NULL: it is left to git. */
static char *below(struct world *w, const char *first, const char *second)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    struct al_str text = AL_STR_INIT;

    al_strv_adds(&paths, first, second, NULL);
    if (!al_index_diff_below(repo, &paths, &names))
        return NULL;
    for (size_t i = 0; i < names.count; i++)
        al_str_addf(&text, "%s\n", names.items[i]);
    return al_str_detach(&text);
}

static void compares_what_is_below_the_paths(void **state)
{
    static const struct {
        const char *first, *second, *found;
    } rows[] = {
        { "dir0/sub/file0", NULL, "dir0/sub/file0\n" },
        { "dir0", NULL, "dir0/sub/file0\ndir0/sub/file2\n" },
        { "dir0/sub", "dir1/sub/file1", "dir0/sub/file0\ndir0/sub/file2\ndir1/sub/file1\n" },
        { "dir0/sub/file", NULL, "" },
        { "dir0/sub/file00", NULL, "" },
        { "dir0/sub/file4", NULL, "" },
        { "dir", NULL, "" }, /* a file beside dir0/ and dir1/ */
        { "di", NULL, "" },
        { "nothing", NULL, "" },
    };
    struct world *w = *state;

    begin(w);
    tmpdir_write(w->repo, "dir0/sub/file0", "two and more\n");
    tmpdir_write(w->repo, "dir1/sub/file1", "two and more\n");
    assert_int_equal(unlinkat(w->repo->fd, "dir0/sub/file2", 0), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *found = below(w, rows[i].first, rows[i].second);

        assert_non_null(found);
        assert_string_equal(found, rows[i].found);
    }
}

/* A submodule elsewhere does not matter; one in or around a path is left to git. */
static void leaves_submodules_in_the_paths_to_git(void **state)
{
    static const struct {
        const char *path;
        bool is_left;
    } rows[] = {
        { "dir0", false }, { "sub0", false }, { "sub", true }, { "sub/file", true }, { "su", false }
    };
    struct world *w = *state;

    begin(w);
    git_ok(w->repo, "update-index", "--add", "--cacheinfo",
           "160000,1111111111111111111111111111111111111111,sub", NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *found = below(w, rows[i].path, NULL);

        assert_int_equal(!found, rows[i].is_left);
    }
}

/* The other entries of a large index do not count. */
static void counts_what_is_below_the_paths(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_freep) char *found = NULL;

    begin(w);
    for (unsigned entries = 1; entries <= AL_INDEX_DIFF_ENTRIES_MAX; entries *= 2) {
        al_auto(al_freep) char *tree = git_output(w->repo, "write-tree", NULL);
        al_auto(al_freep) char *prefix = al_asprintf("--prefix=more%u/", entries);

        tree[strcspn(tree, "\n")] = '\0';
        git_ok(w->repo, "read-tree", prefix, tree, NULL);
    }
    tmpdir_write(w->repo, "dir0/sub/file0", "two and more\n");
    assert_false(differing(w, &names));
    found = below(w, "dir0", NULL);
    assert_string_equal(found, "dir0/sub/file0\n");
    assert_null(below(w, "more4096", NULL));
}

static void takes_some_paths(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    for (size_t i = 1; i <= AL_INDEX_DIFF_PATHS_MAX + 1; i++) {
        al_strv_addf(&paths, "path%zu", i);
        assert_int_equal(al_index_diff_below(repo, &paths, &names), i <= AL_INDEX_DIFF_PATHS_MAX);
    }
    assert_int_equal(names.count, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(lists_what_git_lists),
        WORLD_TEST(lists_what_changed_in_the_files),
        WORLD_TEST(believes_no_size_of_zero),
        WORLD_TEST(leaves_submodules_to_git),
        WORLD_TEST(leaves_many_changes_to_git),
        WORLD_TEST(compares_what_is_below_the_paths),
        WORLD_TEST(leaves_submodules_in_the_paths_to_git),
        WORLD_TEST(counts_what_is_below_the_paths),
        WORLD_TEST(takes_some_paths),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/plumbing/index_diff", tests, NULL, NULL);
}
