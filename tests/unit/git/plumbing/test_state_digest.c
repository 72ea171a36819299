// SPDX-License-Identifier: Apache-2.0
/* git/plumbing/gitdir.h: the digest changes with each file that an approval depends on. */
#include "git/plumbing/gitdir.h"

#include <fcntl.h>
#include <unistd.h>

#include "git/repo/repo.h"
#include "tests/unit/git/lib.h"

struct digest {
    char hex[65];
};

static struct digest digest_of(struct world *w, const char *const *paths)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    struct digest digest;

    for (; paths && *paths; paths++)
        al_strv_add(&list, *paths);
    assert_int_equal(al_repo_state_digest(repo, &list, NULL, digest.hex, NULL), 0);
    assert_int_equal(strlen(digest.hex), 64);
    return digest;
}

static const char *const concerned[] = { "a.txt", "absent.txt", NULL };

/* What is done is seen, and seen again as the same. */
static void assert_seen(struct world *w, struct digest *before, bool seen)
{
    struct digest after = digest_of(w, concerned), again = digest_of(w, concerned);

    assert_string_equal(after.hex, again.hex);
    assert_int_equal(strcmp(before->hex, after.hex) != 0, seen);
    *before = after;
}

static void notices_what_concerns_it(void **state)
{
    struct world *w = *state;
    struct digest digest = digest_of(w, concerned);

    git_ok(w->repo, "commit", "-q", "--allow-empty", "-m", "same tree", NULL);
    assert_seen(w, &digest, true);
    tmpdir_write(w->repo, "a.txt", "two\n"); /* as long as before */
    assert_seen(w, &digest, true);
    git_ok(w->repo, "add", "a.txt", NULL);
    assert_seen(w, &digest, true);
    tmpdir_write(w->repo, "absent.txt", "");
    assert_seen(w, &digest, true);
    assert_int_equal(unlinkat(w->repo->fd, "a.txt", 0), 0);
    assert_seen(w, &digest, true);
    tmpdir_symlink(w->repo, "absent.txt", "a.txt");
    assert_seen(w, &digest, true);
    git_ok(w->repo, "checkout", "-q", "--detach", NULL); /* the same commit, but no branch */
    assert_seen(w, &digest, true);
    tmpdir_write(w->repo, ".git/MERGE_HEAD", "1234567890123456789012345678901234567890\n");
    assert_seen(w, &digest, true);
}

static void notices_nothing_else(void **state)
{
    struct world *w = *state;
    struct digest digest = digest_of(w, concerned);
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *status = NULL;

    assert_seen(w, &digest, false);
    tmpdir_write(w->repo, "other.txt", "x\n");
    assert_seen(w, &digest, false);
    git_ok(w->repo, "branch", "other", NULL);
    assert_seen(w, &digest, false);
    status = status_text(repo); /* our own reading does not touch the index */
    assert_seen(w, &digest, false);
}

/* git verifies no checksum of an index when it reads one, and cuts no file off. */
static void notices_a_change_anywhere_in_a_file(void **state)
{
    struct world *w = *state;
    const size_t len = 300000;
    al_auto(al_freep) char *bytes = al_malloc(len);
    static const char *const files[] = { ".git/index", ".git/MERGE_HEAD", ".git/info/attributes",
                                         ".git/info/exclude" };

    for (size_t i = 0; i < COUNT(files); i++) {
        struct digest digest;

        memset(bytes, '#', len);
        tmpdir_write_bytes(w->repo, files[i], bytes, len);
        digest = digest_of(w, concerned);
        for (size_t at = 0; at < len; at += len / 3 - 1) {
            bytes[at] = '%';
            tmpdir_write_bytes(w->repo, files[i], bytes, len);
            assert_seen(w, &digest, true);
        }
        assert_int_equal(unlinkat(w->repo->fd, files[i], 0), 0);
        assert_seen(w, &digest, true);
    }
}

static void notices_attributes_beside_the_files(void **state)
{
    struct world *w = *state;
    struct digest digest = digest_of(w, concerned);

    tmpdir_write(w->repo, ".gitattributes", "*.txt text\n");
    assert_seen(w, &digest, true);
    tmpdir_write(w->repo, ".gitattributes", "*.txt -text\n");
    assert_seen(w, &digest, true);
}

static void notices_the_plan_of_what_is_in_progress(void **state)
{
    struct world *w = *state;
    struct digest digest = digest_of(w, concerned);

    tmpdir_write(w->repo, ".git/rebase-merge/git-rebase-todo", "pick 1234567\n");
    assert_seen(w, &digest, true);
    tmpdir_write(w->repo, ".git/rebase-merge/git-rebase-todo", "drop 1234567\n");
    assert_seen(w, &digest, true);
    tmpdir_write(w->repo, ".git/sequencer/todo", "pick 1234567\n");
    assert_seen(w, &digest, true);
}

static void notices_the_other_half_of_a_split_index(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *name = NULL;
    al_auto(al_freep) char *path = NULL;
    struct digest digest;
    int fd;

    git_ok(w->repo, "update-index", "--split-index", NULL);
    name = git_output(w->repo, "rev-parse", "--shared-index-path", NULL);
    name[strcspn(name, "\n")] = '\0';
    digest = digest_of(w, concerned);
    path = tmpdir_path(w->repo, name);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "\xff", 1, 60), 1);
    close(fd);
    assert_seen(w, &digest, true);
}

static void is_bound_to_no_file_that_cannot_be_read(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    struct al_error err = AL_ERROR_INIT;
    char hex[65];

    assert_int_equal(unlinkat(w->repo->fd, ".git/index", 0), 0);
    tmpdir_mkdir(w->repo, ".git/index");
    assert_int_equal(al_repo_state_digest(repo, NULL, NULL, hex, &err), AL_ERR_EXECUTION);
    assert_non_null(strstr(err.message, "'index'"));
    al_error_clear(&err);
}

static void notices_an_index_without_a_checksum(void **state)
{
    struct world *w = *state;
    struct digest digest;
    char index[200] = { "DIRC, with index.skipHash: the end is all zero" };

    tmpdir_write_bytes(w->repo, ".git/index", index, sizeof(index));
    digest = digest_of(w, concerned);
    index[100] = 1;
    tmpdir_write_bytes(w->repo, ".git/index", index, sizeof(index));
    assert_seen(w, &digest, true);
    assert_int_equal(unlinkat(w->repo->fd, ".git/index", 0), 0);
    assert_seen(w, &digest, true);
}

static void looks_at_paths_from_the_working_directory(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    char before[65], after[65];

    tmpdir_write(w->repo, "deep/f", "x\n");
    repo = must_open(w, "repo/deep");
    al_strv_add(&paths, "f");
    assert_int_equal(al_repo_state_digest(repo, &paths, NULL, before, NULL), 0);
    tmpdir_write(w->repo, "deep/f", "y\n");
    assert_int_equal(al_repo_state_digest(repo, &paths, NULL, after, NULL), 0);
    assert_string_not_equal(before, after);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(notices_what_concerns_it),
        WORLD_TEST(notices_nothing_else),
        WORLD_TEST(notices_a_change_anywhere_in_a_file),
        WORLD_TEST(notices_attributes_beside_the_files),
        WORLD_TEST(notices_the_plan_of_what_is_in_progress),
        WORLD_TEST(notices_the_other_half_of_a_split_index),
        WORLD_TEST(is_bound_to_no_file_that_cannot_be_read),
        WORLD_TEST(notices_an_index_without_a_checksum),
        WORLD_TEST(looks_at_paths_from_the_working_directory),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/plumbing/state_digest", tests, NULL, NULL);
}
