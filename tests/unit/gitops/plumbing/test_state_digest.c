// SPDX-License-Identifier: Apache-2.0
/* gitops/repo/repo.h, state: what a repository is at is read from its files as git reads them. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "gitops/plumbing/index_scan.h"
#include "gitops/plumbing/state_digest.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "tests/unit/gitops/lib.h"

#define PIECE_BYTES 65536

/* HEAD as airlock and as git see it are the same, in this directory below the root. */
static void assert_head(struct world *w, const char *given)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, given);
    al_auto(subdir_closep) struct tmpdir *dir = subdir_open(w->root, given);
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_freep) char *line = al_asprintf("%s\n", head);
    al_auto(al_freep) char *expected = git_output(dir, "rev-parse", "HEAD", NULL);

    assert_string_equal(line, expected);
}

static void finds_head_on_a_loose_branch(void **state)
{
    struct world *w = *state;

    assert_head(w, "repo");
    git_ok(w->repo, "checkout", "-q", "-b", "topic/deep/er", NULL);
    git_fixture_commit(w->repo, "a.txt", "two\n", "second");
    assert_head(w, "repo");
}

static void finds_head_on_a_packed_branch(void **state)
{
    struct world *w = *state;

    git_fixture_commit(w->repo, "a.txt", "two\n", "second");
    git_ok(w->repo, "branch", "xmain", "HEAD~1", NULL); /* names around ours */
    git_ok(w->repo, "branch", "a/refs/heads/main", "HEAD~1", NULL);
    git_ok(w->repo, "branch", "mainx", "HEAD~1", NULL);
    git_ok(w->repo, "tag", "-m", "annotated", "v1", "HEAD~1", NULL);
    git_ok(w->repo, "pack-refs", "--all", NULL);
    assert_int_not_equal(faccessat(w->repo->fd, ".git/refs/heads/main", F_OK, 0), 0);
    assert_head(w, "repo");
    git_fixture_commit(w->repo, "a.txt", "three\n", "third"); /* loose again, and newer */
    assert_head(w, "repo");
}

static void finds_a_detached_head(void **state)
{
    struct world *w = *state;

    git_fixture_commit(w->repo, "a.txt", "two\n", "second");
    git_ok(w->repo, "checkout", "-q", "--detach", "HEAD~1", NULL);
    assert_head(w, "repo");
}

static void finds_the_head_of_a_linked_worktree(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "worktree", "add", "-q", "-b", "side", "../linked", NULL);
    git_fixture_commit(w->repo, "a.txt", "two\n", "second");
    assert_head(w, "linked");
    assert_head(w, "repo");
    git_ok(w->repo, "pack-refs", "--all", NULL);
    assert_head(w, "linked");
}

static void follows_a_symbolic_branch(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "symbolic-ref", "refs/heads/alias", "refs/heads/main", NULL);
    git_ok(w->repo, "symbolic-ref", "HEAD", "refs/heads/alias", NULL);
    assert_head(w, "repo");
}

static void assert_no_head(struct world *w)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *head = al_ref_head(&repo->at);

    assert_string_equal(head, "");
}

static void has_no_head_on_an_unborn_branch(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "checkout", "-q", "--orphan", "unborn", NULL);
    assert_no_head(w);
}

static void has_no_head_at_the_end_of_a_circle(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, ".git/refs/heads/one", "ref: refs/heads/two\n");
    tmpdir_write(w->repo, ".git/refs/heads/two", "ref: refs/heads/one\n");
    tmpdir_write(w->repo, ".git/HEAD", "ref: refs/heads/one\n");
    assert_no_head(w);
}

static void reads_no_ref_outside_the_repository(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, "stray", "1234567890123456789012345678901234567890\n");
    tmpdir_write(w->repo, ".git/HEAD", "ref: refs/../../stray\n");
    assert_no_head(w);
    tmpdir_symlink(w->repo, "/etc/hostname", ".git/refs/heads/link");
    tmpdir_write(w->repo, ".git/HEAD", "ref: refs/heads/link\n");
    assert_no_head(w);
    tmpdir_write(w->outside, "stray", "1234567890123456789012345678901234567890\n");
    tmpdir_symlink(w->repo, w->outside->path, ".git/refs/heads/out");
    tmpdir_write(w->repo, ".git/HEAD", "ref: refs/heads/out/stray\n");
    assert_no_head(w);
}

static void follows_no_head_to_an_absolute_path_or_past_references(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *absolute = al_asprintf("ref: %s/stray\n", w->outside->path);
    const char *const heads[] = { absolute, "ref: stray\n", "ref: refs/../stray\n" };

    tmpdir_write(w->outside, "stray", "1234567890123456789012345678901234567890\n");
    tmpdir_write(w->repo, ".git/stray", "1234567890123456789012345678901234567890\n");
    for (size_t i = 0; i < COUNT(heads); i++) {
        al_auto(al_freep) char *head = NULL;
        al_auto(al_strv_clear) struct al_strv branches = AL_STRV_INIT;

        tmpdir_write(w->repo, ".git/HEAD", heads[i]);
        head = al_ref_head(&repo->at);
        assert_string_equal(head, "");
        al_ref_head_branches(&repo->at, &branches);
        assert_int_equal(branches.count, 1);
        assert_string_equal(branches.items[0], "HEAD");
    }
}

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

