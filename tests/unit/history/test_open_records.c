// SPDX-License-Identifier: Apache-2.0
/* history/open_records.c: what a process writes about running calls, and how large its files get.
 */
#include "history/journal_private.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/history/open_fixture.h"
#include "util/fs.h"

#define FULL AL_OPEN_FILE_FULL_BYTES

static void writes_one_line_an_event(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_open_records *records = open_records(dir);
    struct al_open_record one, two;

    assert_file(dir, 0, NULL);
    one = begin(records, 7, "\"a\":1");
    two = begin(records, 8, "\"b\":2");
    assert_int_equal(note(records, &one, "\"a\":3"), 0);
    al_open_records_end(records, &one);
    assert_file(dir, 0,
                "{\"begin\":7,\"a\":1}\n{\"begin\":8,\"b\":2}\n{\"note\":7,\"a\":3}\n"
                "{\"end\":7}\n");
    assert_int_equal(journal_open_count(dir, false), 1);
    al_open_records_end(records, &two);
    assert_int_equal(journal_open_count(dir, false), 0);
    one = begin(records, 9, "\"c\":4");
    assert_file(dir, 1, NULL); /* one file is enough */
    al_open_records_end(records, &one);
    al_open_records_free(records);
    assert_file(dir, 0, NULL);
}

