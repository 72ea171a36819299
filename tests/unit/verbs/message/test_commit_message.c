// SPDX-License-Identifier: Apache-2.0
/* verbs/message/commit_message.c, file_category.c, git/plumbing/diff_raw.c: the same staged
 * change always gives the same message, with a subject that fits a line. */
#include "git/command.h"
#include "git/plumbing/diff_raw.h"
#include "tests/unit/git/lib.h"
#include "verbs/message/commit_message.h"

static char *describe(struct world *w)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    char *message = NULL;

    al_error_clear(&w->err);
    if (al_git_suggest_message(repo, &message, NULL, &w->err) < 0)
        print_message("# %s\n", w->err.message);
    return message;
}

/* Stage everything, assert the generated message, then commit. */
static void assert_says(struct world *w, const char *expected)
{
    al_auto(al_freep) char *message = NULL;
    al_auto(al_freep) char *again = NULL;

    git_ok(w->repo, "add", "-A", NULL);
    message = describe(w);
    again = describe(w);
    assert_string_equal(message, expected);
    assert_string_equal(message, again);
    git_ok(w->repo, "commit", "-q", "-m", "x", NULL);
}

static void one_file_needs_no_body(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, "src/auth/login.ts", "1\n2\n3\n");
    assert_says(w, "feat(auth): add login.ts\n");
    tmpdir_write(w->repo, "src/auth/login.ts", "1\n2\n4\n");
    assert_says(w, "fix(auth): update login.ts\n");
    git_ok(w->repo, "mv", "src/auth/login.ts", "src/auth/sign-in.ts", NULL);
    assert_says(w, "refactor(auth): rename login.ts to sign-in.ts\n\n"
                   "- rename src/auth/login.ts to src/auth/sign-in.ts\n");
    git_ok(w->repo, "mv", "src/auth/sign-in.ts", "sign-in.ts", NULL);
    assert_says(w, "refactor: move sign-in.ts to the top\n\n"
                   "- rename src/auth/sign-in.ts to sign-in.ts\n");
    git_ok(w->repo, "rm", "-q", "sign-in.ts", NULL);
    assert_says(w, "refactor: remove sign-in.ts\n");
}

static void lines_tell_what_a_change_of_code_is(void **state)
{
    static const char many[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n";
    struct world *w = *state;

    tmpdir_write(w->repo, "code.c", "");
    git_ok(w->repo, "add", "-A", NULL);
    git_ok(w->repo, "commit", "-q", "-m", "x", NULL);
    tmpdir_write(w->repo, "code.c", many + 2); /* ten lines */
    assert_says(w, "fix: update code.c\n");
    tmpdir_write(w->repo, "code.c", "");
    assert_says(w, "fix: update code.c\n");
    tmpdir_write(w->repo, "code.c", many);
    assert_says(w, "feat: update code.c\n");
    tmpdir_write(w->repo, "code.c", "");
    assert_says(w, "refactor: update code.c\n");
}

static void kinds_have_their_types(void **state)
{
    static const struct {
        const char *path, *expected;
    } cases[] = {
        { "README.md", "docs: add README.md\n" },
        { "docs/guide/start.txt", "docs(guide): add start.txt\n" },
        { "tests/auth/login.test.ts", "test(auth): add login.test.ts\n" },
        { "src/parser_test.go", "test: add parser_test.go\n" },
        { "Makefile", "build: add Makefile\n" },
        { "packages/core/package.json", "build(core): add package.json\n" },
        { ".github/workflows/ci.yml", "ci: add ci.yml\n" },
        { ".woodpecker.yml", "ci: add .woodpecker.yml\n" },
        { ".gitignore", "chore: add .gitignore\n" },
        { "packages/core/src/x.ts", "feat(core): add x.ts\n" },
        { "Weird Dir/x.ts", "feat: add x.ts\n" },
        { "Upper/x.ts", "feat(upper): add x.ts\n" },
        { "twenty-one-characters/x.ts", "feat: add x.ts\n" },
        { "twenty-characters-xx/x.ts", "feat(twenty-characters-xx): add x.ts\n" },
    };
    struct world *w = *state;

    for (size_t i = 0; i < COUNT(cases); i++) {
        tmpdir_write(w->repo, cases[i].path, "/none\n");
        assert_says(w, cases[i].expected);
    }
}

static void several_files_are_listed(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, "src/auth/login.ts", "1\n");
    tmpdir_write(w->repo, "src/auth/logout.ts", "1\n2\n");
    assert_says(w, "feat(auth): add login.ts and logout.ts\n\n"
                   "- add src/auth/login.ts (+1 -0)\n- add src/auth/logout.ts (+2 -0)\n");
    tmpdir_write(w->repo, "src/auth/login.ts", "2\n");
    tmpdir_write(w->repo, "src/db/pool.ts", "1\n");
    tmpdir_write(w->repo, "docs/db.md", "db\n");
    tmpdir_write(w->repo, "tests/db.ts", "db\n");
    assert_says(w, "feat: update login.ts and pool.ts\n\n"
                   "- add docs/db.md (+1 -0)\n- update src/auth/login.ts (+1 -1)\n"
                   "- add src/db/pool.ts (+1 -0)\n- add tests/db.ts (+1 -0)\n");
    tmpdir_write(w->repo, "docs/db.md", "2\n");
    tmpdir_write(w->repo, "tests/db.ts", "2\n");
    assert_says(w, "chore: update db.md and db.ts\n\n"
                   "- update docs/db.md (+1 -1)\n- update tests/db.ts (+1 -1)\n");
}

