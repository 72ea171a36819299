// SPDX-License-Identifier: Apache-2.0
/* base/reader.h: lines come out whole, long ones are refused, and memory is given back. */
#include "base/reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "tests/lib/assert.h"

/* A reader over a file in memory that holds `data`. */
static struct al_reader reader_over(const void *data, size_t len)
{
    int fd = memfd_create("lines", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(al_write_all(fd, data, len), 0);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return AL_READER_INIT(fd);
}

static void reader_end(struct al_reader *reader)
{
    close(reader->fd);
    al_reader_clear(reader);
}

/* The next line, reading as needed; AL_LINE_NONE is the end of input. */
static enum al_line next(struct al_reader *reader, const char **ret_line, size_t *ret_len)
{
    for (;;) {
        enum al_line kind = al_reader_next(reader, ret_line, ret_len);

        if (kind != AL_LINE_NONE || reader->ended)
            return kind;
        al_reader_fill(reader);
    }
}

static void expect_line(struct al_reader *reader, const char *text)
{
    const char *line = NULL;
    size_t len = 0;

    assert_int_equal(next(reader, &line, &len), AL_LINE_READY);
    assert_int_equal(len, strlen(text));
    assert_memory_equal(line, text, len);
}

static void expect_end(struct al_reader *reader)
{
    const char *line = NULL;
    size_t len = 0;

    assert_int_equal(next(reader, &line, &len), AL_LINE_NONE);
}

static void lines_end_with_lf_crlf_or_the_input(void **state)
{
    static const char text[] = "one\ntwo\r\n\n\r\n \t\nth\rree\nlast";
    al_auto(reader_end) struct al_reader reader = reader_over(text, sizeof(text) - 1);

    (void)state;
    expect_line(&reader, "one");
    expect_line(&reader, "two");
    expect_line(&reader, "th\rree");
    expect_line(&reader, "last");
    expect_end(&reader);
}

static void an_empty_input_has_no_lines(void **state)
{
    al_auto(reader_end) struct al_reader reader = reader_over("", 0);

    (void)state;
    expect_end(&reader);
}

static void lines_arrive_in_pieces(void **state)
{
    static const char text[] = "first\nsecond\r\n";
    struct al_reader reader;
    const char *line = NULL;
    size_t len = 0, lines = 0;
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    reader = AL_READER_INIT(fds[0]);
    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        assert_int_equal(al_write_all(fds[1], text + i, 1), 0);
        al_reader_fill(&reader);
        if (al_reader_next(&reader, &line, &len) == AL_LINE_READY) {
            assert_int_equal(text[i], '\n');
            assert_int_equal(len, lines ? 6 : 5);
            lines++;
        }
    }
    assert_int_equal(lines, 2);
    close(fds[1]);
    reader_end(&reader);
}

/* `len` bytes of 'x' with `end` behind them, then a short line. */
static struct al_reader long_line(size_t len, const char *end)
{
    al_auto(al_freep) char *fill = al_malloc(len);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    memset(fill, 'x', len);
    al_str_add(&text, fill, len);
    al_str_addf(&text, "%safter\n", end);
    return reader_over(text.buf, text.len);
}

static void a_line_may_be_as_long_as_the_limit(void **state)
{
    static const char *const ends[] = { "\n", "\r\n" };

    (void)state;
    for (size_t i = 0; i < COUNT(ends); i++) {
        for (size_t len = AL_LINE_MAX_BYTES - 1; len <= AL_LINE_MAX_BYTES + 1; len++) {
            al_auto(reader_end) struct al_reader reader = long_line(len, ends[i]);
            const char *line = NULL;
            size_t got = 0;

            if (len <= AL_LINE_MAX_BYTES) {
                assert_int_equal(next(&reader, &line, &got), AL_LINE_READY);
                assert_int_equal(got, len);
            } else {
                assert_int_equal(next(&reader, &line, &got), AL_LINE_TOO_LONG);
            }
            expect_line(&reader, "after");
            expect_end(&reader);
        }
    }
}

static void a_longer_line_is_told_once_and_not_kept(void **state)
{
    al_auto(reader_end) struct al_reader reader = long_line(3 * AL_LINE_MAX_BYTES, "\n");
    const char *line = NULL;
    size_t len = 0;

    (void)state;
    assert_int_equal(next(&reader, &line, &len), AL_LINE_TOO_LONG);
    assert_true(reader.buf.cap < 2 * AL_LINE_MAX_BYTES);
    expect_line(&reader, "after");
    assert_true(reader.buf.cap <= 128 * 1024);
    expect_end(&reader);
}

static void memory_of_a_long_line_is_given_back_before_the_next(void **state)
{
    struct al_reader reader;
    al_auto(al_freep) char *fill = al_malloc(AL_LINE_MAX_BYTES);
    const char *line = NULL;
    size_t len = 0;

    (void)state;
    memset(fill, 'x', AL_LINE_MAX_BYTES);
    reader = reader_over(fill, AL_LINE_MAX_BYTES);
    assert_int_equal(pwrite(reader.fd, "\n", 1, AL_LINE_MAX_BYTES), 1);
    assert_int_equal(next(&reader, &line, &len), AL_LINE_READY);
    assert_true(reader.buf.cap > AL_LINE_MAX_BYTES);
    assert_int_equal(al_reader_next(&reader, &line, &len), AL_LINE_NONE);
    assert_true(reader.buf.cap <= 128 * 1024); /* and the input has not ended */
    assert_false(reader.ended);
    reader_end(&reader);
}

static void the_memory_of_a_long_line_is_given_back(void **state)
{
    al_auto(al_freep) char *text = al_malloc(200000);
    struct al_reader reader;
    const char *line = NULL;
    size_t len = 0;

    (void)state;
    memset(text, 'x', 200000);
    text[199997] = text[199999] = '\n';
    reader = reader_over(text, 200000);
    assert_int_equal(next(&reader, &line, &len), AL_LINE_READY);
    assert_true(reader.buf.cap > 199997);
    expect_line(&reader, "x");
    expect_end(&reader);
    assert_true(reader.buf.cap <= 128 * 1024);
    reader_end(&reader);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_with_lf_crlf_or_the_input),
        cmocka_unit_test(an_empty_input_has_no_lines),
        cmocka_unit_test(lines_arrive_in_pieces),
        cmocka_unit_test(a_line_may_be_as_long_as_the_limit),
        cmocka_unit_test(a_longer_line_is_told_once_and_not_kept),
        cmocka_unit_test(memory_of_a_long_line_is_given_back_before_the_next),
        cmocka_unit_test(the_memory_of_a_long_line_is_given_back),
    };

    return cmocka_run_group_tests_name("wire/reader", tests, NULL, NULL);
}
