// SPDX-License-Identifier: Apache-2.0
/* staging/stage.h: what a word stands for, what is refused, and what a staged commit is. */
#include "tests/unit/staging/lib.h"

static void stages_a_new_file(void **state)
{
    struct stager *s = *state;

    put(s, "report.md", "one\n");
    assert_changes(s, "+ report.md");
    stage(s, "/workspace/report.md", "Add report");
    assert_files(s, "+ report.md");
    assert_int_equal(strlen(s->last.id), 36);
    assert_int_equal(s->last.id[14], '4');
    assert_int_equal(s->last.files[0].size, 4);
    assert_int_equal(s->last.files[0].mode, 0100644);
    assert_changes(s, "");
    assert_staged(s, "Add report");
    assert_whole(s);
}

static void compares_with_the_base_and_with_what_is_staged(void **state)
{
    struct stager *s = *state;

    pull(s, "a", 0100644, "1\n");
    pull(s, "b", 0100755, "1\n");
    pull(s, "c", 0100644, "1\n");
    assert_changes(s, "");
    put(s, "a", "2\n");
    put(s, "c", NULL);
    put(s, "d", "1\n");
    assert_changes(s, "M a, - c, + d");
    stage(s, "/workspace", "first");
    assert_files(s, "M a, - c, + d");
    assert_changes(s, "");
    put(s, "a", "3\n");
    assert_changes(s, "M a");
    stage(s, "/workspace/a", "second");
    put(s, "a", "2\n");
    assert_changes(s, "M a");
    put(s, "a", "3\n");
    assert_changes(s, "");
    assert_staged(s, "first,second");
}

static void keeps_the_mode(void **state)
{
    struct stager *s = *state;

    pull(s, "run", 0100755, "1\n");
    put(s, "run", "2\n");
    stage(s, "/workspace/run", "x");
    assert_int_equal(s->last.files[0].mode, 0100755);
}

static void words_stand_for_files_directories_and_patterns(void **state)
{
    static const struct {
        const char *words, *files;
    } cases[] = {
        { "/workspace", "+ a.md, + a[1], + d/b.md, + d/c.txt, + d/e/f.md" },
        { "/workspace/", "+ a.md, + a[1], + d/b.md, + d/c.txt, + d/e/f.md" },
        { "/workspace/d", "+ d/b.md, + d/c.txt, + d/e/f.md" },
        { "/workspace/d/", "+ d/b.md, + d/c.txt, + d/e/f.md" },
        { "/workspace/*.md", "+ a.md" },
        { "/workspace/**/*.md", "+ a.md, + d/b.md, + d/e/f.md" },
        { "/workspace/d/*", "+ d/b.md, + d/c.txt" },
        { "/workspace/?.md", "+ a.md" },
        { "/workspace/a[1]", "+ a[1]" },
        { "/workspace/d/b.md /workspace/a.md", "+ a.md, + d/b.md" },
        { "/workspace/d /workspace/d/b.md /workspace/d/*.md", "+ d/b.md, + d/c.txt, + d/e/f.md" },
    };
    struct stager *s = *state;

    put(s, "a.md", "1\n");
    put(s, "a[1]", "1\n");
    put(s, "d/b.md", "1\n");
    put(s, "d/c.txt", "1\n");
    put(s, "d/e/f.md", "1\n");
    for (size_t i = 0; i < COUNT(cases); i++) {
        stage(s, cases[i].words, "x");
        assert_files(s, cases[i].files);
        must(s, al_staged_discard(s->staging, &s->last, BUDGET, &s->w->err));
    }
}

static void refuses_what_does_not_exist_or_is_unchanged(void **state)
{
    struct stager *s = *state;

    pull(s, "same", 0100644, "1\n");
    pull(s, "d/same", 0100644, "1\n");
    put(s, "new", "1\n");
    assert_not_staged(s, "/workspace/none", "there is no '/workspace/none' in the sandbox");
    assert_string_equal(s->w->err.reason, "not_found");
    assert_not_staged(s, "/workspace/new/", "there is no '/workspace/new/' in the sandbox");
    assert_not_staged(s, "/workspace/*.md", "no file in the sandbox matches '/workspace/*.md'");
    assert_not_staged(s, "/workspace/same",
                      "'/workspace/same' is unchanged, so there is nothing to stage");
    assert_int_equal(s->w->err.code, AL_CODE_NO_STAGED_CHANGES);
    assert_not_staged(s, "/workspace/d",
                      "no file in '/workspace/d' has changed, so there is nothing to stage");
    assert_not_staged(s, "/workspace/s*",
                      "no file that matches '/workspace/s*' has changed, so there is nothing to "
                      "stage");
    assert_not_staged(s, "/workspace/new /workspace/same",
                      "'/workspace/same' is unchanged, so there is nothing to stage");
    assert_true(try_stage(s, "/etc/passwd", "x") == AL_ERR_SANDBOX);
    assert_true(try_stage(s, "/workspace/../etc", "x") == AL_ERR_SANDBOX);
    assert_true(try_stage(s, "/workspace/.GIT/config", "x") == AL_ERR_SANDBOX);
    assert_true(try_stage(s, "new", "x") == AL_ERR_BAD_ARGS);
    assert_staged(s, "");
    assert_changes(s, "+ new");
}

