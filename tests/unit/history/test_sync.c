// SPDX-License-Identifier: Apache-2.0
/* history/journal.h: when a line is on the disk, and that calls that only read do not wait for it.
 */
#include "history/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/effects.h"
#include "tests/unit/history/fixture.h"

/* How often a file was synchronised, and the result each time. */
static atomic_int syncs;
static int sync_error;
static void (*on_sync)(void);

static int sync_as_told(void)
{
    if (on_sync)
        on_sync();
    syncs++;
    errno = sync_error;
    return sync_error ? -1 : 0;
}

int __wrap_fdatasync(int fd);
int __wrap_fsync(int fd);

int __wrap_fdatasync(int fd)
{
    (void)fd;
    return sync_as_told();
}

int __wrap_fsync(int fd)
{
    (void)fd;
    return sync_as_told();
}

static struct al_record *begin(struct al_journal *journal)
{
    struct al_record *record = NULL;

    assert_int_equal(journal_begin(journal, "tool", NULL, &record, NULL), 0);
    return record;
}

/* How often closing a record synchronises. */
static int close_one(struct al_journal *journal, unsigned effects, int status)
{
    struct al_record_end end = { .effects = effects, .status = status };

    syncs = 0;
    assert_int_equal(al_record_close(begin(journal), &end), 0);
    return syncs;
}

static void synchronises_what_changes_something_and_nothing_else(void **state)
{
    struct al_journal *journal = journal_open(*state);

    assert_int_equal(close_one(journal, AL_READS, AL_OK), 0);
    assert_int_equal(close_one(journal, AL_READS, AL_ERR_EXECUTION), 0);
    assert_int_equal(close_one(journal, 0, AL_ERR_BAD_ARGS), 0);
    assert_int_equal(close_one(journal, AL_DISCARDS_WORK, AL_ERR_BAD_ARGS), 0);
    assert_int_equal(close_one(journal, AL_DISCARDS_WORK, AL_ERR_APPROVAL_DENIED), 0);
    syncs = 0;
    assert_int_equal(
        al_record_close(begin(journal),
                        &(struct al_record_end){ .effects = AL_RUNS_PROGRAM, .dry_run = true }),
        0);
    assert_int_equal(syncs, 0);
    /* log, head, and once the directory with their names */
    assert_int_equal(close_one(journal, AL_WRITES_INDEX, AL_OK), 3);
    assert_int_equal(close_one(journal, AL_WRITES_INDEX, AL_OK), 2);
    assert_int_equal(close_one(journal, AL_WRITES_REFS, AL_ERR_EXECUTION), 2);
    assert_int_equal(close_one(journal, AL_LEAVES_MACHINE, AL_ERR_TIMEOUT), 2);
    assert_int_equal(close_one(journal, AL_READS, AL_OK), 0);
    al_journal_free(journal);
}

/* The number of open calls that the next start finds if the power fails while the log is
 * synchronised. */
static const struct tmpdir *open_in;
static size_t open_then;

static void count_open_calls(void)
{
    open_then = journal_open_count(open_in, false);
}

/* An answer does not wait, and until the line is on the disk its record is open. */
static void synchronises_after_the_answer(void **state)
{
    struct al_journal *journal = journal_open(*state);
    const struct al_record_end known = { .effects = AL_WRITES_INDEX, .git_commit = "1234" };

    al_journal_sync_later(journal);
    assert_int_equal(close_one(journal, AL_READS, AL_OK), 0);
    open_in = *state;
    on_sync = count_open_calls;
    open_then = 0;
    syncs = 0;
    for (int i = 0; i < 3; i++) {
        struct al_record_end end = { .effects = AL_WRITES_INDEX, .status = AL_OK };
        struct al_record *record = begin(journal);

        assert_int_equal(al_record_update(record, &known, false, NULL), 0);
        assert_int_equal(al_record_close(record, &end), 0);
    }
    al_journal_free(journal);
    on_sync = NULL;
    assert_true(syncs >= 3); /* log, head and directory; each at most once a call */
    assert_true(syncs <= 7);
    assert_true(open_then >= 1 && open_then <= 3);
    assert_int_equal(journal_open_count(*state, false), 0);
    assert_intact(*state, 4);
}

/* The next start synchronises what a process that died did not. */
static void synchronises_what_a_dead_process_wrote(void **state)
{
    static const char lines[] = "{\"conversation_id\":\"%s\",\"id\":1}\n"
                                "{\"written\":true}\n";
    struct al_journal *journal = journal_open(*state);
    al_auto(al_freep) char *id = al_journal_conversation(journal, 0);
    al_auto(al_freep) char *text = NULL;

    assert_int_equal(close_one(journal, AL_READS, AL_OK), 0);
    al_journal_free(journal);
    text = al_asprintf(lines, id);
    tmpdir_write(*state, "open/1-0.jsonl", text);
    syncs = 0;
    journal = journal_open(*state);
    assert_true(syncs >= 2);
    al_journal_free(journal);
    assert_intact(*state, 1); /* the line was there */
}

static void synchronises_a_log_that_was_begun(void **state)
{
    struct al_journal *journal = journal_open(*state);

    al_journal_limit(journal, 1);
    (void)close_one(journal, AL_WRITES_INDEX, AL_OK);
    /* the full one, then as above */
    assert_int_equal(close_one(journal, AL_WRITES_INDEX, AL_OK), 4);
    al_journal_free(journal);
}

static void synchronises_a_note_before_anything_is_changed(void **state)
{
    const struct al_record_end known = { .effects = AL_DISCARDS_WORK, .git_commit = "1234" };
    struct al_journal *journal = journal_open(*state);

    for (int i = 0; i < 2; i++) {
        struct al_record *record = begin(journal);

        syncs = 0;
        assert_int_equal(al_record_update(record, &known, true, NULL), 0);
        assert_int_equal(syncs, 2); /* the file and its name */
        assert_int_equal(al_record_close(record, &known), 0);
    }
    al_journal_free(journal);
}

static void tells_of_a_disk_that_cannot(void **state)
{
    const struct al_record_end end = { .effects = AL_DISCARDS_WORK, .status = AL_OK };
    const struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_record *record = begin(journal);

    sync_error = EIO;
    assert_int_equal(al_record_update(record, &end, true, &err), AL_ERR_EXECUTION);
    assert_int_equal(al_record_close(record, &end), AL_ERR_EXECUTION);
    sync_error = 0;
    assert_intact(dir, 1); /* the line is there all the same, once */
    al_journal_free(journal);
    journal_fill(dir, 1);
    assert_intact(dir, 2);
}

static void begins_no_journal_whose_key_may_be_lost(void **state)
{
    al_auto(al_freep) char *file = tmpdir_path(*state, "tool_log.jsonl");
    struct al_journal *journal = NULL;

    sync_error = EIO;
    assert_int_equal(al_journal_open(file, &journal, NULL), AL_ERR_EXECUTION);
    sync_error = 0;
    assert_null(journal);
    journal_fill(*state, 1);
    assert_intact(*state, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(synchronises_what_changes_something_and_nothing_else),
        JOURNAL_TEST(synchronises_after_the_answer),
        JOURNAL_TEST(synchronises_what_a_dead_process_wrote),
        JOURNAL_TEST(synchronises_a_log_that_was_begun),
        JOURNAL_TEST(synchronises_a_note_before_anything_is_changed),
        JOURNAL_TEST(tells_of_a_disk_that_cannot),
        JOURNAL_TEST(begins_no_journal_whose_key_may_be_lost),
    };

    return cmocka_run_group_tests_name("journal/sync", tests, NULL, NULL);
}
