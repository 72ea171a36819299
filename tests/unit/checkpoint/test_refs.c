// SPDX-License-Identifier: Apache-2.0
/* checkpoint/refs.h: references are what git takes them for, loose or packed, and nothing else is
 * one.  test_caps.c has the limits. */
#include "checkpoint/refs.h"

#include <sys/stat.h>

#include "gitops/deadline.h"
#include "tests/lib/assert.h"
#include "tests/lib/git_fixture.h"
#include "tests/unit/gitops/lib.h"

#define ONE    "1111111111111111111111111111111111111111"
#define TWO    "2222222222222222222222222222222222222222"
#define SHA256 ONE "222222222222222222222222"

struct refs_world {
    struct tmpdir *home, *repo, *git_dir;
    struct al_error err;
};

static int setup(void **state)
{
    struct refs_world *w = al_calloc(1, sizeof(*w));

    w->home = tmpdir_new();
    w->repo = tmpdir_new();
    git_fixture_environment(w->home);
    git_fixture_init(w->repo);
    git_fixture_commit(w->repo, "a.txt", "one\n", "first");
    w->git_dir = subdir_open(w->repo, ".git");
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct refs_world *w = *state;

    al_error_clear(&w->err);
    subdir_close(w->git_dir);
    tmpdir_free(w->repo);
    tmpdir_free(w->home);
    free(w);
    return 0;
}

#define REFS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* What is read, as text.  Caller frees. */
static char *dump(struct refs_world *w, int git_fd, bool sha256)
{
    al_auto(al_refs_clear) struct al_refs refs = { .items = NULL };
    struct al_run_limits limits = { .left_ms = LONG_MS };
    struct al_deadline deadline = al_deadline_begin(&limits);
    struct al_str text = AL_STR_INIT;

    assert_int_equal(al_refs_read(w->git_dir->fd, git_fd, sha256, &deadline, &refs, &w->err), 0);
    al_refs_dump(&refs, &text);
    return text.buf ? al_str_detach(&text) : al_strdup("");
}

/* The same from git, in the same form.  Caller frees. */
static char *git_dump(const struct tmpdir *repo)
{
    return git_output(repo, "for-each-ref", "--sort=refname",
                      "--format=%(if)%(symref)%(then)ref: %(symref)%(else)%(objectname)%(end) "
                      "%(refname)",
                      NULL);
}

static void assert_like_git(struct refs_world *w)
{
    al_auto(al_freep) char *ours = dump(w, -1, false);
    al_auto(al_freep) char *gits = git_dump(w->repo);

    assert_string_equal(ours, gits);
}

static void assert_has(struct refs_world *w, const char *name, bool expected)
{
    al_auto(al_freep) char *text = dump(w, -1, false);
    al_auto(al_freep) char *line = al_asprintf(" %s\n", name);

    if (!strstr(text, line) == expected)
        print_message("# %s in:\n%s", name, text);
    assert_int_equal(strstr(text, line) != NULL, expected);
}

