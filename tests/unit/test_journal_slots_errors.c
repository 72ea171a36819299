// SPDX-License-Identifier: Apache-2.0
/* journal/slots.h: a file system that gives errors. */
#include "journal/slots.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/unit/journal_fixture.h"
#include "util/fs.h"

/* What is wrong with the file system; 0 for nothing. */
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

/* What reading a file gives; 0: the file. */
static int no_reads;

int __real_al_fs_read_fd(int fd, size_t max_bytes, struct al_str *ret_text);
int __wrap_al_fs_read_fd(int fd, size_t max_bytes, struct al_str *ret_text);

int __wrap_al_fs_read_fd(int fd, size_t max_bytes, struct al_str *ret_text)
{
    return no_reads ? no_reads : __real_al_fs_read_fd(fd, max_bytes, ret_text);
}

static struct al_slots *open_slots(const struct tmpdir *dir)
{
    al_auto(al_freep) char *path = tmpdir_path(dir, "open");
    struct al_slots *slots = NULL;

    assert_int_equal(al_slots_open(path, &slots, NULL), 0);
    return slots;
}

static int try_to_take(struct al_slots *slots, const char *text, struct al_slot **ret_slot)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_adds(&line, text);
    return al_slots_take(slots, &line, ret_slot);
}

/* Append what is handed over. */
static int remember(void *context, const char *text, size_t len)
{
    al_str_add(context, text, len);
    return 0;
}

static void assert_collects(struct al_slots *slots, const char *text)
{
    al_auto(al_str_clear) struct al_str seen = AL_STR_INIT;

    al_slots_collect(slots, remember, &seen);
    assert_string_equal(seen.buf, text);
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
    struct al_slots *slots = open_slots(dir);

    for (size_t i = 0; i < COUNT(cases); i++) {
        tmpdir_write(dir, "open/2000000000-1", "a call\n");
        no_reads = cases[i].error;
        assert_collects(slots, "");
        no_reads = 0;
        assert_int_equal(faccessat(dir->fd, "open/2000000000-1", F_OK, 0) == 0, cases[i].stays);
        assert_collects(slots, cases[i].stays ? "a call\n" : "");
    }
    al_slots_free(slots);
}

static void takes_nothing_without_a_lock(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);
    struct al_slot *slot = NULL;

    no_locks = ENOLCK;
    assert_int_equal(try_to_take(slots, "a call", &slot), -ENOLCK);
    no_locks = 0;
    assert_int_equal(journal_open_count(dir, false) + journal_open_count(dir, true), 0);
    assert_int_equal(try_to_take(slots, "a call", &slot), 0);
    al_slots_give_back(slots, slot);
    al_slots_free(slots);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(keeps_what_cannot_be_read),
        JOURNAL_TEST(takes_nothing_without_a_lock),
    };

    return cmocka_run_group_tests_name("journal/slots, errors", tests, NULL, NULL);
}
