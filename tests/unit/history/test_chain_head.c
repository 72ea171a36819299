// SPDX-License-Identifier: Apache-2.0
/* history/chain.c: a head that does not match the log, since a writer was killed or the head was
 * changed. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "history/journal_private.h"
#include "tests/unit/history/fixture.h"

/* Write the head as it was after `lines` lines, with line `lines + 1` announced. */
static void announce(const struct tmpdir *dir, uint64_t lines)
{
    al_auto(al_freep) char *text = journal_text(dir);
    al_auto(al_closep) int fd = openat(dir->fd, "tool_log.head", O_RDWR | O_CLOEXEC);
    struct al_head head = { .seq = 0 };
    al_auto(al_freep) char *path = tmpdir_path(dir, "tool_log.key");
    struct al_key key;
    const char *line = text;

    assert_int_equal(al_key_load(path, &key, NULL), 0);
    for (; head.seq < lines; head.seq++) {
        size_t len = strcspn(line, "\n");

        al_key_mac(&key, line, len, head.mac);
        head.size += len + 1;
        line += len + 1;
    }
    if (lines == 0)
        memcpy(head.mac, AL_MAC_NONE, sizeof(head.mac));
    al_key_mac(&key, line, strcspn(line, "\n"), head.next);
    assert_int_equal(al_head_write(fd, &key, &head), 0);
}

static void takes_in_a_line_whose_writer_was_killed_after_it(void **state)
{
    const struct tmpdir *dir = *state;

    journal_fill(dir, 3);
    announce(dir, 2);
    assert_intact(dir, 3);
    journal_fill(dir, 1);
    assert_intact(dir, 4);
}

static void forgets_a_line_whose_writer_was_killed_before_it(void **state)
{
    struct tmpdir *dir = *state;

    journal_fill(dir, 3);
    announce(dir, 2);
    al_auto(al_freep) char *text = journal_text(dir);
    strchr(strchr(text, '\n') + 1, '\n')[1] = '\0';
    journal_rewrite(dir, text);
    assert_intact(dir, 2);
    journal_fill(dir, 1);
    assert_intact(dir, 3);
}

static void cuts_off_a_line_whose_writer_was_killed_within_it(void **state)
{
    struct tmpdir *dir = *state;

    journal_fill(dir, 3);
    al_auto(al_freep) char *text = journal_text(dir);
    size_t len = strlen(text);
    for (size_t cut = 1; cut <= 3; cut++) {
        announce(dir, 2);
        text[len - cut] = '\0';
        journal_rewrite(dir, text);
        assert_intact(dir, 2);
        journal_fill(dir, 1);
        assert_intact(dir, 3);
        free(text);
        text = journal_text(dir);
        len = strlen(text);
    }
}

static void takes_in_no_other_line_than_the_announced(void **state)
{
    struct tmpdir *dir = *state;

    journal_fill(dir, 3);
    announce(dir, 2);
    al_auto(al_freep) char *text = journal_text(dir);
    memcpy(strrchr(text, '{'), "[", 1); /* the last '{' begins the last line's result */
    journal_rewrite(dir, text);
    assert_bad_line(dir, 3);
    journal_fill(dir, 1); /* gets the number that the other line claims */
    assert_bad_line(dir, 4);
}

static void overwrite_head(const struct tmpdir *dir, const char *text, size_t len)
{
    al_auto(al_closep) int fd = openat(dir->fd, "tool_log.head", O_WRONLY | O_CLOEXEC);

    assert_int_equal(pwrite(fd, text, len, 0), len);
}

/* A running server trusts a head that it wrote itself, and no other. */
static void looks_at_every_head_that_changed(void **state)
{
    const struct tmpdir *dir = *state;

    for (size_t at = 0; at < AL_HEAD_BYTES; at += 11) {
        struct al_journal *journal = journal_open(dir);
        al_auto(al_freep) char *old = NULL, *head = NULL;

        assert_int_equal(journal_add(journal, "tool"), 0);
        old = tmpdir_read(dir, "tool_log.head");
        assert_int_equal(journal_add(journal, "tool"), 0);
        head = tmpdir_read(dir, "tool_log.head");
        assert_int_equal(strlen(head), AL_HEAD_BYTES);
        assert_intact(dir, 2);
        head[at] = head[at] == '5' ? '6' : '5';
        overwrite_head(dir, at ? head : old, AL_HEAD_BYTES); /* 0: a head that was valid earlier */
        assert_int_equal(journal_add(journal, "tool"), 0);
        al_journal_free(journal);
        assert_bad_line(dir, 3);
        assert_int_equal(unlinkat(dir->fd, "tool_log.jsonl", 0), 0);
        assert_int_equal(unlinkat(dir->fd, "tool_log.head", 0), 0);
    }
}

/* A file can have zeros after a power failure.  The journal is new here, so its cache is empty. */
static void takes_no_zeros_for_a_head(void **state)
{
    static const char zeros[AL_HEAD_BYTES];
    const struct tmpdir *dir = *state;

    journal_fill(dir, 2);
    overwrite_head(dir, zeros, sizeof(zeros));
    journal_fill(dir, 1);
    assert_bad_line(dir, 3);
    al_auto(al_freep) char *log = tmpdir_read(dir, "tool_log.jsonl");
    assert_ptr_equal(strrchr(log, '\n'), log + strlen(log) - 1);
    assert_non_null(strstr(log, "\"prev\":\"0000"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(takes_in_a_line_whose_writer_was_killed_after_it),
        JOURNAL_TEST(forgets_a_line_whose_writer_was_killed_before_it),
        JOURNAL_TEST(cuts_off_a_line_whose_writer_was_killed_within_it),
        JOURNAL_TEST(takes_in_no_other_line_than_the_announced),
        JOURNAL_TEST(looks_at_every_head_that_changed),
        JOURNAL_TEST(takes_no_zeros_for_a_head),
    };

    return cmocka_run_group_tests_name("journal/chain_head", tests, NULL, NULL);
}
