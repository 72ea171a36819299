// SPDX-License-Identifier: Apache-2.0
/* gitops/index/index_copy.h: the entries come along, and nothing that git would believe unseen. */
#include "gitops/index/index_copy.h"

#include "tests/unit/gitops/lib.h"

#define OID_BYTES 20

/* Copy `name` to "copy" in the same directory. */
static int copy(struct tmpdir *dir, const char *name, bool sha256, uint32_t *ret_entries)
{
    al_auto(al_closep) int from = openat(dir->fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    al_auto(al_closep) int to =
        openat(dir->fd, "copy", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(from >= 0 && to >= 0);
    return al_index_copy(from, to, sha256, ret_entries);
}

static struct al_str bytes_of(struct tmpdir *dir, const char *name)
{
    struct al_str bytes = AL_STR_INIT;

    assert_int_equal(al_fs_read(dir->fd, name, 1u << 20, &bytes), 0);
    return bytes;
}

static bool has(const struct al_str *bytes, const char *extension)
{
    return memmem(bytes->buf, bytes->len, extension, 4) != NULL;
}

/* The entries with their stat data, as git lists them. */
static char *listed(struct tmpdir *repo, const char *index)
{
    al_auto(al_freep) char *path = tmpdir_path(repo, index);
    char *text;

    assert_int_equal(setenv("GIT_INDEX_FILE", path, 1), 0);
    text = git_output(repo, "ls-files", "--stage", "--debug", NULL);
    assert_int_equal(unsetenv("GIT_INDEX_FILE"), 0);
    return text;
}

static void assert_copied(struct tmpdir *repo, bool sha256, uint32_t entries)
{
    static const char zeros[32];
    const size_t oid_bytes = sha256 ? 32 : 20;
    al_auto(al_freep) char *before = listed(repo, ".git/index");
    al_auto(al_freep) char *after = NULL;
    al_auto(al_str_clear) struct al_str raw = AL_STR_INIT;
    uint32_t count = 0;

    assert_int_equal(copy(repo, ".git/index", sha256, &count), 0);
    assert_int_equal(count, entries);
    after = listed(repo, "copy");
    assert_string_equal(after, before);
    raw = bytes_of(repo, "copy");
    assert_false(has(&raw, "UNTR"));
    assert_memory_equal(raw.buf + raw.len - oid_bytes, zeros, oid_bytes);
    assert_int_equal(unlinkat(repo->fd, "copy", 0), 0);
}

static void copies_what_git_knows(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str raw = AL_STR_INIT;

    tmpdir_write(w->repo, "dir/b.txt", "b\n");
    git_ok(w->repo, "add", "dir", NULL);
    git_ok(w->repo, "write-tree", NULL);
    git_ok(w->repo, "update-index", "--force-untracked-cache", NULL);
    raw = bytes_of(w->repo, ".git/index");
    assert_true(has(&raw, "UNTR") && has(&raw, "TREE"));
    assert_copied(w->repo, false, 2);
    git_ok(w->repo, "update-index", "--index-version", "4", NULL);
    assert_copied(w->repo, false, 2);
    git_ok(w->repo, "update-index", "--skip-worktree", "a.txt", NULL);
    git_ok(w->repo, "add", "-N", "dir/b.txt", NULL);
    assert_copied(w->repo, false, 2);
}

static void copies_other_ids(void **state)
{
    struct world *w = *state;
    al_auto(subdir_closep) struct tmpdir *other = subdir_open(w->root, "sha256");
    uint32_t count;

    git_ok(other, "init", "-q", "--object-format=sha256", NULL);
    tmpdir_write(other, "a.txt", "a\n");
    git_ok(other, "add", "a.txt", NULL);
    assert_copied(other, true, 1);
    assert_int_equal(copy(other, ".git/index", false, &count), -ENOTSUP);
}

static void add_number(struct al_str *out, uint32_t number)
{
    const char bytes[] = { (char)(number >> 24), (char)(number >> 16), (char)(number >> 8),
                           (char)number };

    al_str_add(out, bytes, sizeof(bytes));
}

/* An index of no entry, up to its extensions. */
static struct al_str empty_index(void)
{
    struct al_str out = AL_STR_INIT;

    al_str_adds(&out, "DIRC");
    add_number(&out, 2);
    add_number(&out, 0);
    return out;
}

/* An extension that says to be `len` bytes long, and has `n`. */
static void add_extension(struct al_str *out, const char *name, uint32_t len, size_t n, char fill)
{
    al_str_adds(out, name);
    add_number(out, len);
    for (size_t i = 0; i < n; i++)
        al_str_addc(out, (char)(fill + (char)(i % 7)));
}

static int copy_of(struct world *w, struct al_str *index)
{
    uint32_t count;

    for (int i = 0; i < OID_BYTES; i++)
        al_str_addc(index, 'c');
    tmpdir_write_bytes(w->repo, "made", index->buf, index->len);
    return copy(w->repo, "made", false, &count);
}

static void an_extension_ends_where_the_index_does(void **state)
{
    static const struct {
        uint32_t len;
        int expected;
    } cases[] = { { 99, -ENOTSUP },         { 100, 0 },        { 101, -ENOTSUP },
                  { 119, -ENOTSUP },        { 120, -ENOTSUP }, { 0x7fffffff, -ENOTSUP },
                  { 0xffffffff, -ENOTSUP }, { 0, -ENOTSUP } };

    for (size_t i = 0; i < AL_COUNT(cases); i++) {
        al_auto(al_str_clear) struct al_str index = empty_index();

        add_extension(&index, "UNTR", cases[i].len, 100, '!');
        assert_int_equal(copy_of(*state, &index), cases[i].expected);
    }
}

static void keeps_only_extensions_it_knows(void **state)
{
    static const struct {
        const char *name;
        int expected;
        bool is_kept;
    } cases[] = { { "TREE", 0, true },         { "REUC", 0, true },
                  { "FSMN", 0, false },        { "UNTR", 0, false },
                  { "EOIE", 0, false },        { "IEOT", 0, false },
                  { "ZZZZ", 0, false },        { "link", -ENOTSUP, false },
                  { "sdir", -ENOTSUP, false }, { "zzzz", -ENOTSUP, false } };
    struct world *w = *state;

    for (size_t i = 0; i < AL_COUNT(cases); i++) {
        al_auto(al_str_clear) struct al_str index = empty_index();
        al_auto(al_str_clear) struct al_str made = AL_STR_INIT;

        add_extension(&index, cases[i].name, 10, 10, '!');
        assert_int_equal(copy_of(w, &index), cases[i].expected);
        if (cases[i].expected < 0)
            continue;
        made = bytes_of(w->repo, "copy");
        assert_int_equal(made.len, cases[i].is_kept ? index.len : 12 + OID_BYTES);
        assert_int_equal(has(&made, cases[i].name), cases[i].is_kept);
    }
}

/* What is kept moves over what is not, in pieces. */
static void moves_what_it_keeps(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str index = empty_index();
    al_auto(al_str_clear) struct al_str expected = empty_index();
    al_auto(al_str_clear) struct al_str made = AL_STR_INIT;

    add_extension(&index, "FSMN", 1000, 1000, 'A');
    add_extension(&index, "REUC", 150000, 150000, 'a');
    add_extension(&index, "UNTR", 70000, 70000, 'B');
    add_extension(&index, "TREE", 80000, 80000, 'k');
    assert_int_equal(copy_of(w, &index), 0);
    add_extension(&expected, "REUC", 150000, 150000, 'a');
    add_extension(&expected, "TREE", 80000, 80000, 'k');
    made = bytes_of(w->repo, "copy");
    assert_int_equal(made.len, expected.len + OID_BYTES);
    assert_memory_equal(made.buf, expected.buf, expected.len);
}

static void refuses_what_is_cut_or_no_file(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str raw = bytes_of(w->repo, ".git/index");
    uint32_t count = 0;
    int r;

    for (size_t len = 0; len < raw.len; len++) {
        tmpdir_write_bytes(w->repo, "cut", raw.buf, len);
        r = copy(w->repo, "cut", false, &count);
        assert_true(r == -ENOTSUP || (r == 0 && count == 1)); /* cut where the entries end */
    }
    assert_int_equal(mkfifoat(w->repo->fd, "fifo", 0600), 0);
    assert_int_equal(copy(w->repo, "fifo", false, &count), -ENOTSUP);
    assert_int_equal(copy(w->repo, ".git", false, &count), -ENOTSUP);
}

static void refuses_a_file_over_the_limit(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *path = tmpdir_path(w->repo, "large");
    uint32_t count;

    tmpdir_write(w->repo, "large", "DIRC");
    assert_int_equal(truncate(path, AL_INDEX_COPY_MAX_BYTES + 1), 0);
    assert_int_equal(copy(w->repo, "large", false, &count), -EFBIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(copies_what_git_knows),
        WORLD_TEST(copies_other_ids),
        WORLD_TEST(an_extension_ends_where_the_index_does),
        WORLD_TEST(keeps_only_extensions_it_knows),
        WORLD_TEST(moves_what_it_keeps),
        WORLD_TEST(refuses_what_is_cut_or_no_file),
        WORLD_TEST(refuses_a_file_over_the_limit),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
