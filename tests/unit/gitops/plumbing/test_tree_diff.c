// SPDX-License-Identifier: Apache-2.0
/* gitops/plumbing: objects, loose or packed, and where trees differ, told without git. */
#include "gitops/plumbing/tree_diff.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "gitops/vet/vet.h"
#include "tests/unit/gitops/tree.h"

static char *rev(struct world *w, const char *name)
{
    char *oid = git_output(w->repo, "rev-parse", name, NULL);

    oid[strcspn(oid, "\n")] = '\0';
    return oid;
}

/* As git prints a raw change. */
static bool add_line(void *payload, const struct al_tree_change *change)
{
    char old[AL_OID_TEXT], now[AL_OID_TEXT];

    al_oid_text(&change->old_oid, false, old);
    al_oid_text(&change->new_oid, false, now);
    al_strv_addf(payload, ":%06o %06o %s %s %s", change->old_mode, change->new_mode, old, now,
                 change->path);
    return true;
}

/* git's own list, without the letters. */
static void add_expected(struct world *w, const char *old, const char *now, struct al_strv *lines)
{
    al_auto(al_freep) char *text = git_output(w->repo, "diff-tree", "-r", "--raw", "--no-renames",
                                              "--no-abbrev", old, now, NULL);
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *tab = strchr(line, '\t');

        assert_non_null(tab);
        al_strv_addf(lines, "%.*s %s", (int)(tab - line - 2), line, tab + 1);
    }
}

static bool diff(struct world *w, const char *old, const char *now, struct al_strv *lines)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_object_reader_clear) struct al_object_reader reader = AL_OBJECT_READER_INIT;
    const char *const names[2] = { old, now };
    struct al_oid trees[2];

    assert_true(al_object_reader_open(&reader, &repo->at, repo->vetting->is_sha256));
    for (size_t i = 0; i < COUNT(names); i++) {
        al_auto(al_freep) char *commit = rev(w, names[i]);

        if (!al_object_reader_commit(&reader, commit, &trees[i], NULL))
            return false;
    }
    return al_tree_diff(&reader, &trees[0], &trees[1], add_line, lines);
}

static void assert_same(struct world *w, const char *old, const char *now)
{
    al_auto(al_strv_clear) struct al_strv expected = AL_STRV_INIT, found = AL_STRV_INIT;

    add_expected(w, old, now, &expected);
    assert_true(diff(w, old, now, &found));
    al_strv_sort(&expected);
    al_strv_sort(&found);
    assert_int_equal(found.count, expected.count);
    for (size_t i = 0; i < found.count; i++)
        assert_string_equal(found.items[i], expected.items[i]);
}

/* Commits in which files come, change, go, and are in each other's way. */
static void make_commits(struct world *w)
{
    static const char submodule[] = "160000,1111111111111111111111111111111111111111,sub";

    for (int i = 0; i < 40; i++) {
        al_auto(al_freep) char *name = al_asprintf("dir%d/sub/file%d.txt", i % 3, i);

        tmpdir_write(w->repo, name, "a line that many files have, so that git makes deltas\n");
    }
    git_ok(w->repo, "add", "-A", NULL);
    git_ok(w->repo, "commit", "-q", "-m", "one", NULL);
    git_ok(w->repo, "tag", "one", NULL);
    git_ok(w->repo, "rm", "-q", "-r", "dir0", NULL);
    tmpdir_write(w->repo, "dir0", "a file where a directory was\n");
    tmpdir_write(w->repo, "dir1.txt", "between dir1 and dir1/ in git's order\n");
    tmpdir_write(w->repo, "dir1-", "so is this\n");
    tmpdir_write(w->repo, "dir1/sub/file1.txt", "changed\n");
    assert_int_equal(fchmodat(w->repo->fd, "dir2/sub/file2.txt", 0755, 0), 0);
    assert_int_equal(symlinkat("dir0", w->repo->fd, "link"), 0);
    git_ok(w->repo, "add", "-A", NULL);
    git_ok(w->repo, "update-index", "--add", "--cacheinfo", submodule, NULL);
    git_ok(w->repo, "commit", "-q", "-m", "two", NULL);
    git_ok(w->repo, "tag", "two", NULL);
    for (int i = 0; i < 12; i++) {
        al_auto(al_freep) char *text = al_asprintf("%d\n", i);

        tmpdir_write(w->repo, "dir1/sub/file1.txt", text);
        git_ok(w->repo, "commit", "-q", "-a", "-m", "more", NULL);
    }
}

