// SPDX-License-Identifier: Apache-2.0
/* staging/markers.c: files that a pull left with conflict markers are not staged before they are
 * gone. */
#include "staging/store.h"
#include "tests/unit/staging/lib.h"

#define BEGIN "<<<<<<< ours (sandbox)"
#define END   ">>>>>>> theirs (incoming)"

static void remember(struct stager *s, const char *path)
{
    al_auto(al_base_clear) struct al_base base = { .heads = NULL };

    must(s, al_staging_lock(s->staging, BUDGET, &s->w->err));
    must(s, al_base_load(s->staging, s->staging->key, BUDGET, &base, &s->w->err));
    al_markers_remember(&base, path, false);
    must(s, al_base_save(s->staging, s->staging->key, &base, BUDGET, &s->w->err));
    al_staging_unlock(s->staging);
}

static void assert_unresolved(struct stager *s, const char *words, const char *path)
{
    al_auto(al_freep) char *message =
        al_asprintf("'/workspace/%s' still has the conflict markers that git_pull wrote; resolve "
                    "each conflict with write_file, then call git_stage again",
                    path);

    assert_not_staged(s, words, message);
    assert_string_equal(s->w->err.reason, "conflict");
}

static void finds_what_is_left(void **state)
{
    static const char *const left[] = {
        BEGIN "\n1\n=======\n2\n" END "\n", BEGIN "\n1\n2\n",    "1\n2\n" END,
        "a\r\n" BEGIN "\r\n1\r\n",          "a\n" END " more\n",
    };
    static const char *const gone[] = {
        "1\n=======\n2\n", " " BEGIN "\n", "a " END "\n", "<<<<<<< HEAD\n", "\n<<<<<<<\n", "",
    };
    struct stager *s = *state;

    remember(s, "a");
    for (size_t i = 0; i < COUNT(left); i++) {
        put(s, "a", left[i]);
        assert_unresolved(s, "/workspace/a", "a");
        assert_unresolved(s, "/workspace", "a");
    }
    for (size_t i = 0; i < COUNT(gone); i++) {
        remember(s, "a");
        put(s, "a", gone[i]);
        stage(s, "/workspace/a", gone[i][0] ? gone[i] : "nothing");
    }
}

static void finds_it_wherever_a_piece_ends(void **state)
{
    const size_t piece = (size_t)1 << 20;
    al_auto(al_freep) char *text = al_calloc(2 * piece, 1);
    struct stager *s = *state;

    s->options.max_bytes = 1u << 24;
    open_session(s);
    remember(s, "a");
    for (size_t at = piece - sizeof(END) - 1; at <= piece + 1; at++) {
        memset(text, 'x', 2 * piece - 1);
        text[at - 1] = '\n';
        memcpy(text + at, END, strlen(END));
        put(s, "a", text);
        assert_unresolved(s, "/workspace/a", "a");
        text[at - 1] = 'x';
        put(s, "b", text);
    }
    put(s, "a", text);
    stage(s, "/workspace", "both");
}

static void concerns_only_those_that_a_pull_left(void **state)
{
    struct stager *s = *state;

    put(s, "written.md", BEGIN "\n");
    put(s, "left.md", BEGIN "\n");
    remember(s, "left.md");
    stage(s, "/workspace/written.md", "a file about markers");
    assert_unresolved(s, "/workspace/left.md", "left.md");
    put(s, "left.md", NULL);
    put(s, "other.md", "1\n");
    stage(s, "/workspace", "without it");
    put(s, "left.md", BEGIN "\n");
    assert_unresolved(s, "/workspace", "left.md");
    put(s, "left.md", "resolved\n");
    stage(s, "/workspace/left.md", "resolved");
    put(s, "left.md", BEGIN "\n");
    stage(s, "/workspace/left.md", "the agent's own");
}

static void is_forgotten_with_the_sandbox(void **state)
{
    struct stager *s = *state;

    remember(s, "a");
    put(s, "a", BEGIN "\n");
    assert_unresolved(s, "/workspace/a", "a");
    open_session(s);
    put(s, "a", BEGIN "\n");
    stage(s, "/workspace/a", "in another sandbox");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGER_TEST(finds_what_is_left),
        STAGER_TEST(finds_it_wherever_a_piece_ends),
        STAGER_TEST(concerns_only_those_that_a_pull_left),
        STAGER_TEST(is_forgotten_with_the_sandbox),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("staging/markers", tests, NULL, NULL);
}
