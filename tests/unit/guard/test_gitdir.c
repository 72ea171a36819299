// SPDX-License-Identifier: Apache-2.0
/* guard/gitdir.h: git directories are recognised by their parts, and so is everything inside them.
 */
#include "guard/gitdir.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/str.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static void make_bare(struct tmpdir *dir, const char *name)
{
    static const char *const parts[] = { "HEAD", "objects/x", "refs/x", "hooks/x" };

    for (size_t i = 0; i < COUNT(parts); i++) {
        al_auto(al_freep) char *path = al_asprintf("%s/%s", name, parts[i]);

        tmpdir_write(dir, path, "");
    }
}

static bool holds(const struct tmpdir *dir, const char *name, const char *coming)
{
    int fd = openat(dir->fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool answer;

    assert_true(fd >= 0);
    answer = al_gitdir_contains(fd, coming);
    close(fd);
    return answer;
}

static void any_name_and_any_depth(void **state)
{
    struct tmpdir *dir = tmpdir_new();

    (void)state;
    make_bare(dir, "hub.git");
    make_bare(dir, "meta");
    tmpdir_write(dir, "meta/a/b/c/x", "");
    tmpdir_write(dir, "way/x", "");
    tmpdir_symlink(dir, "meta", "link");
    assert_false(holds(dir, ".", "config"));
    assert_false(holds(dir, "way", "config"));
    assert_false(holds(dir, "way", "HEAD"));
    assert_true(holds(dir, "hub.git", "config"));
    assert_true(holds(dir, "hub.git", NULL));
    assert_true(holds(dir, "meta/hooks", "post-commit"));
    assert_true(holds(dir, "meta/a/b/c", "x"));
    assert_true(holds(dir, "link", "config"));
    assert_true(holds(dir, "link/hooks", "config"));
    tmpdir_free(dir);
}

/* Whether a name completes each set of parts. */
static void what_a_name_would_complete(void **state)
{
    static const struct {
        const char *parts[4], *coming;
        bool holds;
    } cases[] = {
        { { "objects/x", "refs/x" }, "HEAD", true },
        { { "objects/x", "refs/x" }, "head", true },
        { { "objects/x", "refs/x" }, "config", false },
        { { "objects/x", "refs/x" }, "HEADS", false },
        { { "objects/x", "refs/x" }, NULL, false },
        { { "HEAD", "refs/x" }, "objects", true },
        { { "HEAD", "objects/x" }, "refs", true },
        { { "HEAD", "objects/x" }, "ref", false },
        { { "HEAD" }, "objects", false },
        { { "HEAD" }, "commondir", true },
        { { "HEAD" }, "CommonDir", true },
        { { "commondir" }, "HEAD", true },
        { { "commondir" }, "config", false },
        { { "commondir", "HEAD" }, "config", true },
        { { "commondir", "objects/x", "refs/x" }, "config", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tmpdir *dir = tmpdir_new();

        for (size_t k = 0; k < COUNT(cases[i].parts) && cases[i].parts[k]; k++) {
            al_auto(al_freep) char *path = al_asprintf("d/%s", cases[i].parts[k]);

            tmpdir_write(dir, path, "");
        }
        print_message("# %zu\n", i);
        assert_int_equal(holds(dir, "d", cases[i].coming), cases[i].holds);
        tmpdir_free(dir);
    }
}

/* Links count wherever they lead: git follows them. */
static void parts_may_be_links(void **state)
{
    struct tmpdir *dir = tmpdir_new();

    (void)state;
    tmpdir_mkdir(dir, "d");
    tmpdir_symlink(dir, "refs/heads/main", "d/HEAD");
    tmpdir_symlink(dir, "nowhere", "d/objects");
    tmpdir_symlink(dir, "nowhere", "d/refs");
    assert_true(holds(dir, "d", "config"));
    tmpdir_free(dir);
}

/* Working trees are often kept inside the bare repository they belong to. */
static void a_working_tree_inside_is_one(void **state)
{
    struct tmpdir *dir = tmpdir_new();

    (void)state;
    make_bare(dir, "hub.git");
    tmpdir_write(dir, "hub.git/main/.git", "gitdir: ../worktrees/main\n");
    tmpdir_write(dir, "hub.git/main/src/x", "");
    tmpdir_write(dir, "hub.git/worktrees/main/HEAD", "");
    tmpdir_write(dir, "hub.git/worktrees/main/commondir", "");
    assert_false(holds(dir, "hub.git/main", "x"));
    assert_false(holds(dir, "hub.git/main/src", "x"));
    assert_true(holds(dir, "hub.git/worktrees/main", "config.worktree"));
    make_bare(dir, "hub.git/main/meta");
    assert_true(holds(dir, "hub.git/main/meta", "config"));
    tmpdir_free(dir);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_name_and_any_depth),
        cmocka_unit_test(what_a_name_would_complete),
        cmocka_unit_test(parts_may_be_links),
        cmocka_unit_test(a_working_tree_inside_is_one),
    };

    return cmocka_run_group_tests_name("guard/gitdir", tests, NULL, NULL);
}
