// SPDX-License-Identifier: Apache-2.0
/* checkpoint/index_pieces.h: what is reused of the index before changes nothing of the result. */
#include "tests/unit/checkpoint/index_pieces_lib.h"

/* Changes at the beginning, in the middle and at the end, in every version of the format. */
static void parses_what_changed(void **state)
{
    static const char *const names[] = { "a", "d00/file00", "d07/file0750", "d15/file99", "zz" };
    static const char *const versions[] = { "2", "4" };
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;
    al_auto(known_clear) struct known before = known_begin();

    make_entries(s);
    for (size_t v = 0; v < COUNT(versions); v++) {
        git_ok(repo, "update-index", "--index-version", versions[v], NULL);
        assert_true(compare(s, &before) >= FILES); /* nothing is reused across versions */
        assert_int_equal(before.pieces.version, v ? 4 : 2);
        assert_true(before.pieces.count > 5);
        assert_int_equal(compare(s, &before), 0);
        for (size_t i = 0; i < COUNT(names); i++) {
            size_t parsed;

            stage(s, names[i], versions[v]);
            parsed = compare(s, &before);
            assert_true(parsed > 0 && parsed < FILES / 2);
            git_ok(repo, "update-index", "--force-remove", names[i], NULL);
            assert_true(compare(s, &before) < FILES / 2);
            git_ok(repo, "add", names[i], NULL);
            assert_true(compare(s, &before) < FILES / 2);
        }
        git_ok(repo, "rm", "-q", "--cached", "a", "zz", NULL);
        (void)compare(s, &before);
    }
}

/* Marks make version 3, and are known of pieces that are not parsed. */
static void knows_the_marks_of_what_is_reused(void **state)
{
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;
    al_auto(known_clear) struct known before = known_begin();
    struct al_oid tree;

    make_entries(s);
    (void)compare(s, &before);
    git_ok(repo, "update-index", "--skip-worktree", "d15/file99", NULL);
    (void)compare(s, &before);
    assert_int_equal(before.pieces.version, 3);
    for (int marked = 1; marked >= 0; marked--) {
        al_auto(al_index_put_clear) struct al_index_put put = AL_INDEX_PUT_INIT;

        git_ok(repo, "update-index", marked ? "--assume-unchanged" : "--no-assume-unchanged",
               "d15/file98", NULL);
        git_ok(repo, "update-index", "--no-skip-worktree", "d15/file99", NULL);
        (void)compare(s, &before);
        stage(s, "d00/file00", marked ? "1\n" : "0\n");
        put = put_index(s, &before, &tree);
        assert_int_equal(put.flags & AL_INDEX_MARKS, marked ? AL_INDEX_MARKS : 0);
        (void)compare(s, &before);
    }
}

/* Removed directories, conflicts, submodules, no entries. */
static void reads_what_git_makes(void **state)
{
    struct saver *s = *state;
    struct tmpdir *repo = s->w->repo;
    al_auto(known_clear) struct known before = known_begin();
    al_auto(al_freep) char *tree = NULL;

    make_entries(s);
    (void)compare(s, &before);
    tree = git_output(repo, "write-tree", "--prefix=d03/", NULL);
    tree[strcspn(tree, "\n")] = '\0';
    git_ok(repo, "read-tree", "--prefix=moved/", tree, NULL);
    git_ok(repo, "rm", "-q", "-r", "--cached", "d03", NULL);
    (void)compare(s, &before);
    git_ok(repo, "rm", "-q", "-r", "--cached", "d05", "d06", "d15", NULL);
    (void)compare(s, &before);
    git_ok(repo, "read-tree", "--prefix=d06/", tree, NULL);
    (void)compare(s, &before);
    git_ok(repo, "reset", "-q", NULL);
    (void)compare(s, &before);
    make_entries(s);
    git_ok(repo, "update-index", "--add", "--cacheinfo",
           "160000,1111111111111111111111111111111111111111,d08/sub", NULL);
    (void)compare(s, &before);
    git_ok(repo, "commit", "-q", "-m", "many", NULL);
    git_ok(repo, "update-ref", "refs/heads/side", "HEAD", NULL);
    git_ok(repo, "symbolic-ref", "HEAD", "refs/heads/side", NULL);
    git_fixture_commit(repo, "a.txt", "theirs\n", "theirs");
    (void)compare(s, &before);
    git_ok(repo, "symbolic-ref", "HEAD", "refs/heads/main", NULL);
    git_ok(repo, "reset", "-q", NULL);
    git_fixture_commit(repo, "a.txt", "ours\n", "ours");
    git_ok(repo, "read-tree", "-m", "HEAD~", "HEAD", "side", NULL);
    (void)compare(s, &before);
    git_ok(repo, "read-tree", "--empty", NULL);
    (void)compare(s, &before);
    assert_int_equal(before.pieces.count, 0);
}

/* Whatever the pieces before say: only bytes with the same hash are reused. */
static void relies_on_no_wrong_piece(void **state)
{
    struct saver *s = *state;
    al_auto(known_clear) struct known before = known_begin();

    make_entries(s);
    (void)compare(s, &before);
    for (int kind = 0; kind < 8; kind++) {
        struct al_index_piece *piece = &before.pieces.items[before.pieces.count / 2];

        piece->oid.bytes[0] ^= kind == 0 || kind > 5;
        piece->oids_sum ^= kind == 6;
        piece->noids = kind == 7 ? UINT32_MAX : piece->noids;
        piece->bytes += kind == 1 ? 8 : 0;
        piece->bytes -= kind == 2 ? 8 : 0;
        piece->bytes = kind == 3 ? UINT32_MAX : piece->bytes;
        piece->nentries = kind == 4 ? UINT32_MAX : piece->nentries;
        before.pieces.version += kind == 5;
        assert_true(compare(s, &before) > 0);
    }
    assert_int_equal(compare(s, &before), 0);
}

/* Cut anywhere, the file is put with all its bytes, and is not relied on. */
static void puts_what_is_no_index(void **state)
{
    static const off_t sizes[] = { 100000, 60000, 12 + 72, 12 + 71, 13, 12, 11, 0 };
    struct saver *s = *state;
    al_auto(known_clear) struct known before = known_begin();
    al_auto(al_freep) char *path = al_fs_join(s->w->repo->path, ".git/index");
    struct stat st;

    make_entries(s);
    (void)compare(s, &before);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > sizes[0]);
    for (size_t i = 0; i <= COUNT(sizes); i++) {
        struct al_oid tree, alone;
        al_auto(al_index_put_clear) struct al_index_put put = AL_INDEX_PUT_INIT;
        al_auto(al_index_put_clear) struct al_index_put other = AL_INDEX_PUT_INIT;

        assert_int_equal(truncate(path, i ? sizes[i - 1] : st.st_size - 1), 0);
        put = put_index(s, &before, &tree);
        other = put_index(s, NULL, &alone);
        assert_int_equal(put.end, AL_INDEX_NOT_UNDERSTOOD);
        assert_int_equal(other.end, AL_INDEX_NOT_UNDERSTOOD);
        assert_true(al_oid_equal(&tree, &alone));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(parses_what_changed),   SAVER_TEST(knows_the_marks_of_what_is_reused),
        SAVER_TEST(reads_what_git_makes),  SAVER_TEST(relies_on_no_wrong_piece),
        SAVER_TEST(puts_what_is_no_index),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/index_pieces", tests, NULL, NULL);
}