static void many_files_are_counted(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *message = NULL;
    size_t lines = 0;

    for (int i = 0; i < 25; i++) {
        al_auto(al_freep) char *name = al_asprintf("src/auth/%02d.ts", i);

        tmpdir_write(w->repo, name, "1\n");
    }
    git_ok(w->repo, "add", "-A", NULL);
    message = describe(w);
    assert_true(al_starts_with(message, "feat(auth): add 25 files in src/auth\n\n- add src/"));
    assert_true(al_ends_with(message, "- add src/auth/19.ts (+1 -0)\n- and 5 more\n"));
    for (const char *at = message; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 2 + 20 + 1);
}

static void modes_binaries_and_submodules_have_words(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, "run.sh", "#!/bin/sh\n");
    assert_says(w, "feat: add run.sh\n");
    git_ok(w->repo, "update-index", "--chmod=+x", "run.sh", NULL);
    git_ok(w->repo, "checkout", "-q", "--", "run.sh", NULL);
    assert_says(w, "chore: make run.sh executable\n");
    git_ok(w->repo, "update-index", "--chmod=-x", "run.sh", NULL);
    git_ok(w->repo, "checkout", "-q", "--", "run.sh", NULL);
    assert_says(w, "chore: make run.sh not executable\n");
    tmpdir_write_bytes(w->repo, "logo.png", "\x89PNG\0\1", 6);
    tmpdir_write(w->repo, "b.c", "b\n");
    assert_says(w, "feat: add b.c and logo.png\n\n- add b.c (+1 -0)\n- add logo.png (binary)\n");
    git_ok(w->repo, "update-index", "--add", "--cacheinfo",
           "160000,1111111111111111111111111111111111111111,lib/foo", NULL);
    tmpdir_mkdir(w->repo, "lib/foo");
    assert_says(w, "chore: add submodule foo\n");
    git_ok(w->repo, "update-index", "--cacheinfo",
           "160000,2222222222222222222222222222222222222222,lib/foo", NULL);
    assert_says(w, "chore: update submodule foo to 2222222\n");
}

static void a_subject_fits_a_line(void **state)
{
    struct world *w = *state;

    for (size_t len = 55; len <= 75; len++) {
        al_auto(al_freep) char *name = al_malloc(len + 1);
        al_auto(al_freep) char *message = NULL;

        memset(name, 'n', len);
        name[len] = '\0';
        tmpdir_write(w->repo, name, "1\n");
        git_ok(w->repo, "add", "-A", NULL);
        message = describe(w);
        assert_true(strcspn(message, "\n") <= AL_SUBJECT_MAX);
        /* the subject is "feat: add " and the name */
        assert_int_equal(strstr(message, "feat: add nnn") != NULL, len <= AL_SUBJECT_MAX - 10);
        git_ok(w->repo, "commit", "-q", "-m", "x", NULL);
    }
}

static void names_cannot_write_the_message(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, "a\nSigned-off-by: b\x1b[31m.c", "1\n");
    assert_says(w, "feat: add a<U+000A>Signed-off-by: b.c\n");
}

