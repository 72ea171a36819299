// SPDX-License-Identifier: Apache-2.0
/* history/journal.h: every change to a log by another program is detected. */
#include <errno.h>
#include <unistd.h>

#include "base/fs.h"
#include "history/journal_private.h"
#include "tests/unit/history/fixture.h"

/* The lines of the log, with their newlines. */
static struct al_strv split(const char *text)
{
    struct al_strv lines = AL_STRV_INIT;

    for (const char *end; (end = strchr(text, '\n')); text = end + 1)
        al_strv_take(&lines, al_strndup(text, (size_t)(end + 1 - text)));
    return lines;
}

static struct al_strv lines_of(const struct tmpdir *dir)
{
    al_auto(al_freep) char *text = journal_text(dir);

    return split(text);
}

/* Write the log again with these lines, numbered from 1.  The list ends with 0. */
static void rearrange(struct tmpdir *dir, const struct al_strv *lines, const int *order)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (; *order; order++)
        al_str_adds(&text, lines->items[*order - 1]);
    journal_rewrite(dir, text.buf);
}

static void finds_nothing_wrong_with_an_untouched_log(void **state)
{
    struct tmpdir *dir = *state;

    journal_fill(dir, 0);
    assert_intact(dir, 0);
    journal_fill(dir, 1);
    assert_intact(dir, 1);
    journal_fill(dir, 4);
    assert_intact(dir, 5);
}

static void finds_a_changed_line_wherever_it_is(void **state)
{
    struct tmpdir *dir = *state;

    journal_fill(dir, 3);
    al_auto(al_freep) char *original = journal_text(dir);
    for (uint64_t number = 1; number <= 3; number++) {
        al_auto(al_freep) char *text = al_strdup(original);
        char *at = text;

        for (uint64_t i = 1; i < number; i++)
            at = strchr(at, '\n') + 1;
        memcpy(strstr(at, "\"done\""), "\"gone\"", 6);
        journal_rewrite(dir, text);
        assert_bad_line(dir, number);
    }
    journal_rewrite(dir, original);
    assert_intact(dir, 3);
}

static void finds_removed_moved_and_repeated_lines(void **state)
{
    static const struct {
        int order[8];
        uint64_t bad_line;
    } cases[] = {
        { { 2, 3, 4 }, 1 },       /* without the first */
        { { 1, 3, 4 }, 2 },       /* without one in the middle */
        { { 1, 2, 3 }, 4 },       /* without the last */
        { { 1 }, 2 },             /* without all but the first */
        { { 0 }, 1 },             /* without any */
        { { 2, 1, 3, 4 }, 1 },    /* the first two swapped */
        { { 1, 2, 4, 3 }, 3 },    /* the last two swapped */
        { { 1, 2, 2, 3, 4 }, 3 }, /* one twice */
        { { 1, 2, 3, 4, 4 }, 5 }, /* the last twice */
        { { 1, 2, 3, 4, 1 }, 5 }, /* the first again at the end */
        { { 4, 3, 2, 1 }, 1 },    /* reversed */
    };
    struct tmpdir *dir = *state;

    journal_fill(dir, 4);
    al_auto(al_strv_clear) struct al_strv lines = lines_of(dir);
    for (size_t i = 0; i < COUNT(cases); i++) {
        rearrange(dir, &lines, cases[i].order);
        assert_bad_line(dir, cases[i].bad_line);
    }
    rearrange(dir, &lines, (const int[]){ 1, 2, 3, 4, 0 });
    assert_intact(dir, 4);
}

static void finds_lines_that_were_cut_short(void **state)
{
    struct tmpdir *dir = *state;

    journal_fill(dir, 3);
    al_auto(al_freep) char *original = journal_text(dir);
    size_t len = strlen(original);
    for (size_t cut = 1; cut <= 20; cut++) {
        al_auto(al_freep) char *text = al_strndup(original, len - cut);

        journal_rewrite(dir, text);
        assert_bad_line(dir, 3);
    }
    al_auto(al_freep) char *inner = al_strdup(original);
    char *end = strchr(inner, '\n');
    /* The first line loses its last bytes but not its newline. */
    memmove(end - 5, end, strlen(end) + 1);
    journal_rewrite(dir, inner);
    assert_bad_line(dir, 1);
}