/* git takes the id at the beginning of a file, whatever follows it. */
static void reads_references_however_long_their_files_are(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *id = al_ref_head(&repo->at);
    al_auto(al_freep) char *padding = al_malloc(3u << 20);
    al_auto(al_str_clear) struct al_str packed = AL_STR_INIT;

    assert_int_equal(strlen(id), 40);
    memset(padding, 'x', 8192);
    padding[8192] = '\0';
    al_str_addf(&packed, "%s\n%s\n", id, padding);
    tmpdir_write_bytes(w->repo, ".git/refs/heads/main", packed.buf, packed.len);
    {
        al_auto(al_freep) char *git = git_output(w->repo, "rev-parse", "HEAD", NULL);
        al_auto(al_freep) char *head = al_ref_head(&repo->at);

        assert_true(al_starts_with(git, id));
        assert_string_equal(head, id);
    }
    assert_int_equal(unlinkat(w->repo->fd, ".git/refs/heads/main", 0), 0);
    for (size_t before = (1u << 20) - 80; before <= (1u << 20) + 1; before++) {
        al_auto(al_freep) char *head = NULL;

        memset(padding, '#', before);
        padding[before - 1] = '\n';
        padding[before] = '\0';
        al_str_reset(&packed);
        al_str_addf(&packed, "%s%s refs/heads/main\n", padding, id);
        tmpdir_write_bytes(w->repo, ".git/packed-refs", packed.buf, packed.len);
        head = al_ref_head(&repo->at);
        assert_string_equal(head, id);
    }
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

static bool may_have_gitlinks(struct world *w)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

    return al_repo_may_have_gitlinks(&repo->at);
}

static void finds_gitlinks_in_a_real_index(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *head = git_output(w->repo, "rev-parse", "HEAD", NULL);
    al_auto(al_freep) char *entry = al_asprintf("160000,%.40s,sub", head);

    assert_false(may_have_gitlinks(w));
    git_ok(w->repo, "update-index", "--add", "--cacheinfo", entry, NULL);
    assert_true(may_have_gitlinks(w));
    git_ok(w->repo, "update-index", "--index-version", "4", NULL);
    assert_true(may_have_gitlinks(w));
    git_ok(w->repo, "rm", "-q", "--cached", "sub", NULL);
    assert_false(may_have_gitlinks(w));
}

static void suspects_an_index_it_cannot_see_all_of(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "update-index", "--split-index", NULL);
    assert_true(may_have_gitlinks(w));
    assert_int_equal(unlinkat(w->repo->fd, ".git/index", 0), 0);
    assert_false(may_have_gitlinks(w)); /* nothing is tracked */
    tmpdir_symlink(w->repo, "elsewhere", ".git/index");
    assert_true(may_have_gitlinks(w));
    assert_int_equal(unlinkat(w->repo->fd, ".git/index", 0), 0);
    tmpdir_mkdir(w->repo, ".git/index");
    assert_true(may_have_gitlinks(w));
}

/* What stands in names, sizes and contents is the agent's to choose, and decides nothing. */
static void is_not_told_by_names_and_sizes(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *big = al_malloc(0xe000);
    al_auto(al_freep) char *deep = al_malloc(5001);

    memset(big, 'x', 0xe000);
    tmpdir_write(w->repo, "link", "x\n");
    tmpdir_write(w->repo, "sdir", "x\n");
    tmpdir_write(w->repo, "symlinks/link.md", "x\n");
    tmpdir_write_bytes(w->repo, "big", big, 0xe000); /* the size has the bytes of the mode */
    git_ok(w->repo, "add", "link", "sdir", "symlinks", "big", NULL);
    assert_false(may_have_gitlinks(w));
    git_ok(w->repo, "update-index", "--index-version", "4", NULL);
    assert_false(may_have_gitlinks(w));
    git_ok(w->repo, "update-index", "--index-version", "2", NULL);
    git_ok(w->repo, "add", "-N", "big", NULL);
    for (size_t i = 0; i < 5000; i++)
        deep[i] = i % 200 == 199 ? '/' : 'd';
    deep[4999] = 'f';
    deep[5000] = '\0';
    al_auto(al_freep) char *entry =
        al_asprintf("100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,%.3950s", deep);
    git_ok(w->repo, "update-index", "--add", "--cacheinfo", entry,
           NULL); /* a name over its field */
    assert_false(may_have_gitlinks(w));
    git_ok(w->repo, "update-index", "--index-version", "4", NULL);
    assert_false(may_have_gitlinks(w));
}