static void understands_the_line_of_a_reference(void **state)
{
    static const struct {
        const char *text;
        bool sha256;
        const char *value;
    } rows[] = {
        { ONE, false, ONE },
        { ONE "\n", false, ONE },
        { ONE "\r\n", false, ONE },
        { ONE " said\n", false, ONE },
        { SHA256 "\n", true, SHA256 },
        { "ref: refs/heads/main\n", false, "ref: refs/heads/main" },
        { "ref:refs/heads/main", false, "ref: refs/heads/main" },
        { "ref: \t refs/heads/main \n", false, "ref: refs/heads/main" },
        { "ref: refs/heads/main\n", true, "ref: refs/heads/main" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *value = al_ref_value(rows[i].text, rows[i].sha256);

        assert_non_null(value);
        assert_string_equal(value, rows[i].value);
    }
}

static void refuses_every_other_line(void **state)
{
    static const struct {
        const char *text;
        bool sha256;
    } rows[] = {
        { "", false },
        { "\n" ONE, false },
        { "main", false },
        { " " ONE, false },
        { "111111111111111111111111111111111111111", false },
        { ONE "1", false },
        { "g" TWO, false },
        { SHA256, false },
        { ONE, true },
        { "ref:", false },
        { "ref: main", false },
        { "ref: ../../HEAD", false },
        { "ref: refs/heads/a b", false },
        { "ref: refs/heads/a\x7f", false },
        { "ref: refs/heads/a\x01", false },
        { "REF: refs/heads/main", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *value = al_ref_value(rows[i].text, rows[i].sha256);

        if (value)
            print_message("# '%s' is '%s'\n", rows[i].text, value);
        assert_null(value);
    }
}

static void reads_loose_and_packed_references_as_git_does(void **state)
{
    struct refs_world *w = *state;

    assert_like_git(w);
    git_ok(w->repo, "branch", "feature/deep/one", NULL);
    git_ok(w->repo, "branch", "feature-two", NULL);
    git_ok(w->repo, "tag", "-a", "-m", "annotated", "v1", NULL);
    git_ok(w->repo, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/main", NULL);
    assert_like_git(w);
    git_ok(w->repo, "pack-refs", "--all", NULL); /* with a peeled line for v1 */
    assert_like_git(w);
    git_ok(w->repo, "branch", "loose", NULL);
    git_fixture_commit(w->repo, "a.txt", "two\n", "second"); /* main is loose and packed */
    assert_like_git(w);
    git_ok(w->repo, "branch", "-d", "feature-two", NULL);
    assert_like_git(w);
}

static void reads_a_link_as_a_symbolic_reference(void **state)
{
    struct refs_world *w = *state;
    al_auto(al_freep) char *text = NULL;

    tmpdir_symlink(w->repo, "refs/heads/main", ".git/refs/heads/linked");
    tmpdir_symlink(w->repo, "/etc/passwd", ".git/refs/heads/outside");
    tmpdir_symlink(w->repo, "../tags", ".git/refs/heads/no-name");
    text = dump(w, -1, false);
    assert_non_null(strstr(text, "ref: refs/heads/main refs/heads/linked\n"));
    assert_has(w, "refs/heads/outside", false);
    assert_has(w, "refs/heads/no-name", false);
}

static void passes_over_what_is_no_reference(void **state)
{
    struct refs_world *w = *state;
    static const struct {
        const char *path, *text;
    } files[] = {
        { ".git/refs/heads/held.lock", ONE "\n" }, { ".git/refs/heads/.hidden", ONE "\n" },
        { ".git/refs/heads/two words", ONE "\n" }, { ".git/refs/heads/a\nline", ONE "\n" },
        { ".git/refs/heads/empty", "" },           { ".git/refs/heads/prose", "not an id\n" },
        { ".git/refs/heads/short", "1111\n" },
    };
    al_auto(al_freep) char *before = dump(w, -1, false), *after = NULL;

    for (size_t i = 0; i < COUNT(files); i++)
        tmpdir_write(w->repo, files[i].path, files[i].text);
    assert_int_equal(mkfifoat(w->git_dir->fd, "refs/heads/fifo", 0600), 0);
    after = dump(w, -1, false);
    assert_string_equal(after, before);
    tmpdir_write(w->repo, ".git/refs/heads/good", ONE "\n");
    assert_has(w, "refs/heads/good", true);
}

static void enters_no_directory_that_is_a_link(void **state)
{
    struct refs_world *w = *state;
    al_auto(al_freep) char *theirs = tmpdir_path(w->home, "refs");

    tmpdir_write(w->home, "refs/heads/theirs", ONE "\n");
    tmpdir_write(w->home, "real/theirs", ONE "\n");
    tmpdir_symlink(w->repo, w->home->path, ".git/refs/elsewhere");
    assert_has(w, "refs/elsewhere/real/theirs", false);
    assert_has(w, "refs/heads/main", true);
    assert_int_equal(renameat(w->git_dir->fd, "refs", w->git_dir->fd, "refs.real"), 0);
    tmpdir_symlink(w->repo, theirs, ".git/refs");
    assert_has(w, "refs/heads/theirs", false);
}

static void passes_over_lines_of_packed_refs_that_name_none(void **state)
{
    struct refs_world *w = *state;

    tmpdir_write(w->repo, ".git/packed-refs",
                 "# pack-refs with: peeled fully-peeled sorted\n" ONE " refs/tags/good\n^" TWO "\n"
                 "no line of it\n" ONE "\n" ONE " HEAD\n" ONE " refs/tags/two words\n"
                 "1111 refs/tags/short\n" SHA256 " refs/tags/long\n" TWO " refs/heads/b\n" TWO
                 " refs/tags/no-newline");
    assert_has(w, "refs/tags/good", true);
    assert_has(w, "refs/heads/b", true); /* though it is out of order */
    assert_has(w, "refs/tags/no-newline", true);
    assert_has(w, "HEAD", false);
    assert_has(w, "refs/tags/two words", false);
    assert_has(w, "refs/tags/short", false);
    assert_has(w, "refs/tags/long", false);
}

/* git writes none such; a rollback must not move one reference twice. */
static void reads_a_name_that_is_packed_twice_once(void **state)
{
    struct refs_world *w = *state;
    al_auto(al_freep) char *text = NULL;
    const char *found;

    tmpdir_write(w->repo, ".git/packed-refs", ONE " refs/tags/v1\n" TWO " refs/tags/v1\n");
    text = dump(w, -1, false);
    found = strstr(text, " refs/tags/v1\n");
    assert_non_null(found);
    assert_null(strstr(found + 1, " refs/tags/v1\n"));
}

static void fails_when_packed_refs_cannot_be_read(void **state)
{
    struct refs_world *w = *state;
    al_auto(al_refs_clear) struct al_refs refs = { .items = NULL };
    struct al_run_limits limits = { .left_ms = LONG_MS };
    struct al_deadline deadline = al_deadline_begin(&limits);

    tmpdir_mkdir(w->repo, ".git/packed-refs");
    assert_int_equal(al_refs_read(w->git_dir->fd, -1, false, &deadline, &refs, &w->err),
                     AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "packed-refs"));
    assert_int_equal(refs.count, 0);
}

static void reads_ids_of_sha256(void **state)
{
    struct refs_world *w = *state;
    al_auto(subdir_closep) struct tmpdir *repo = subdir_open(w->repo, "sha256");
    al_auto(al_freep) char *ours = NULL, *gits = NULL;

    git_ok(repo, "init", "-q", "-b", "main", "--object-format=sha256", NULL);
    git_fixture_commit(repo, "b.txt", "one\n", "first");
    git_ok(repo, "branch", "other", NULL);
    git_ok(repo, "pack-refs", "--all", NULL);
    git_ok(repo, "branch", "third", NULL);
    subdir_close(w->git_dir);
    w->git_dir = subdir_open(repo, ".git");
    ours = dump(w, -1, true);
    gits = git_dump(repo);
    assert_string_equal(ours, gits);
    al_freep(&ours);
    ours = dump(w, -1, false);
    assert_string_equal(ours, "");
}

/* git-worktree(1), "REFS": these are each working tree's own, all others are shared. */
static void reads_a_linked_working_trees_own_references_from_its_git_directory(void **state)
{
    struct refs_world *w = *state;
    al_auto(subdir_closep) struct tmpdir *own = NULL;
    al_auto(al_freep) char *linked = NULL, *main_text = NULL;

    git_ok(w->repo, "worktree", "add", "-q", "-b", "side", "linked", NULL);
    own = subdir_open(w->git_dir, "worktrees/linked");
    tmpdir_write(own, "refs/worktree/mine", ONE "\n");
    tmpdir_write(own, "refs/bisect/bad", ONE "\n");
    tmpdir_write(own, "refs/rewritten/onto", ONE "\n");
    tmpdir_write(own, "refs/heads/forged", ONE "\n");
    tmpdir_write(w->git_dir, "refs/worktree/theirs", TWO "\n");
    tmpdir_write(w->git_dir, "refs/bisect/bad", TWO "\n");
    linked = dump(w, own->fd, false);
    assert_non_null(strstr(linked, ONE " refs/worktree/mine\n"));
    assert_non_null(strstr(linked, ONE " refs/bisect/bad\n"));
    assert_non_null(strstr(linked, ONE " refs/rewritten/onto\n"));
    assert_non_null(strstr(linked, " refs/heads/side\n"));
    assert_null(strstr(linked, TWO));
    assert_null(strstr(linked, "forged"));
    main_text = dump(w, -1, false);
    assert_non_null(strstr(main_text, TWO " refs/worktree/theirs\n"));
    assert_null(strstr(main_text, ONE));
}

static void parses_what_it_dumped(void **state)
{
    static const char *const texts[] = {
        "",
        ONE " refs/heads/main\n",
        ONE " refs/heads/main\nref: refs/heads/main refs/remotes/origin/HEAD\n" TWO
            " refs/tags/v1\n",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        al_auto(al_refs_clear) struct al_refs refs = { .items = NULL };
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        assert_true(al_refs_parse(texts[i], strlen(texts[i]), &refs));
        assert_int_equal(refs.count, i == 2 ? 3 : i);
        al_refs_dump(&refs, &text);
        assert_int_equal(text.len, strlen(texts[i]));
        assert_memory_equal(text.buf, texts[i], text.len);
    }
}

static void parses_nothing_that_is_cut_or_has_no_name(void **state)
{
    static const char *const texts[] = { "\n",
                                         ONE "\n",
                                         ONE " refs/heads/main",
                                         ONE " refs/heads/main\n" TWO,
                                         " ",
                                         ONE " refs/heads/main\n\n" };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct al_refs refs = { .items = NULL };

        assert_false(al_refs_parse(texts[i], strlen(texts[i]), &refs));
        assert_null(refs.items);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(understands_the_line_of_a_reference),
        cmocka_unit_test(refuses_every_other_line),
        REFS_TEST(reads_loose_and_packed_references_as_git_does),
        REFS_TEST(reads_a_link_as_a_symbolic_reference),
        REFS_TEST(passes_over_what_is_no_reference),
        REFS_TEST(enters_no_directory_that_is_a_link),
        REFS_TEST(passes_over_lines_of_packed_refs_that_name_none),
        REFS_TEST(reads_a_name_that_is_packed_twice_once),
        REFS_TEST(fails_when_packed_refs_cannot_be_read),
        REFS_TEST(reads_ids_of_sha256),
        REFS_TEST(reads_a_linked_working_trees_own_references_from_its_git_directory),
        cmocka_unit_test(parses_what_it_dumped),
        cmocka_unit_test(parses_nothing_that_is_cut_or_has_no_name),
    };

    return cmocka_run_group_tests_name("checkpoint/refs", tests, NULL, NULL);
}
