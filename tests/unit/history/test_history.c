// SPDX-License-Identifier: Apache-2.0
/* history/reading.c: a full log is renamed, and one chain goes through all files. */
#include "history/journal_private.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "tests/unit/history/fixture.h"

/* The size of two lines, so that three do not fit.  All lines up to the ninth have the same length.
 */
static uint64_t two_lines(const struct tmpdir *dir)
{
    al_auto(al_freep) char *text = journal_text(dir);

    return 2 * strlen(text) + 9; /* for the digits of how long they took */
}

/* Write a journal of `count` lines with two in each file. */
static void fill_files(const struct tmpdir *dir, int count)
{
    struct al_journal *journal;

    journal_fill(dir, 1);
    journal = journal_open(dir);
    al_journal_limit(journal, two_lines(dir));
    for (int i = 1; i < count; i++)
        assert_int_equal(journal_add(journal, "tool"), 0);
    al_journal_free(journal);
}

static bool is_there(const struct tmpdir *dir, const char *name)
{
    return faccessat(dir->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static size_t count_lines(const struct tmpdir *dir, const char *name)
{
    al_auto(al_freep) char *text = tmpdir_read(dir, name);
    size_t count = 0;

    for (const char *at = text; at && (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

static void numbers_full_files(void **state)
{
    const struct tmpdir *dir = *state;

    fill_files(dir, 5);
    assert_int_equal(count_lines(dir, "tool_log.1.jsonl"), 2);
    assert_int_equal(count_lines(dir, "tool_log.2.jsonl"), 2);
    assert_int_equal(count_lines(dir, "tool_log.jsonl"), 1);
    assert_intact(dir, 5);
}

/* What the two files have: a line that took longer says so in more bytes. */
static size_t bytes_of_both(const struct tmpdir *dir)
{
    al_auto(al_freep) char *full = tmpdir_read(dir, "tool_log.1.jsonl");
    al_auto(al_freep) char *last = tmpdir_read(dir, "tool_log.jsonl");

    return (full ? strlen(full) : 0) + strlen(last);
}

static void begins_a_file_only_beyond_the_limit(void **state)
{
    const struct tmpdir *dir = *state;
    uint64_t two;

    journal_fill(dir, 1);
    two = two_lines(dir) - 9;
    for (uint64_t limit = two - 1; limit <= two + 1; limit++) {
        struct al_journal *journal = journal_open(dir);

        (void)unlinkat(dir->fd, "tool_log.1.jsonl", 0);
        (void)unlinkat(dir->fd, "tool_log.head", 0);
        (void)unlinkat(dir->fd, "tool_log.jsonl", 0);
        al_journal_free(journal);
        journal = journal_open(dir);
        al_journal_limit(journal, limit);
        assert_int_equal(journal_add(journal, "tool"), 0);
        assert_int_equal(journal_add(journal, "tool"), 0);
        al_journal_free(journal);
        assert_int_equal(is_there(dir, "tool_log.1.jsonl"), limit < bytes_of_both(dir));
        assert_intact(dir, 2);
    }
}

static void gives_a_line_beyond_the_limit_a_file_of_its_own(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);

    al_journal_limit(journal, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(journal_add(journal, "tool"), 0);
    al_journal_free(journal);
    assert_int_equal(count_lines(dir, "tool_log.1.jsonl"), 1);
    assert_int_equal(count_lines(dir, "tool_log.2.jsonl"), 1);
    assert_int_equal(count_lines(dir, "tool_log.jsonl"), 1);
    assert_intact(dir, 3);
}

/* Each attack on a journal of three files (lines 1-2, 3-4, 5), and the first line that is wrong
 * then. */
static void finds_what_is_done_to_full_files(void **state)
{
    static const struct {
        const char *from, *to; /* the file `from` is renamed, or removed if `to` is NULL */
        uint64_t bad_line;
    } cases[] = {
        { "tool_log.1.jsonl", NULL, 1 },
        { "tool_log.2.jsonl", NULL, 3 },
        { "tool_log.jsonl", NULL, 5 },
        { "tool_log.1.jsonl", "tool_log.9.jsonl", 1 },
        { "tool_log.2.jsonl", "tool_log.1.jsonl", 1 },
        { "tool_log.2.jsonl", "tool_log.jsonl", 5 },
    };
    struct tmpdir *dir = *state;

    fill_files(dir, 5);
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *text = tmpdir_read(dir, cases[i].from);
        al_auto(al_freep) char *over = cases[i].to ? tmpdir_read(dir, cases[i].to) : NULL;
        int r = cases[i].to ? renameat(dir->fd, cases[i].from, dir->fd, cases[i].to)
                            : unlinkat(dir->fd, cases[i].from, 0);

        assert_int_equal(r, 0);
        assert_bad_line(dir, cases[i].bad_line);
        if (cases[i].to)
            assert_int_equal(unlinkat(dir->fd, cases[i].to, 0), 0);
        tmpdir_write(dir, cases[i].from, text);
        if (over)
            tmpdir_write(dir, cases[i].to, over);
        assert_intact(dir, 5);
    }
}

/* In every file: a changed line, a removed last line, two swapped lines, an added line. */
static void finds_what_is_done_to_lines_of_full_files(void **state)
{
    static const char *const names[] = { "tool_log.1.jsonl", "tool_log.2.jsonl" };
    struct tmpdir *dir = *state;

    fill_files(dir, 5);
    for (size_t i = 0; i < COUNT(names); i++) {
        al_auto(al_freep) char *text = tmpdir_read(dir, names[i]);
        const size_t first = strcspn(text, "\n") + 1;
        al_auto(al_freep) char *changed = al_strdup(text);
        al_auto(al_freep) char *short_one = al_strndup(text, first);
        al_auto(al_freep) char *swapped = al_asprintf("%s%.*s", text + first, (int)first, text);
        al_auto(al_freep) char *longer = al_asprintf("%s{\"x\":1", text);
        const struct {
            const char *text;
            uint64_t bad_line;
        } cases[] = {
            { changed, 2 * i + 2 },
            { short_one, 2 * i + 2 },
            { swapped, 2 * i + 1 },
            { longer, 2 * i + 3 },
        };

        memcpy(strstr(changed + first, "\"done\""), "\"gone\"", 6);
        for (size_t j = 0; j < COUNT(cases); j++) {
            tmpdir_write(dir, names[i], cases[j].text);
            assert_bad_line(dir, cases[j].bad_line);
        }
        tmpdir_write(dir, names[i], text);
        assert_intact(dir, 5);
    }
}

static void finds_a_last_line_dropped_where_a_file_is_full(void **state)
{
    struct tmpdir *dir = *state;

    fill_files(dir, 4);
    al_auto(al_freep) char *text = journal_text(dir);
    text[strcspn(text, "\n") + 1] = '\0';
    journal_rewrite(dir, text);
    assert_bad_line(dir, 4);
    journal_rewrite(dir, "");
    assert_bad_line(dir, 3);
}

/* A writer that opened the log before it was full continues in the new one. */
static void takes_along_writers_that_have_the_old_file_open(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_journal *early = journal_open(dir);

    fill_files(dir, 5);
    assert_int_equal(journal_add(early, "tool"), 0);
    al_journal_free(early);
    assert_int_equal(count_lines(dir, "tool_log.jsonl"), 2);
    assert_intact(dir, 6);
}

/* A writer died after it had renamed the log, and after it had begun the new one. */
static void goes_on_where_a_writer_died_between_two_files(void **state)
{
    struct tmpdir *dir = *state;

    for (int empty = 0; empty <= 1; empty++) {
        struct al_journal *early;

        (void)unlinkat(dir->fd, "tool_log.head", 0);
        (void)unlinkat(dir->fd, "tool_log.jsonl", 0);
        (void)unlinkat(dir->fd, "tool_log.1.jsonl", 0);
        journal_fill(dir, 2);
        early = journal_open(dir);
        assert_int_equal(renameat(dir->fd, "tool_log.jsonl", dir->fd, "tool_log.1.jsonl"), 0);
        if (empty)
            tmpdir_write(dir, "tool_log.jsonl", "");
        assert_intact(dir, 2);
        assert_int_equal(journal_add(early, "tool"), 0);
        assert_intact(dir, 3);
        al_journal_free(early);
        journal_fill(dir, 1);
        assert_intact(dir, 4);
        assert_int_equal(count_lines(dir, "tool_log.jsonl"), 2);
    }
}

/* But a log that was removed is not created again while writers have it open. */
static void refuses_to_go_on_when_the_log_was_removed(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_journal *journal;

    fill_files(dir, 5);
    journal = journal_open(dir);
    assert_int_equal(unlinkat(dir->fd, "tool_log.jsonl", 0), 0);
    assert_int_equal(journal_add(journal, "tool"), AL_ERR_EXECUTION);
    assert_false(is_there(dir, "tool_log.jsonl"));
    al_journal_free(journal);
}

#define THREADS    4
#define LINES_EACH 25

static void *write_in_a_thread(void *journal)
{
    intptr_t failures = 0;

    for (int i = 0; i < LINES_EACH; i++)
        failures += journal_add(journal, "thread") < 0;
    return (void *)failures;
}

/* Two journals on one log stand for two servers. */
static void loses_no_line_of_several_writers(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_journal *journals[2];
    pthread_t threads[THREADS];

    journal_fill(dir, 1);
    for (size_t i = 0; i < COUNT(journals); i++) {
        journals[i] = journal_open(dir);
        al_journal_limit(journals[i], two_lines(dir));
    }
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, write_in_a_thread, journals[i % COUNT(journals)]), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *failures;

        assert_int_equal(pthread_join(threads[i], &failures), 0);
        assert_null(failures);
    }
    for (size_t i = 0; i < COUNT(journals); i++)
        al_journal_free(journals[i]);
    assert_intact(dir, 1 + THREADS * LINES_EACH);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(numbers_full_files),
        JOURNAL_TEST(begins_a_file_only_beyond_the_limit),
        JOURNAL_TEST(gives_a_line_beyond_the_limit_a_file_of_its_own),
        JOURNAL_TEST(finds_what_is_done_to_full_files),
        JOURNAL_TEST(finds_what_is_done_to_lines_of_full_files),
        JOURNAL_TEST(finds_a_last_line_dropped_where_a_file_is_full),
        JOURNAL_TEST(takes_along_writers_that_have_the_old_file_open),
        JOURNAL_TEST(goes_on_where_a_writer_died_between_two_files),
        JOURNAL_TEST(refuses_to_go_on_when_the_log_was_removed),
        JOURNAL_TEST(loses_no_line_of_several_writers),
    };

    return cmocka_run_group_tests_name("journal/history", tests, NULL, NULL);
}