/* An incomplete character before the slash must not swallow it. */
static void a_directory_is_named_in_whole_characters(void **state)
{
    static const char name[] =
        "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn";
    struct world *w = *state;
    al_auto(al_freep) char *path = al_asprintf("d\xff\x1b_/%s", name);

    tmpdir_write(w->repo, path, "1\n");
    assert_says(w, "feat: add 1 file in d<FF>\n\n"
                   "- add d<FF> (+1 -0)\n");
}

static void nothing_staged_is_said(void **state)
{
    struct world *w = *state;

    assert_null(describe(w));
    assert_int_equal(w->err.code, AL_CODE_NO_STAGED_CHANGES);
}

static void the_first_commit_is_like_any(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *message = NULL;

    git_ok(w->repo, "checkout", "-q", "--orphan", "new", NULL);
    message = describe(w);
    assert_string_equal(message, "feat: add a.txt\n");
}

static void a_merge_says_what_git_prepared(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *message = NULL;
    al_auto(al_freep) char *stale = NULL;

    git_ok(w->repo, "checkout", "-q", "-b", "feature", NULL);
    git_fixture_commit(w->repo, "a.txt", "theirs\n", "theirs");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    git_fixture_commit(w->repo, "a.txt", "ours\n", "ours");
    assert_int_equal(git_status_of(w->repo, "merge", "-q", "feature", NULL), 1);
    tmpdir_write(w->repo, "a.txt", "both\n");
    git_ok(w->repo, "add", "a.txt", NULL);
    message = describe(w);
    assert_string_equal(message, "Merge branch 'feature'\n");
    git_ok(w->repo, "merge", "--quit", NULL);
    tmpdir_write(w->repo, ".git/MERGE_MSG", "left behind\n");
    stale = describe(w);
    assert_string_equal(stale, "fix: update a.txt\n");
}

static void reads_lists_split_anywhere_and_no_others(void **state)
{
    static const char list[] = ":100644 100644 aa bb M\0a\0:100644 100644 aa aa R100\0b\0c\0"
                               "1\t2\ta\0-\t-\t\0b\0c\0";
    static const char *const broken[] = {
        ":100644 100644 aa bb",
        "1\t2",
        "x",
        ":",
        ":160000 160000 aa b\nb M",
        ":160000 160000 aa b\x1b[m M",
        ":160000 160000 aa \xff M",
        ":160000 160000 aa bg M",
        ":160000 160000 aa BB M",
        ":160000 160000 aa 00112233445566778899g M",
        ":160000 160000 a\nd bb M",
    };

    (void)state;
    for (size_t piece = 1; piece < sizeof(list); piece += 5) {
        al_auto(al_diff_raw_clear) struct al_diff_raw changes = AL_DIFF_RAW_INIT;

        for (size_t at = 0; at < sizeof(list) - 1; at += piece)
            assert_true(
                al_diff_raw_add(&changes, list + at,
                                sizeof(list) - 1 - at < piece ? sizeof(list) - 1 - at : piece));
        assert_int_equal(changes.count, 2);
        assert_int_equal(changes.items[0].deleted, 2);
        assert_false(changes.items[0].same_content);
        assert_true(changes.items[1].binary && changes.items[1].same_content);
        assert_string_equal(changes.items[1].old_path, "b");
        assert_string_equal(changes.items[1].path, "c");
    }
    for (size_t i = 0; i < COUNT(broken); i++) {
        al_auto(al_diff_raw_clear) struct al_diff_raw changes = AL_DIFF_RAW_INIT;

        assert_false(al_diff_raw_add(&changes, broken[i], strlen(broken[i]) + 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(one_file_needs_no_body),
        WORLD_TEST(lines_tell_what_a_change_of_code_is),
        WORLD_TEST(kinds_have_their_types),
        WORLD_TEST(several_files_are_listed),
        WORLD_TEST(many_files_are_counted),
        WORLD_TEST(modes_binaries_and_submodules_have_words),
        WORLD_TEST(a_subject_fits_a_line),
        WORLD_TEST(names_cannot_write_the_message),
        WORLD_TEST(a_directory_is_named_in_whole_characters),
        WORLD_TEST(nothing_staged_is_said),
        WORLD_TEST(the_first_commit_is_like_any),
        WORLD_TEST(a_merge_says_what_git_prepared),
        cmocka_unit_test(reads_lists_split_anywhere_and_no_others),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
