// SPDX-License-Identifier: Apache-2.0
/* verbs/preview/verify_objects.h: where verifying ends, and what a list of commits then says.
 * Compiled with a limit of 4096 bytes. */
#include "verbs/preview/verify_objects.h"

#include <inttypes.h>

#include "tests/unit/git/lib.h"
#include "verbs/preview/diff_excerpt.h"

static char *first_line(struct world *w, const char *const *words)
{
    char *text = git_output(w->repo, words[0], words[1], words[2], words[3], NULL);

    text[strcspn(text, "\n")] = '\0';
    return text;
}

#define line_of(w, ...) first_line(w, (const char *const[]){ __VA_ARGS__, NULL, NULL, NULL })

static char *letters(size_t len)
{
    char *text = al_malloc(len + 1);

    memset(text, 'x', len);
    text[len] = '\0';
    return text;
}

/* Write a blob of so many bytes.  Caller frees its id. */
static char *make_blob(struct world *w, size_t len)
{
    al_auto(al_freep) char *text = letters(len);

    tmpdir_write(w->repo, "blob.txt", text);
    return line_of(w, "hash-object", "-w", "blob.txt");
}

static int verify(struct world *w, const char *id, bool *ret_complete)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;

    al_error_clear(&w->err);
    *ret_complete = true;
    al_str_addf(&words, "%s\n", id);
    return al_git_verify_objects(&repo->at, &words, ret_complete, &w->err);
}

static void verifies_up_to_its_limit(void **state)
{
    struct world *w = *state;

    for (int over = -1; over <= 1; over++) {
        al_auto(al_freep) char *id = make_blob(w, (size_t)((int)AL_VERIFY_MAX_BYTES + over));
        bool complete;

        assert_int_equal(verify(w, id, &complete), 0);
        assert_int_equal(complete, over <= 0);
    }
}

/* Put another object in the place of a loose one. */
static void forge(struct world *w, const char *id)
{
    al_auto(al_freep) char *other = make_blob(w, 10);
    al_auto(al_freep) char *from = al_asprintf(".git/objects/%.2s/%s", other, other + 2);
    al_auto(al_freep) char *to = al_asprintf(".git/objects/%.2s/%s", id, id + 2);

    assert_int_equal(renameat(w->repo->fd, from, w->repo->fd, to), 0);
}

static void refuses_a_forged_object_within_the_limit(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *id = make_blob(w, AL_VERIFY_MAX_BYTES);
    bool complete;

    forge(w, id);
    assert_int_equal(verify(w, id, &complete), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, id));
    assert_non_null(strstr(w->err.message, "has other content than its id says"));
}

static size_t size_of_commit(struct world *w, const char *name)
{
    al_auto(al_freep) char *size = line_of(w, "cat-file", "-s", name);

    return (size_t)strtoumax(size, NULL, 10);
}

/* Give HEAD a message so long that verifying it and its parent takes `total` bytes. */
static void amend_to(struct world *w, size_t total)
{
    size_t parent = size_of_commit(w, "HEAD~");
    size_t len = total / 2;

    for (int round = 0; round < 2; round++) {
        al_auto(al_freep) char *message = letters(len);

        git_ok(w->repo, "commit", "-q", "--amend", "--allow-empty", "-m", message, NULL);
        len += total - parent - size_of_commit(w, "HEAD");
    }
    assert_int_equal(size_of_commit(w, "HEAD") + parent, total);
}

static void a_list_of_commits_says_that_there_are_too_many(void **state)
{
    static const char *const words[] = { "HEAD", NULL };
    static const char *const none[] = { "HEAD", "^HEAD", NULL };
    static const char warning[] = "There are too many commits to verify all of them.\n";
    struct world *w = *state;

    git_ok(w->repo, "commit", "-q", "--allow-empty", "-m", "x", NULL);
    for (int over = -1; over <= 1; over++) {
        al_auto(repo_freep) struct al_repo *repo = NULL;
        struct al_commits_shown shown = { .words = words, .format = "%h", .title = "Commits:" };

        amend_to(w, (size_t)((int)AL_VERIFY_MAX_BYTES + over));
        repo = must_open(w, "repo");
        for (int lists = 0; lists < 2; lists++) {
            al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
            bool any = false;

            assert_int_equal(al_git_commits_excerpt(repo, &shown, &out, &any, &w->err), 0);
            assert_int_equal(al_starts_with(out.buf, warning), over > 0);
            assert_int_equal(strstr(out.buf, "Commits:") != NULL, shown.words == words);
            /* With too many commits an empty list does not prove that there is none. */
            assert_int_equal(any, shown.words == words || over > 0);
            shown.words = none;
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(verifies_up_to_its_limit),
        WORLD_TEST(refuses_a_forged_object_within_the_limit),
        WORLD_TEST(a_list_of_commits_says_that_there_are_too_many),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/preview/verify_objects", tests, NULL, NULL);
}
