// SPDX-License-Identifier: Apache-2.0
/* staging/pull/pull.c: somebody writes into the directory of the sandbox while a pull changes it.
 */
#include "staging/pull/pull.h"
#include "staging/sandbox/backend.h"
#include "tests/unit/staging/lib.h"

/* What is written when the pull reads content from the store for the first time, which is after its
 * last look at all files. */
static struct {
    struct tmpdir *dir;
    const char *path, *text; /* NULL: it is removed */
    struct al_blob_source inner;
} editor;

static int read_and_write(void *payload, const char *const *oids, size_t count, al_blob_take *take,
                          void *take_payload, struct al_error *err)
{
    (void)payload;
    if (editor.path && editor.text)
        tmpdir_write(editor.dir, editor.path, editor.text);
    else if (editor.path)
        assert_int_equal(unlinkat(editor.dir->fd, editor.path, 0), 0);
    editor.path = NULL;
    return editor.inner.read(editor.inner.payload, oids, count, take, take_payload, err);
}

/* A session whose sandbox is a directory. */
static int directory_setup(void **state)
{
    struct stager *s;

    (void)stager_setup(state);
    s = *state;
    al_staging_free(al_take(&s->staging));
    al_sandbox_free(al_take(&s->sandbox));
    editor.dir = subdir_open(s->w->place, "workspace");
    must(s, al_sandbox_new(&(struct al_sandbox_options){ .in_directory = true,
                                                         .path = editor.dir->path,
                                                         .max_bytes = 1u << 24 },
                           &s->sandbox, &s->w->err));
    s->options.sandbox = s->sandbox;
    must(s, al_staging_new(&s->options, BUDGET, &s->staging, &s->w->err));
    editor.inner = s->sandbox->source;
    al_sandbox_set_source(s->sandbox, &(struct al_blob_source){ .read = read_and_write });
    return 0;
}

static int directory_teardown(void **state)
{
    subdir_close(editor.dir);
    return stager_teardown(state);
}

/* Pull everything; gives what al_pull() returned. */
static int pull_all(struct stager *s)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(s->w, "repo");
    al_auto(al_pull_result_clear) struct al_pull_result result = AL_PULL_RESULT_INIT;
    al_auto(al_freep) char *head = git_output(s->w->repo, "rev-parse", "HEAD", NULL);
    const struct al_pull_request request = { .repo = repo,
                                             .target = "local:repo",
                                             .branch = "refs/heads/main",
                                             .commit = head,
                                             .where = "local:repo",
                                             .everything = true };

    head[strcspn(head, "\n")] = '\0';
    al_error_clear(&s->w->err);
    return al_pull(s->staging, &request, BUDGET, &result, &s->w->err);
}

static void assert_file(const char *name, const char *wanted)
{
    al_auto(al_freep) char *text = tmpdir_read(editor.dir, name);

    if (wanted)
        assert_string_equal(text, wanted);
    else
        assert_null(text);
}

/* a.txt, b.txt and c.txt were pulled, and change; d.txt is gone and e.txt new there. */
static void begin(struct stager *s)
{
    for (const char *name = "bcd"; *name; name++) {
        al_auto(al_freep) char *file = al_asprintf("%c.txt", *name);

        tmpdir_write(s->w->repo, file, "one\n");
    }
    git_ok(s->w->repo, "add", "-A", NULL);
    git_ok(s->w->repo, "commit", "-q", "-m", "one", NULL);
    must(s, pull_all(s));
    for (const char *name = "abce"; *name; name++) {
        al_auto(al_freep) char *file = al_asprintf("%c.txt", *name);

        tmpdir_write(s->w->repo, file, "two\n");
    }
    git_ok(s->w->repo, "rm", "-q", "d.txt", NULL);
    git_ok(s->w->repo, "add", "-A", NULL);
    git_ok(s->w->repo, "commit", "-q", "-m", "two", NULL);
}

static void assert_as_before_but(const char *path, const char *text)
{
    for (const char *name = "abcde"; *name; name++) {
        al_auto(al_freep) char *file = al_asprintf("%c.txt", *name);

        assert_file(file, !strcmp(file, path) ? text : *name == 'e' ? NULL : "one\n");
    }
}

/* The pull fails, the other files are as they were, and the next pull merges. */
static void what_an_editor_writes_stays(void **state)
{
    struct stager *s = *state;

    begin(s);
    editor.path = "b.txt";
    editor.text = "mine\n";
    assert_int_equal(pull_all(s), AL_ERR_EXECUTION);
    assert_non_null(strstr(s->w->err.message, "'/workspace/b.txt' was changed meanwhile"));
    assert_as_before_but("b.txt", "mine\n");
    must(s, pull_all(s));
    assert_file("a.txt", "two\n");
    assert_file("b.txt", "<<<<<<< ours (sandbox)\nmine\n=======\ntwo\n>>>>>>> theirs "
                         "(incoming)\n");
    assert_file("c.txt", "two\n");
    assert_file("d.txt", NULL);
    assert_file("e.txt", "two\n");
}

static void what_an_editor_creates_stays(void **state)
{
    struct stager *s = *state;

    begin(s);
    editor.path = "e.txt";
    editor.text = "mine\n";
    assert_int_equal(pull_all(s), AL_ERR_EXECUTION);
    assert_as_before_but("e.txt", "mine\n");
}

static void what_an_editor_removes_is_not_there_again(void **state)
{
    struct stager *s = *state;

    begin(s);
    editor.path = "c.txt";
    editor.text = NULL;
    assert_int_equal(pull_all(s), AL_ERR_EXECUTION);
    assert_as_before_but("c.txt", NULL);
}

/* An editor that saves what was there changes nothing. */
static void the_same_content_is_no_change(void **state)
{
    struct stager *s = *state;

    begin(s);
    editor.path = "b.txt";
    editor.text = "one\n";
    must(s, pull_all(s));
    assert_file("b.txt", "two\n");
}

#define IN_DIRECTORY(test)                                                                         \
    cmocka_unit_test_setup_teardown(test, directory_setup, directory_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        IN_DIRECTORY(what_an_editor_writes_stays),
        IN_DIRECTORY(what_an_editor_creates_stays),
        IN_DIRECTORY(what_an_editor_removes_is_not_there_again),
        IN_DIRECTORY(the_same_content_is_no_change),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("staging/pull/apply", tests, NULL, NULL);
}
