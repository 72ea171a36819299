// SPDX-License-Identifier: Apache-2.0
/* gitops/sequencer/savepoint_index.c: the index comes back whole and as old as it was, and its copy
 * has a name only meanwhile. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/layer.h"
#include "gitops/sequencer/savepoint.h"
#include "tests/unit/gitops/tree.h"
#include "util/fs.h"

static void note(struct world *w, const struct al_repo *repo, struct al_savepoint *savepoint)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    struct al_run_limits budget = long_budget();

    al_strv_add(&commits, "feature");
    assert_int_equal(al_savepoint_create(repo, &commits, &budget, savepoint, &w->err), 0);
}

/* Two branches that can be merged, and neither changes c.txt. */
static void part(struct world *w)
{
    git_fixture_commit(w->repo, "c.txt", "c\n", "more");
    git_ok(w->repo, "checkout", "-q", "-b", "feature", NULL);
    git_fixture_commit(w->repo, "new.txt", "new\n", "theirs");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    git_fixture_commit(w->repo, "a.txt", "ours\n", "ours");
}

/* git looks into a file that is as old as the index.  The index that is put back is as old as the
 * one before, or such a change would be lost from view. */
static void keeps_its_times(void **state)
{
    static const struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
    static const char *const names[] = { "c.txt", ".git/index", "c.txt" };
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
    al_auto(al_freep) char *changed = NULL, *text = NULL;

    part(w);
    git_ok(w->repo, "config", "core.trustctime", "false", NULL);
    for (size_t i = 0; i < COUNT(names); i++) {
        al_auto(al_freep) char *path = tmpdir_path(w->repo, names[i]);

        if (strcmp(names[i], "c.txt") != 0)
            git_ok(w->repo, "update-index", "--refresh", NULL);
        else
            tmpdir_write(w->repo, "c.txt", i ? "C\n" : "c\n");
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    repo = must_open(w, "repo");
    note(w, repo, &savepoint);
    git_ok(w->repo, "merge", "-q", "feature", NULL);
    assert_int_equal(al_savepoint_restore(repo, &savepoint, &w->err), 0);
    changed = git_output(w->repo, "diff-files", "--name-only", NULL);
    assert_non_null(strstr(changed, "c.txt\n"));
    text = tmpdir_read(w->repo, "c.txt");
    assert_string_equal(text, "C\n");
}

/* Number of files that git's children may write in the private directory. */
static size_t count_private(const struct al_repo *repo)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.git->private_dir, "tmp");
    DIR *dir = opendir(path);
    size_t count = 0;

    assert_non_null(dir);
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        count += entry->d_name[0] != '.';
    assert_int_equal(closedir(dir), 0);
    return count;
}

static bool is_in_memory(int fd)
{
    al_auto(al_freep) char *link = al_asprintf("/proc/self/fd/%d", fd);
    char target[PATH_MAX] = "";

    assert_true(readlink(link, target, sizeof(target) - 1) > 0);
    return al_starts_with(target, "/memfd:");
}

/* A larger index is a file without a name; both are put back whole. */
static void keeps_it_in_memory_up_to_a_limit(void **state)
{
    const size_t limit = AL_SAVEPOINT_MEMORY_BYTES;
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *bytes = al_malloc(limit + 1);

    for (size_t i = 0; i <= limit; i++)
        bytes[i] = (char)(i % 251);
    for (size_t len = limit - 1; len <= limit + 1; len++) {
        al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        tmpdir_write_bytes(w->repo, ".git/index", bytes, len);
        assert_int_equal(al_savepoint_take_index(repo, &savepoint, &w->err), 0);
        assert_int_equal(is_in_memory(savepoint.index), len <= limit);
        assert_int_equal(count_private(repo), 0);
        tmpdir_write(w->repo, ".git/index", "other");
        assert_int_equal(al_savepoint_restore_index(repo, &savepoint, &w->err), 0);
        assert_int_equal(al_fs_read(w->repo->fd, ".git/index", limit + 2, &text), 0);
        assert_int_equal(text.len, len);
        assert_memory_equal(text.buf, bytes, len);
    }
}

/* Whether it succeeds or not, nothing stays in the private directory. */
static void leaves_no_copy(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    struct al_run_limits budget = long_budget();

    part(w);
    repo = must_open(w, "repo");
    for (size_t i = 0; i < 2; i++) {
        al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        note(w, repo, &savepoint);
        if (i)
            al_strv_add(&savepoint.incoming, "no-such-commit");
        assert_int_equal(al_savepoint_restore_tree(repo, &savepoint, &budget, &err),
                         i ? AL_ERR_EXECUTION : 0);
        assert_int_equal(count_private(repo), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(keeps_its_times),
        WORLD_TEST(keeps_it_in_memory_up_to_a_limit),
        WORLD_TEST(leaves_no_copy),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