static void is_private(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_open_records *records = open_records(dir);
    struct al_open_record one;
    mode_t mask = umask(0);
    struct stat st;

    one = begin(records, 1, "\"a\":1");
    (void)umask(mask);
    al_auto(al_freep) char *name = file_name(0);
    assert_int_equal(fstatat(dir->fd, name, &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(fstatat(dir->fd, "open", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    al_open_records_end(records, &one);
    al_open_records_free(records);
}

static bool is_locked(const struct tmpdir *dir, unsigned n)
{
    al_auto(al_freep) char *name = file_name(n);
    al_auto(al_closep) int fd = openat(dir->fd, name, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    return flock(fd, LOCK_EX | LOCK_NB) < 0;
}

static void keeps_its_file_locked(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_open_records *records = open_records(dir);
    struct al_open_record one = begin(records, 1, "\"a\":1");

    assert_true(is_locked(dir, 0));
    al_open_records_end(records, &one);
    assert_true(is_locked(dir, 0));
    al_open_records_free(records);
}

static void leaves_what_is_not_in_the_log(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_open_records *records = open_records(dir);
    struct al_open_record one = begin(records, 1, "\"a\":1"), two = begin(records, 2, "\"a\":2");

    al_open_records_abandon(records, &one);
    assert_true(is_locked(dir, 0)); /* another call is running */
    one = begin(records, 3, "\"a\":3");
    al_open_records_end(records, &two);
    assert_false(is_locked(dir, 0));
    al_open_records_end(records, &one);
    al_open_records_free(records);
    assert_file(dir, 0, "{\"begin\":1,\"a\":1}\n{\"begin\":2,\"a\":2}\n{\"end\":2}\n");
    assert_file(dir, 1, NULL);
}

/* A call that is open when the process ends stays on the disk. */
static void leaves_what_is_open_at_the_end(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_open_records *records = open_records(dir);

    (void)begin(records, 1, "\"a\":1");
    al_open_records_free(records);
    assert_file(dir, 0, "{\"begin\":1,\"a\":1}\n");
}

/* Members for a call that leaves a file of `size` bytes when it has ended. */
static char *members_for(uint64_t serial, size_t size)
{
    al_auto(al_freep) char *rest =
        al_asprintf("{\"begin\":%" PRIu64 ",\"m\":\"\"}\n{\"end\":%" PRIu64 "}\n", serial, serial);
    al_auto(al_freep) char *fill = al_calloc(size, 1);

    memset(fill, 'm', size - strlen(rest));
    return al_asprintf("\"m\":\"%s\"", fill);
}

static void empties_a_full_file_when_no_call_is_open(void **state)
{
    const struct tmpdir *dir = *state;

    for (size_t size = FULL - 1; size <= FULL + 1; size++) {
        struct al_open_records *records = open_records(dir);
        al_auto(al_freep) char *large = members_for(1, size);
        struct al_open_record one = begin(records, 1, large);
        al_auto(al_freep) char *name = file_name(0);
        struct stat st;

        al_open_records_end(records, &one);
        assert_int_equal(fstatat(dir->fd, name, &st, 0), 0);
        assert_int_equal(st.st_size, size);
        one = begin(records, 2, "\"a\":1");
        assert_int_equal(fstatat(dir->fd, name, &st, 0), 0);
        assert_int_equal(st.st_size, size >= FULL ? 18 : size + 18);
        al_open_records_end(records, &one);
        assert_file(dir, 1, NULL);
        al_open_records_free(records);
    }
}

static void begins_another_file_when_a_call_is_open(void **state)
{
    const struct tmpdir *dir = *state;

    for (size_t size = FULL - 1; size <= FULL + 1; size++) {
        struct al_open_records *records = open_records(dir);
        struct al_open_record long_one = begin(records, 1, "\"a\":1"), two;
        al_auto(al_freep) char *large = members_for(2, size - 18);
        al_auto(al_freep) char *first = file_name(0);
        al_auto(al_freep) char *second = file_name(1);

        two = begin(records, 2, large);
        al_open_records_end(records, &two);
        two = begin(records, 3, "\"a\":1");
        assert_int_equal(is_there(dir, second), size >= FULL);
        assert_int_equal(note(records, &long_one, "\"a\":2"), 0); /* in its own file */
        assert_int_equal(journal_open_count(dir, false), size >= FULL ? 2 : 1);
        al_open_records_end(records, &long_one);
        assert_int_equal(is_there(dir, first), size < FULL);
        al_open_records_end(records, &two);
        al_open_records_free(records);
        assert_false(is_there(dir, first) || is_there(dir, second));
    }
}

/* A process that always has an open call. */
static void stays_small_while_it_is_never_idle(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_open_records *records = open_records(dir);
    al_auto(al_freep) char *members = members_for(1, FULL / 10);
    struct al_open_record open = begin(records, 1, members);
    size_t most = 0;

    for (uint64_t serial = 2; serial < 100; serial++) {
        struct al_open_record next = begin(records, serial, members);
        size_t files = journal_open_count(dir, false);

        most = files > most ? files : most;
        al_open_records_end(records, &open);
        assert_int_equal(journal_open_count(dir, true), 0);
        open = next;
    }
    assert_int_equal(most, 2);
    al_open_records_end(records, &open);
    al_open_records_free(records);
}

static void does_not_touch_a_file_that_has_its_name(void **state)
{
    struct tmpdir *dir = *state;
    struct al_open_records *records = open_records(dir);
    al_auto(al_freep) char *name = file_name(0);
    struct al_open_record one;

    tmpdir_write(dir, name, "another's\n");
    one = begin(records, 1, "\"a\":1");
    assert_file(dir, 0, "another's\n");
    assert_file(dir, 1, "{\"begin\":1,\"a\":1}\n");
    al_open_records_end(records, &one);
    al_open_records_free(records);
    assert_file(dir, 0, "another's\n");
}

/* Without and with an open call. */
static void works_without_a_removed_file(void **state)
{
    struct tmpdir *dir = *state;

    for (int busy = 0; busy <= 1; busy++) {
        struct al_open_records *records = open_records(dir);
        al_auto(al_freep) char *name = file_name(0);
        struct al_open_record one = begin(records, 1, "\"a\":1"), two;

        if (!busy)
            al_open_records_end(records, &one);
        assert_int_equal(unlinkat(dir->fd, name, 0), 0);
        tmpdir_write(dir, name, "another's\n");
        two = begin(records, 2, "\"a\":2");
        assert_file(dir, 1, "{\"begin\":2,\"a\":2}\n");
        if (busy)
            al_open_records_end(records, &one);
        al_open_records_end(records, &two);
        al_open_records_free(records);
        assert_file(dir, 0, "another's\n");
        assert_file(dir, 1, NULL);
        assert_int_equal(unlinkat(dir->fd, name, 0), 0);
    }
}

#define THREADS 8
#define CALLS   300

struct worker {
    struct al_open_records *records;
    uint64_t first;
};

static void *work(void *payload)
{
    const struct worker *worker = payload;

    for (uint64_t i = 0; i < CALLS; i++) {
        struct al_open_record one;

        if (try_to_begin(worker->records, worker->first + i, "\"a\":1", &one) < 0 ||
            note(worker->records, &one, "\"a\":2") < 0)
            return NULL;
        if (i % 3 || worker->first)
            al_open_records_end(worker->records, &one);
    }
    return payload;
}

/* Every third call of one thread stays open.  Only these are open in the end. */
static void takes_calls_of_many_threads(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_open_records *records = open_records(dir);
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ records, i * CALLS };
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *result = NULL;

        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_non_null(result);
    }
    al_auto(al_freep) char *name = file_name(0);
    al_auto(al_freep) char *text = tmpdir_read(dir, name);
    al_auto(al_json_decrefp) json_t *calls = al_open_scan_calls(text, strlen(text));
    assert_int_equal(json_object_size(calls), CALLS / 3);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(calls, "3"), "a")), 2);
    assert_null(json_object_get(calls, "4"));
    al_open_records_free(records);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(writes_one_line_an_event),
        JOURNAL_TEST(is_private),
        JOURNAL_TEST(keeps_its_file_locked),
        JOURNAL_TEST(leaves_what_is_not_in_the_log),
        JOURNAL_TEST(leaves_what_is_open_at_the_end),
        JOURNAL_TEST(empties_a_full_file_when_no_call_is_open),
        JOURNAL_TEST(begins_another_file_when_a_call_is_open),
        JOURNAL_TEST(stays_small_while_it_is_never_idle),
        JOURNAL_TEST(does_not_touch_a_file_that_has_its_name),
        JOURNAL_TEST(works_without_a_removed_file),
        JOURNAL_TEST(takes_calls_of_many_threads),
    };

    return cmocka_run_group_tests_name("journal/open_records", tests, NULL, NULL);
}