static void assert_all_same(struct world *w)
{
    static const char *const names[] = { "one~", "one", "two", "HEAD~3", "HEAD" };

    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t k = 0; k < COUNT(names); k++)
            assert_same(w, names[i], names[k]);
}

static void tells_what_git_tells(void **state)
{
    struct world *w = *state;

    make_commits(w);
    assert_all_same(w);
    git_ok(w->repo, "gc", "-q", "--aggressive", "--prune=now", NULL);
    assert_all_same(w);
    git_ok(w->repo, "-c", "repack.writeBitmaps=false", "repack", "-q", "-a", "-d", "-f",
           "--depth=50", "--window=50", NULL);
    assert_all_same(w);
    git_ok(w->repo, "-c", "pack.indexVersion=2", "-c", "repack.usedeltabaseoffset=false", "repack",
           "-q", "-a", "-d", "-f", NULL); /* deltas name their bases */
    assert_all_same(w);
}

/* The name of the only pack, without a suffix. */
static char *pack_name(struct world *w)
{
    char *found = git_output(w->repo, "-c", "alias.k=!ls .git/objects/pack/*.pack", "k", NULL);

    found[strcspn(found, "\n")] = '\0';
    found[strlen(found) - strlen(".pack")] = '\0';
    return found;
}

/* Whatever byte is wrong, nothing wrong is told. */
static void is_not_deceived(struct world *w, const char *suffix, size_t step)
{
    al_auto(al_freep) char *name = pack_name(w);
    al_auto(al_freep) char *path = al_asprintf("%s%s", name, suffix);
    al_auto(al_strv_clear) struct al_strv expected = AL_STRV_INIT;
    int fd;
    struct stat st;

    add_expected(w, "one", "HEAD", &expected);
    al_strv_sort(&expected);
    assert_int_equal(fchmodat(w->repo->fd, path, 0600, 0), 0);
    fd = openat(w->repo->fd, path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    for (off_t at = 0; at < st.st_size; at += (off_t)step) {
        al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;
        unsigned char was, now;

        assert_int_equal(pread(fd, &was, 1, at), 1);
        now = (unsigned char)(was ^ (at % 3 == 0 ? 0xff : 1 << (at % 8)));
        assert_int_equal(pwrite(fd, &now, 1, at), 1);
        if (diff(w, "one", "HEAD", &found)) {
            al_strv_sort(&found);
            assert_int_equal(found.count, expected.count);
            for (size_t i = 0; i < found.count; i++)
                assert_string_equal(found.items[i], expected.items[i]);
        }
        assert_int_equal(pwrite(fd, &was, 1, at), 1);
    }
    (void)close(fd);
    assert_same(w, "one", "HEAD"); /* the control */
}

static void tells_nothing_wrong_of_a_broken_pack(void **state)
{
    struct world *w = *state;

    make_commits(w);
    git_ok(w->repo, "gc", "-q", "--prune=now", NULL);
    is_not_deceived(w, ".pack", 151);
    is_not_deceived(w, ".idx", 211);
}

static void gives_up_when_there_is_much(void **state)
{
    struct world *w = *state;
    al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;

    for (unsigned i = 0; i < AL_READER_OBJECTS_MAX; i++) {
        al_auto(al_freep) char *name = al_asprintf("many%u/file", i);

        tmpdir_write(w->repo, name, "x\n");
    }
    git_ok(w->repo, "add", "-A", NULL);
    git_ok(w->repo, "commit", "-q", "-m", "many", NULL);
    assert_true(diff(w, "HEAD", "HEAD", &found));
    assert_false(diff(w, "HEAD~", "HEAD", &found)); /* the trees, and two commits */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(tells_what_git_tells),
        WORLD_TEST(tells_nothing_wrong_of_a_broken_pack),
        WORLD_TEST(gives_up_when_there_is_much),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/plumbing/tree_diff", tests, NULL, NULL);
}