static void understands_extended_entries_and_other_ids(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *path = tmpdir_path(w->repo, "sha256");
    al_auto(al_freep) char *index = tmpdir_path(w->repo, "sha256/.git/index");
    al_auto(al_freep) char *entry = NULL;

    tmpdir_write(w->repo, "later", "x\n");
    git_ok(w->repo, "add", "-N", "later", NULL); /* version 3 */
    assert_false(may_have_gitlinks(w));
    git_ok(w->repo, "init", "-q", "--object-format=sha256", path, NULL);
    tmpdir_write(w->repo, "sha256/link", "x\n");
    tmpdir_write(w->repo, "sha256/other", "x\n");
    git_ok(w->repo, "-C", path, "add", ".", NULL);
    assert_false(al_index_may_have_gitlinks(index));
    entry = al_asprintf("160000,%064d,sub", 1);
    git_ok(w->repo, "-C", path, "update-index", "--add", "--cacheinfo", entry, NULL);
    assert_true(al_index_may_have_gitlinks(index));
}

/* A hostile index costs a look at its bytes, and is trusted in nothing. */
static void suspects_what_is_no_index(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *good = al_malloc(PIECE_BYTES);
    al_auto(al_freep) char *path = tmpdir_path(w->repo, ".git/index");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t len = read(fd, good, PIECE_BYTES);

    assert_true(len > 100);
    assert_false(al_repo_may_have_gitlinks(&repo->at));
    for (ssize_t cut = 0; cut < 12 + 62; cut++) { /* less than its one entry */
        tmpdir_write_bytes(w->repo, ".git/index", good, (size_t)cut);
        assert_true(al_repo_may_have_gitlinks(&repo->at));
    }
    memset(good + 8, 0xff, 4); /* more entries than there are bytes */
    tmpdir_write_bytes(w->repo, ".git/index", good, (size_t)len);
    assert_true(al_repo_may_have_gitlinks(&repo->at));
    assert_int_equal(truncate(path, INT64_C(1) << 40), 0); /* bytes nobody wrote */
    assert_true(al_repo_may_have_gitlinks(&repo->at));
}

/* Cuts the index to nothing and makes it long again, over and over. */
static void *shrink_and_grow(void *path)
{
    for (int i = 0; i < 500; i++) {
        assert_int_equal(truncate(path, 0), 0);
        assert_int_equal(truncate(path, 8 * PIECE_BYTES), 0);
    }
    return NULL;
}

static void survives_an_index_that_shrinks(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *path = tmpdir_path(w->repo, ".git/index");
    pthread_t thread;
    char hex[65];

    assert_int_equal(pthread_create(&thread, NULL, shrink_and_grow, path), 0);
    for (int i = 0; i < 200; i++) {
        (void)al_repo_may_have_gitlinks(&repo->at);
        assert_int_equal(al_repo_state_digest(repo, NULL, NULL, hex, NULL), 0);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(al_repo_may_have_gitlinks(&repo->at)); /* all zero now, which is no index */
}

/* What airlock takes from a file of the repository and gives to git is no option and no path. */
static void knows_what_an_object_id_is(void **state)
{
    static const char *const others[] = { "",     "-1",   "0x1", "HEAD", "1 2", "12\n",
                                          "ABCD", "abcg", "a/b", "..",   "a^" };

    (void)state;
    assert_true(al_is_oid("0", 1));
    assert_true(al_is_oid("0123456789abcdef", 16));
    for (size_t i = 0; i < AL_COUNT(others); i++)
        assert_false(al_is_oid(others[i], strlen(others[i])));
    assert_false(al_is_oid("12\0--x", 6));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(finds_head_on_a_loose_branch),
        WORLD_TEST(finds_head_on_a_packed_branch),
        WORLD_TEST(finds_a_detached_head),
        WORLD_TEST(finds_the_head_of_a_linked_worktree),
        WORLD_TEST(follows_a_symbolic_branch),
        WORLD_TEST(has_no_head_on_an_unborn_branch),
        WORLD_TEST(has_no_head_at_the_end_of_a_circle),
        WORLD_TEST(reads_no_ref_outside_the_repository),
        WORLD_TEST(follows_no_head_to_an_absolute_path_or_past_references),
        WORLD_TEST(notices_what_concerns_it),
        WORLD_TEST(notices_nothing_else),
        WORLD_TEST(notices_a_change_anywhere_in_a_file),
        WORLD_TEST(notices_attributes_beside_the_files),
        WORLD_TEST(notices_the_plan_of_what_is_in_progress),
        WORLD_TEST(notices_the_other_half_of_a_split_index),
        WORLD_TEST(is_bound_to_no_file_that_cannot_be_read),
        WORLD_TEST(reads_references_however_long_their_files_are),
        WORLD_TEST(notices_an_index_without_a_checksum),
        WORLD_TEST(looks_at_paths_from_the_working_directory),
        WORLD_TEST(finds_gitlinks_in_a_real_index),
        WORLD_TEST(suspects_an_index_it_cannot_see_all_of),
        WORLD_TEST(is_not_told_by_names_and_sizes),
        WORLD_TEST(understands_extended_entries_and_other_ids),
        WORLD_TEST(suspects_what_is_no_index),
        WORLD_TEST(survives_an_index_that_shrinks),
        cmocka_unit_test(knows_what_an_object_id_is),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/state", tests, NULL, NULL);
}