static void finds_what_others_wrote_at_the_end(void **state)
{
    static const char *const additions[] = {
        "{}\n",
        "\n",
        "x",
        "{\"seq\":3,\"prev\":\"0\"}\n",
    };
    struct tmpdir *dir = *state;

    journal_fill(dir, 2);
    al_auto(al_freep) char *original = journal_text(dir);
    for (size_t i = 0; i < COUNT(additions); i++) {
        al_auto(al_freep) char *text = al_asprintf("%s%s", original, additions[i]);

        journal_rewrite(dir, text);
        assert_bad_line(dir, 3);
    }
}

/* The only line that another program can make fit: its `prev` is readable in the head. */
static void finds_a_forged_line_that_fits_the_chain(void **state)
{
    struct tmpdir *dir = *state;

    journal_fill(dir, 2);
    al_auto(al_freep) char *original = journal_text(dir);
    al_auto(al_freep) char *head = tmpdir_read(dir, "tool_log.head");
    al_auto(al_freep) char *text =
        al_asprintf("%s{\"seq\":3,\"tool\":\"x\",\"prev\":\"%.64s\"}\n", original, head + 42);
    journal_rewrite(dir, text);
    assert_bad_line(dir, 3);
}

static void finds_a_head_made_to_fit_dropped_lines(void **state)
{
    struct tmpdir *dir = *state;

    journal_fill(dir, 2);
    al_auto(al_freep) char *head = tmpdir_read(dir, "tool_log.head");
    al_auto(al_strv_clear) struct al_strv lines = lines_of(dir);
    al_auto(al_freep) char *size = al_asprintf("%020zu", strlen(lines.items[0]));
    const char *prev = strstr(lines.items[1], "\"prev\":\"") + 8;

    rearrange(dir, &lines, (const int[]){ 1, 0 });
    head[19] = '1';
    memcpy(head + 21, size, 20);
    memcpy(head + 42, prev, 64);
    tmpdir_write(dir, "tool_log.head", head);
    assert_bad_line(dir, 2);
}

static void finds_a_head_that_is_gone_or_nonsense(void **state)
{
    struct tmpdir *dir = *state;

    journal_fill(dir, 2);
    tmpdir_write(dir, "tool_log.head", "nonsense\n");
    assert_bad_line(dir, 3);
    tmpdir_write(dir, "tool_log.head", "");
    assert_bad_line(dir, 3);
    assert_int_equal(unlinkat(dir->fd, "tool_log.head", 0), 0);
    assert_bad_line(dir, 3);
}

static void finds_a_log_that_is_gone(void **state)
{
    struct tmpdir *dir = *state;

    journal_fill(dir, 2);
    assert_int_equal(unlinkat(dir->fd, "tool_log.jsonl", 0), 0);
    assert_bad_line(dir, 1);
}

static void vouches_for_nothing_under_another_key(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_freep) char *file = tmpdir_path(dir, "tool_log.jsonl");
    struct al_verdict verdict = { .lines = 0 };

    journal_fill(dir, 1);
    tmpdir_write(dir, "tool_log.key", "0123456789abcdef0123456789abcdef");
    assert_bad_line(dir, 2); /* the line fits, so only the head can tell */
    assert_int_equal(unlinkat(dir->fd, "tool_log.key", 0), 0);
    assert_int_equal(al_journal_verify(file, &verdict, NULL), AL_ERR_EXECUTION);
    tmpdir_write(dir, "tool_log.key", "short");
    assert_int_equal(al_journal_verify(file, &verdict, NULL), AL_ERR_EXECUTION);
}

