// SPDX-License-Identifier: Apache-2.0
/* history/open_records.c: what a process writes about a running call. */
#include "history/journal_private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "tests/unit/history/fixture.h"

static int open_dir(const struct tmpdir *dir)
{
    al_auto(al_freep) char *path = tmpdir_path(dir, "open");
    int fd = al_journal_open_dir(path, NULL);

    assert_true(fd >= 0);
    return fd;
}

static int try_to_begin(int dir_fd, int value, struct al_open_record *ret_record)
{
    al_auto(al_json_decrefp) json_t *line = json_pack("{s:i}", "a", value);

    return al_open_record_begin(dir_fd, line, ret_record);
}

static struct al_open_record begin(int dir_fd, int value)
{
    struct al_open_record record;

    assert_int_equal(try_to_begin(dir_fd, value, &record), 0);
    return record;
}

static int note(struct al_open_record *record, const char *name, const char *value)
{
    al_auto(al_json_decrefp) json_t *members = json_pack("{s:s}", name, value);

    return al_open_record_note(record, members);
}

/* Assert what a record's file has; NULL: there is no such file. */
static void assert_file(const struct tmpdir *dir, const char *name, const char *text)
{
    al_auto(al_freep) char *path = al_asprintf("open/%s", name);

    assert_int_equal(faccessat(dir->fd, path, F_OK, 0) == 0, text != NULL);
    if (!text)
        return;
    al_auto(al_freep) char *found = tmpdir_read(dir, path);
    assert_string_equal(found, text);
}

static void has_a_file_while_it_runs(void **state)
{
    const struct tmpdir *dir = *state;
    al_auto(al_closep) int fd = open_dir(dir);
    struct al_open_record one = begin(fd, 1), two = begin(fd, 2);

    assert_int_equal(note(&one, "a", "x"), 0);
    al_open_record_written(&two);
    assert_file(dir, one.name, "{\"a\":1}\n{\"a\":\"x\"}\n");
    assert_file(dir, two.name, "{\"a\":2}\n{\"written\":true}\n");
    al_open_record_close(&one, true);
    assert_file(dir, one.name, NULL);
    assert_file(dir, two.name, "{\"a\":2}\n{\"written\":true}\n");
    al_open_record_close(&two, true);
    assert_file(dir, two.name, NULL);
}