static void refuses_what_is_unchanged_in_an_empty_sandbox(void **state)
{
    struct stager *s = *state;

    assert_not_staged(s, "/workspace",
                      "no file in '/workspace' has changed, so there is nothing to stage");
}

static void refuses_symbolic_links(void **state)
{
    struct stager *s = *state;

    pull(s, "link", 0120000, "one");
    {
        al_auto(al_base_clear) struct al_base base = { .heads = NULL };

        must(s, al_base_save(s->staging, s->staging->key, &base, BUDGET, &s->w->err));
    }
    put(s, "file", "1\n");
    assert_changes(s, "+ file, + link");
    assert_not_staged(s, "/workspace",
                      "'/workspace/link' is a symbolic link; stage a file, or let the user set "
                      "staging.allow_symlinks");
    stage(s, "/workspace/file", "x");
}

static void limits_the_content(void **state)
{
    struct stager *s = *state;

    s->options.max_bytes = 10;
    open_session(s);
    put(s, "a", "12345");
    put(s, "b", "1234");
    stage(s, "/workspace", "9 of 10");
    put(s, "b", "12346");
    put(s, "a", "12346");
    stage(s, "/workspace", "10 of 10");
    put(s, "b", "123456");
    put(s, "a", "12347");
    assert_not_staged(s, "/workspace",
                      "11 bytes are more than the 10 of one staged commit; stage fewer files at a "
                      "time or raise staging.max_bytes");
    stage(s, "/workspace/a", "alone");
}

static void limits_the_content_of_all_staged_commits(void **state)
{
    struct stager *s = *state;

    s->options.max_bytes = 10;
    open_session(s);
    for (int i = 0; i < 8; i++) {
        al_auto(al_freep) char *text = al_asprintf("123456789%d", i);

        put(s, "a", text);
        stage(s, "/workspace/a", "10 of 80");
    }
    put(s, "b", "1");
    assert_not_staged(s, "/workspace/b",
                      "all staged commits would have 81 bytes, and the most is 80; push or discard "
                      "some first, or raise staging.max_bytes");
    put(s, "b", "");
    stage(s, "/workspace/b", "0 of 80");
}

static void a_file_may_replace_a_directory(void **state)
{
    struct stager *s = *state;

    pull(s, "a/b", 0100644, "1\n");
    pull(s, "a-b", 0100644, "1\n");
    pull(s, "c", 0100644, "1\n");
    put(s, "a/b", NULL);
    put(s, "a", "file\n");
    put(s, "c", NULL);
    put(s, "c/d/e", "below\n");
    put(s, "a-b", NULL);
    stage(s, "/workspace/a", "a");
    assert_files(s, "+ a, - a/b");
    stage(s, "/workspace/c/d/e", "c");
    assert_files(s, "- c, + c/d/e");
    assert_changes(s, "- a-b");
    assert_whole(s);
}

static void is_frozen(void **state)
{
    struct stager *s = *state;
    al_auto(al_freep) char *said = NULL;
    al_auto(al_freep) char *spec = NULL;
    char oid[AL_OID_TEXT];

    put(s, "a", "staged\n");
    stage(s, "/workspace/a", "First line\n\nBody\n");
    put(s, "a", "later\n");
    al_oid_text(&s->last.commit, false, oid);
    spec = al_asprintf("%s:a", oid);
    said = store_git(s, "show", spec);
    assert_string_equal(said, "staged\n");
    assert_string_equal(s->last.message, "First line\n\nBody\n");
    assert_changes(s, "M a");
}

static void works_with_sha256(void **state)
{
    struct stager *s = *state;

    s->options.sha256 = true;
    open_session(s);
    put(s, "a", "1\n");
    stage(s, "/workspace/a", "x");
    assert_changes(s, "");
    open_session(s);
    assert_staged(s, "x");
    assert_whole(s);
    s->options.sha256 = false;
    open_session(s);
    assert_staged(s, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGER_TEST(stages_a_new_file),
        STAGER_TEST(compares_with_the_base_and_with_what_is_staged),
        STAGER_TEST(keeps_the_mode),
        STAGER_TEST(words_stand_for_files_directories_and_patterns),
        STAGER_TEST(refuses_what_does_not_exist_or_is_unchanged),
        STAGER_TEST(refuses_what_is_unchanged_in_an_empty_sandbox),
        STAGER_TEST(refuses_symbolic_links),
        STAGER_TEST(limits_the_content),
        STAGER_TEST(limits_the_content_of_all_staged_commits),
        STAGER_TEST(a_file_may_replace_a_directory),
        STAGER_TEST(is_frozen),
        STAGER_TEST(works_with_sha256),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("staging/stage", tests, NULL, NULL);
}
