// SPDX-License-Identifier: Apache-2.0
/* history/open_records.c: errors of the file system. */
#include "history/journal_private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/unit/history/fixture.h"
#include "util/fs.h"

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

static struct al_open_records *open_records(const struct tmpdir *dir)
{
    al_auto(al_freep) char *path = tmpdir_path(dir, "open");
    struct al_open_records *records = NULL;

    assert_int_equal(al_open_records_open(path, &records, NULL), 0);
    return records;
}

static int try_to_begin(struct al_open_records *records, struct al_open_record *ret_record)
{
    al_auto(al_str_clear) struct al_str members = AL_STR_INIT;

    al_str_adds(&members, "\"a\":1");
    return al_open_records_begin(records, 1, &members, ret_record);
}

static int count(void *payload, long pid, json_t *calls)
{
    assert_int_equal(pid, 2000000000);
    *(size_t *)payload += json_object_size(calls);
    return 0;
}

static void assert_collects(struct al_open_records *records, size_t calls)
{
    size_t found = 0;

    al_open_scan(al_open_records_dir(records), true, count, &found);
    assert_int_equal(found, calls);
}

static void keeps_what_cannot_be_read(void **state)
{
    static const struct {
        int error;
        bool stays;
    } cases[] = {
        { -EIO, true }, { -ENOMEM, true }, { -EISDIR, true }, { -EACCES, true }, { -EFBIG, false }
    };
    struct tmpdir *dir = *state;
    struct al_open_records *records = open_records(dir);

    for (size_t i = 0; i < COUNT(cases); i++) {
        tmpdir_write(dir, "open/2000000000-1.jsonl", "{\"begin\":1}\n");
        no_reads = cases[i].error;
        assert_collects(records, 0);
        no_reads = 0;
        assert_int_equal(faccessat(dir->fd, "open/2000000000-1.jsonl", F_OK, 0) == 0,
                         cases[i].stays);
        assert_collects(records, cases[i].stays);
    }
    al_open_records_free(records);
}

static void takes_nothing_without_a_lock(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_open_records *records = open_records(dir);
    struct al_open_record record;

    no_locks = ENOLCK;
    assert_int_equal(try_to_begin(records, &record), -ENOLCK);
    no_locks = 0;
    assert_int_equal(journal_open_count(dir, false) + journal_open_count(dir, true), 0);
    assert_int_equal(try_to_begin(records, &record), 0);
    al_open_records_end(records, &record);
    al_open_records_free(records);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(keeps_what_cannot_be_read),
        JOURNAL_TEST(takes_nothing_without_a_lock),
    };

    return cmocka_run_group_tests_name("journal/open_records, errors", tests, NULL, NULL);
}