static void is_private(void **state)
{
    const struct tmpdir *dir = *state;
    mode_t mask = umask(0);
    al_auto(al_closep) int fd = open_dir(dir);
    struct al_open_record one = begin(fd, 1);
    struct stat st;

    (void)umask(mask);
    assert_int_equal(fstatat(fd, one.name, &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(fstatat(dir->fd, "open", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    al_open_record_close(&one, true);
}

static bool is_locked(int dir_fd, const char *name)
{
    al_auto(al_closep) int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    return flock(fd, LOCK_EX | LOCK_NB) < 0;
}

static void stays_unlocked_when_it_is_not_in_the_log(void **state)
{
    const struct tmpdir *dir = *state;
    al_auto(al_closep) int fd = open_dir(dir);
    struct al_open_record one = begin(fd, 1);

    assert_true(is_locked(fd, one.name));
    al_open_record_close(&one, false);
    assert_false(is_locked(fd, one.name));
    assert_file(dir, one.name, "{\"a\":1}\n");
}

static void does_not_touch_a_file_that_has_its_name(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_closep) int fd = open_dir(dir);
    struct al_open_record one = begin(fd, 1), two;
    unsigned n;

    assert_int_equal(sscanf(one.name, "%*d-%u", &n), 1);
    al_auto(al_freep) char *next = al_asprintf("open/%ld-%u.jsonl", (long)getpid(), n + 1);
    tmpdir_write(dir, next, "another's\n");
    two = begin(fd, 2);
    assert_string_not_equal(two.name, next + strlen("open/"));
    al_open_record_close(&two, true);
    assert_file(dir, next + strlen("open/"), "another's\n");
    assert_int_equal(unlinkat(fd, one.name, 0), 0);
    al_auto(al_freep) char *same = al_asprintf("open/%s", one.name);
    tmpdir_write(dir, same, "another's\n");
    al_open_record_close(&one, true);
    assert_file(dir, same + strlen("open/"), "another's\n");
}

#define THREADS 8
#define CALLS   100

static void *work(void *payload)
{
    const int *dir_fd = payload;

    for (int i = 0; i < CALLS; i++) {
        struct al_open_record one;

        if (try_to_begin(*dir_fd, i, &one) < 0 || note(&one, "a", "x") < 0)
            return NULL;
        if (i % 10)
            al_open_record_close(&one, true);
        else
            al_open_record_close(&one, false);
    }
    return payload;
}

static void takes_calls_of_many_threads(void **state)
{
    al_auto(al_closep) int fd = open_dir(*state);
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &fd), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *result = NULL;

        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_non_null(result);
    }
    assert_int_equal(journal_open_count(*state, false), THREADS * CALLS / 10);
}

/* --- Errors of the file system --- */

/* The errno that flock(2) sets; 0: it works. */
static int no_locks;

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

int __wrap_flock(int fd, int operation)
{
    if (!no_locks || operation == LOCK_UN)
        return __real_flock(fd, operation);
    errno = no_locks;
    return -1;
}

/* The result of reading a file; 0: it works. */
static int no_reads;

int __real_al_fs_read_fd(int fd, size_t max_bytes, struct al_str *ret_text);
int __wrap_al_fs_read_fd(int fd, size_t max_bytes, struct al_str *ret_text);

int __wrap_al_fs_read_fd(int fd, size_t max_bytes, struct al_str *ret_text)
{
    return no_reads ? no_reads : __real_al_fs_read_fd(fd, max_bytes, ret_text);
}

static void keeps_what_cannot_be_read(void **state)
{
    static const struct {
        int error;
        bool stays;
    } cases[] = {
        { -EIO, true }, { -ENOMEM, true }, { -EISDIR, true }, { -EACCES, true }, { -EFBIG, true }
    };
    struct tmpdir *dir = *state;

    for (size_t i = 0; i < COUNT(cases); i++) {
        tmpdir_write(dir, "open/2000000000-1.jsonl", "{\"a\":1}\n");
        no_reads = cases[i].error;
        journal_fill(dir, 0);
        no_reads = 0;
        assert_file(dir, "2000000000-1.jsonl", cases[i].stays ? "{\"a\":1}\n" : NULL);
        journal_fill(dir, 0);
        assert_file(dir, "2000000000-1.jsonl", NULL);
    }
}

static void takes_nothing_without_a_lock(void **state)
{
    al_auto(al_closep) int fd = open_dir(*state);
    struct al_open_record record;

    no_locks = ENOLCK;
    assert_int_equal(try_to_begin(fd, 1, &record), -ENOLCK);
    no_locks = 0;
    assert_int_equal(journal_open_count(*state, false) + journal_open_count(*state, true), 0);
    assert_int_equal(try_to_begin(fd, 1, &record), 0);
    al_open_record_close(&record, true);
}

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
    al_auto(al_closep) int fd = open_dir(*state);

    (void)signal(SIGXFSZ, SIG_IGN);
    for (rlim_t room = 0; room <= 8; room++) {
        struct al_open_record one;
        int r;

        limit_files(room);
        r = try_to_begin(fd, 1, &one);
        limit_files(RLIM_INFINITY);
        assert_int_equal(r, room == 8 ? 0 : -EFBIG);
        assert_int_equal(journal_open_count(*state, false), room == 8);
        assert_int_equal(journal_open_count(*state, true), 0);
        if (r == 0)
            al_open_record_close(&one, true);
    }
}

/* A partial line has no effect, and the next line overwrites it, whether shorter or longer. */
static void a_line_that_finds_no_room_changes_nothing(void **state)
{
    static const char *const nexts[] = { "3", "longer than what was there" };
    const struct tmpdir *dir = *state;
    al_auto(al_closep) int fd = open_dir(dir);

    (void)signal(SIGXFSZ, SIG_IGN);
    for (rlim_t at = 0; at < 2 * 11; at++) {
        struct al_open_record one = begin(fd, 1);
        al_auto(al_freep) char *path = al_asprintf("open/%s", one.name);
        bool written = false;
        int r;

        limit_files(8 + at / 2);
        r = note(&one, "a", "2222");
        limit_files(RLIM_INFINITY);
        assert_int_equal(r, -EFBIG);
        assert_int_equal(journal_open_count(dir, false), 1);
        assert_int_equal(note(&one, "a", nexts[at % 2]), 0);
        al_auto(al_freep) char *text = tmpdir_read(dir, path);
        al_auto(al_json_decrefp) json_t *call = al_open_record_read(text, strlen(text), &written);
        assert_string_equal(al_json_get_string(call, "a"), nexts[at % 2]);
        assert_false(written);
        al_open_record_close(&one, true);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(has_a_file_while_it_runs),
        JOURNAL_TEST(is_private),
        JOURNAL_TEST(stays_unlocked_when_it_is_not_in_the_log),
        JOURNAL_TEST(does_not_touch_a_file_that_has_its_name),
        JOURNAL_TEST(takes_calls_of_many_threads),
        JOURNAL_TEST(keeps_what_cannot_be_read),
        JOURNAL_TEST(takes_nothing_without_a_lock),
        JOURNAL_TEST(a_call_that_finds_no_room_leaves_no_file),
        JOURNAL_TEST(a_line_that_finds_no_room_changes_nothing),
    };

    return cmocka_run_group_tests_name("journal/open_records", tests, NULL, NULL);
}
