// SPDX-License-Identifier: Apache-2.0
/* history/open_records.c: a full disk. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/unit/history/open_fixture.h"

/* Set the soft limit for file sizes, to simulate a full disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_call_that_finds_no_room_leaves_no_file(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_open_records *records = open_records(dir);

    (void)signal(SIGXFSZ, SIG_IGN);
    for (rlim_t room = 0; room <= 18; room++) {
        struct al_open_record one;
        int r;

        limit_files(room);
        r = try_to_begin(records, 1, "\"a\":1", &one);
        limit_files(RLIM_INFINITY);
        assert_int_equal(r, room == 18 ? 0 : -EFBIG);
        assert_int_equal(journal_open_count(dir, false), room == 18);
        assert_int_equal(journal_open_count(dir, true), 0);
        if (r == 0)
            al_open_records_end(records, &one);
    }
    al_open_records_free(records);
}

/* On a full disk the next call uses the room of ended calls. */
static void a_call_finds_room_where_ended_ones_were(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_open_records *records = open_records(dir);
    struct al_open_record one = begin(records, 1, "\"a\":1");
    int r;

    (void)signal(SIGXFSZ, SIG_IGN);
    al_open_records_end(records, &one);
    limit_files(40);
    r = try_to_begin(records, 2, "\"a\":2", &one);
    limit_files(RLIM_INFINITY);
    assert_int_equal(r, 0);
    assert_file(dir, 0, NULL);
    assert_file(dir, 1, "{\"begin\":2,\"a\":2}\n");
    al_open_records_end(records, &one);
    al_open_records_free(records);
}

/* A partial line has no effect, and the next line overwrites it, whether shorter or longer. */
static void a_line_that_finds_no_room_changes_nothing(void **state)
{
    static const char *const nexts[] = { "\"a\":3", "\"a\":\"longer than what was there\"" };
    const struct tmpdir *dir = *state;

    (void)signal(SIGXFSZ, SIG_IGN);
    for (rlim_t at = 0; at < 2 * 18; at++) {
        struct al_open_records *records = open_records(dir);
        struct al_open_record one = begin(records, 1, "\"a\":1"), two;
        int r;

        limit_files(18 + at / 2);
        r = note(records, &one, "\"a\":22");
        limit_files(RLIM_INFINITY);
        assert_int_equal(r, -EFBIG);
        assert_int_equal(journal_open_count(dir, false), 1);
        two = begin(records, 2, nexts[at % 2]);
        al_open_records_end(records, &one);
        al_auto(al_freep) char *name = file_name(0);
        al_auto(al_freep) char *text = tmpdir_read(dir, name);
        al_auto(al_json_decrefp) json_t *calls = al_open_scan_calls(text, strlen(text));
        assert_int_equal(json_object_size(calls), 1);
        assert_non_null(json_object_get(json_object_get(calls, "2"), "a"));
        al_open_records_end(records, &two);
        al_open_records_free(records);
    }
}

/* If the end of a call cannot be written, the call stays open in the file.  The file is removed all
 * the same. */
static void an_end_that_finds_no_room_is_no_harm(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_open_records *records = open_records(dir);
    struct al_open_record one = begin(records, 1, "\"a\":1");

    (void)signal(SIGXFSZ, SIG_IGN);
    limit_files(20);
    al_open_records_end(records, &one);
    limit_files(RLIM_INFINITY);
    assert_int_equal(journal_open_count(dir, false), 1);
    al_open_records_free(records);
    assert_file(dir, 0, NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(a_call_that_finds_no_room_leaves_no_file),
        JOURNAL_TEST(a_call_finds_room_where_ended_ones_were),
        JOURNAL_TEST(a_line_that_finds_no_room_changes_nothing),
        JOURNAL_TEST(an_end_that_finds_no_room_is_no_harm),
    };

    return cmocka_run_group_tests_name("journal/open_records_full", tests, NULL, NULL);
}
