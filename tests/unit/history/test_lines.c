// SPDX-License-Identifier: Apache-2.0
/* history/reading.c: a line is complete, whatever the sizes of the reads. */
#include "history/journal_private.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fs.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static int setup(void **state)
{
    *state = tmpdir_new();
    return 0;
}

static int teardown(void **state)
{
    tmpdir_free(*state);
    return 0;
}

static int open_log(const struct tmpdir *dir)
{
    int fd = openat(dir->fd, "log", O_RDWR | O_APPEND | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

/* The lines of the file, and of what is appended to it. */
static struct al_history history_of(const char *path)
{
    struct al_history history;

    assert_int_equal(al_history_open(path, &history), 0);
    history.follow = true;
    return history;
}

static void assert_line(struct al_history *lines, const char *wanted)
{
    const char *line;
    size_t len;

    assert_int_equal(al_history_next(lines, &line, &len), 1);
    assert_string_equal(line, wanted);
    assert_int_equal(len, strlen(wanted));
}

static void assert_end(struct al_history *lines)
{
    const char *line;
    size_t len;

    assert_int_equal(al_history_next(lines, &line, &len), 0);
}

static void gives_lines_and_what_is_left_of_one(void **state)
{
    struct tmpdir *dir = *state;

    tmpdir_write(dir, "log", "one\n\nthree\nrest");
    al_auto(al_freep) char *path = tmpdir_path(dir, "log");
    al_auto(al_history_clear) struct al_history lines = history_of(path);
    assert_line(&lines, "one");
    assert_line(&lines, "");
    assert_line(&lines, "three");
    assert_end(&lines);
}

static void goes_on_when_the_file_has_grown(void **state)
{
    struct tmpdir *dir = *state;

    tmpdir_write(dir, "log", "one\nha");
    al_auto(al_closep) int fd = open_log(dir);
    al_auto(al_freep) char *path = tmpdir_path(dir, "log");
    al_auto(al_history_clear) struct al_history lines = history_of(path);
    assert_line(&lines, "one");
    assert_end(&lines);
    assert_int_equal(al_write_all(fd, "lf\nmore", 7), 0);
    assert_line(&lines, "half");
    assert_end(&lines);
    assert_int_equal(al_write_all(fd, "\n", 1), 0);
    assert_line(&lines, "more");
    assert_end(&lines);
}

/* Somebody removes the log while it is followed, and airlock is started again. */
static void goes_on_with_a_new_log(void **state)
{
    struct tmpdir *dir = *state;

    tmpdir_write(dir, "log", "one\n");
    al_auto(al_freep) char *path = tmpdir_path(dir, "log");
    al_auto(al_history_clear) struct al_history lines = history_of(path);
    assert_line(&lines, "one");
    assert_int_equal(unlinkat(dir->fd, "log", 0), 0);
    assert_end(&lines);
    tmpdir_write(dir, "log", "new\n");
    assert_line(&lines, "new");
    assert_end(&lines);
}

static void starts_and_stops_where_it_is_told(void **state)
{
    struct tmpdir *dir = *state;

    tmpdir_write(dir, "log", "one\ntwo\nthree\n");
    al_auto(al_closep) int fd = open_log(dir);
    al_auto(al_freep) char *path = tmpdir_path(dir, "log");
    al_auto(al_history_clear) struct al_history lines = history_of(path);
    lines.follow = false;
    assert_int_equal(al_write_all(fd, "four\n", 5), 0);
    assert_true(al_history_skip_old(&lines, 12));
    assert_line(&lines, "three");
    assert_end(&lines);
}

static void finds_the_end_of_a_line_on_either_side_of_a_read(void **state)
{
    struct tmpdir *dir = *state;
    const size_t chunk = 64u << 10;

    for (size_t len = chunk - 2; len <= chunk + 2; len++) {
        al_auto(al_freep) char *text = al_calloc(len + 6, 1);

        memset(text, 'a', len);
        memcpy(text + len, "\ntwo\n", 5);
        tmpdir_write(dir, "log", text);
        text[len] = '\0';
        al_auto(al_freep) char *path = tmpdir_path(dir, "log");
        al_auto(al_history_clear) struct al_history lines = history_of(path);
        assert_line(&lines, text);
        assert_line(&lines, "two");
        assert_end(&lines);
    }
}

static void refuses_a_line_over_the_limit(void **state)
{
    struct tmpdir *dir = *state;

    for (size_t len = AL_JOURNAL_LINE_MAX_BYTES - 1; len <= AL_JOURNAL_LINE_MAX_BYTES + 1; len++) {
        const char *line;
        size_t found;

        tmpdir_write(dir, "log", "");
        al_auto(al_closep) int fd = open_log(dir);
        assert_int_equal(ftruncate(fd, (off_t)len), 0); /* a sparse file of NULs */
        assert_int_equal(al_write_all(fd, "\n", 1), 0);
        al_auto(al_freep) char *path = tmpdir_path(dir, "log");
        al_auto(al_history_clear) struct al_history lines = history_of(path);
        assert_int_equal(al_history_next(&lines, &line, &found),
                         len > AL_JOURNAL_LINE_MAX_BYTES ? -EFBIG : 1);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_lines_and_what_is_left_of_one),
        cmocka_unit_test(goes_on_when_the_file_has_grown),
        cmocka_unit_test(goes_on_with_a_new_log),
        cmocka_unit_test(starts_and_stops_where_it_is_told),
        cmocka_unit_test(finds_the_end_of_a_line_on_either_side_of_a_read),
        cmocka_unit_test(refuses_a_line_over_the_limit),
    };

    return cmocka_run_group_tests_name("journal/lines", tests, setup, teardown);
}