static void names_the_key_when_lines_do_not_fit_it(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_freep) char *file = tmpdir_path(dir, "tool_log.jsonl");
    struct al_verdict verdict = { .lines = 0 };

    journal_fill(dir, 3);
    tmpdir_write(dir, "tool_log.key", "0123456789abcdef0123456789abcdef");
    assert_int_equal(al_journal_verify(file, &verdict, NULL), 0);
    assert_int_equal(verdict.bad_line, 1);
    assert_non_null(strstr(verdict.problem, "the key is not the one"));
    free(verdict.problem);
}

static void tells_that_there_is_no_journal(void **state)
{
    const struct tmpdir *dir = *state;
    al_auto(al_freep) char *file = tmpdir_path(dir, "none/tool_log.jsonl");
    struct al_verdict verdict = { .lines = 0 };

    assert_int_equal(al_journal_verify(file, &verdict, NULL), AL_ERR_NOT_FOUND);
}

static void keeps_a_break_in_sight_when_the_journal_goes_on(void **state)
{
    struct tmpdir *dir = *state;

    journal_fill(dir, 3);
    al_auto(al_strv_clear) struct al_strv lines = lines_of(dir);
    rearrange(dir, &lines, (const int[]){ 1, 2, 0 });
    journal_fill(dir, 2);
    assert_bad_line(dir, 3);
    journal_fill(dir, 2);
    assert_bad_line(dir, 3);
}

static void keeps_an_addition_in_sight_when_the_journal_goes_on(void **state)
{
    static const char *const additions[] = { "{}\n", "half a line" };

    for (size_t i = 0; i < COUNT(additions); i++) {
        struct tmpdir *dir = tmpdir_new();
        al_auto(al_freep) char *text = NULL;
        al_auto(al_freep) char *changed = NULL;

        (void)state;
        journal_fill(dir, 2);
        text = journal_text(dir);
        changed = al_asprintf("%s%s", text, additions[i]);
        journal_rewrite(dir, changed);
        journal_fill(dir, 1);
        assert_bad_line(dir, 3);
        al_auto(al_strv_clear) struct al_strv lines = lines_of(dir);
        assert_int_equal(lines.count, 4); /* the added text is not joined with the next line */
        tmpdir_free(dir);
    }
}

static void keeps_a_lost_head_in_sight_when_the_journal_goes_on(void **state)
{
    struct tmpdir *dir = *state;

    journal_fill(dir, 2);
    assert_int_equal(unlinkat(dir->fd, "tool_log.head", 0), 0);
    journal_fill(dir, 2);
    assert_bad_line(dir, 3);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(finds_nothing_wrong_with_an_untouched_log),
        JOURNAL_TEST(finds_a_changed_line_wherever_it_is),
        JOURNAL_TEST(finds_removed_moved_and_repeated_lines),
        JOURNAL_TEST(finds_lines_that_were_cut_short),
        JOURNAL_TEST(finds_what_others_wrote_at_the_end),
        JOURNAL_TEST(finds_a_forged_line_that_fits_the_chain),
        JOURNAL_TEST(finds_a_head_made_to_fit_dropped_lines),
        JOURNAL_TEST(finds_a_head_that_is_gone_or_nonsense),
        JOURNAL_TEST(finds_a_log_that_is_gone),
        JOURNAL_TEST(vouches_for_nothing_under_another_key),
        JOURNAL_TEST(names_the_key_when_lines_do_not_fit_it),
        JOURNAL_TEST(tells_that_there_is_no_journal),
        JOURNAL_TEST(keeps_a_break_in_sight_when_the_journal_goes_on),
        JOURNAL_TEST(keeps_an_addition_in_sight_when_the_journal_goes_on),
        JOURNAL_TEST(keeps_a_lost_head_in_sight_when_the_journal_goes_on),
    };

    return cmocka_run_group_tests_name("journal/verify", tests, NULL, NULL);
}
