// SPDX-License-Identifier: Apache-2.0
/* history/open_records.c: which calls are open, and whether their process lives. */
#include "history/journal_private.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "tests/unit/history/fixture.h"

/* The call's member "a", -1 without a call; negative less 10 if the log has its line. */
static int call_of(const char *text, size_t len)
{
    bool written = false;
    al_auto(al_json_decrefp) json_t *call = al_open_record_read(text, len, &written);
    int value = call ? (int)json_integer_value(json_object_get(call, "a")) : -1;

    assert_null(json_object_get(call, "written"));
    return written ? -10 - value : value;
}

#define B1 "{\"a\":1}\n"
#define N2 "{\"a\":2,\"unknown\":1}\n"
#define N3 "{\"a\":3}\n"
#define W  "{\"written\":true}\n"

static void tells_what_is_known_of_a_call(void **state)
{
    static const struct {
        const char *text;
        int value;
    } cases[] = {
        { "", -1 },
        { B1, 1 },
        { B1 N2, 2 },
        { B1 N2 N3, 3 },
        { B1 W, -11 },
        { B1 N2 W, -12 },
        { B1 "{\"a\":2", 1 },      /* partial */
        { B1 "{\"a\":2\n" N3, 3 }, /* not JSON */
        { B1 "[1]\nnull\n{}\n", 1 },
        { "\n\nnonsense\n" B1, 1 },
        { "nonsense\n[]\n", -1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(call_of(cases[i].text, strlen(cases[i].text)), cases[i].value);
}

/* Wherever a process dies while it writes, either the old state counts or the whole new line. */
static void takes_a_line_that_is_whole_and_no_other(void **state)
{
    static const char *const lines[] = { B1, N2, N3, W };
    static const int values[] = { -1, 1, 2, 3, -13 };
    static const char leftover[] = "{\"a\":9,\"what an earlier write left without its end\":1";

    (void)state;
    for (int dirty = 0; dirty <= 1; dirty++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        for (size_t i = 0; i < COUNT(lines); i++) {
            for (size_t cut = 0; cut <= strlen(lines[i]); cut++) {
                al_auto(al_str_clear) struct al_str torn = AL_STR_INIT;

                al_str_add(&torn, text.buf, text.len);
                al_str_add(&torn, lines[i], cut);
                if (dirty) /* the write replaced older bytes */
                    al_str_adds(&torn, leftover + cut);
                assert_int_equal(call_of(torn.buf, torn.len),
                                 values[i + (cut == strlen(lines[i]))]);
            }
            al_str_adds(&text, lines[i]);
        }
    }
}

static void count(void *payload, long pid, const json_t *call)
{
    assert_true(pid > 0);
    assert_non_null(call);
    ++*(size_t *)payload;
}

static size_t running(const struct tmpdir *dir)
{
    al_auto(al_freep) char *file = tmpdir_path(dir, "tool_log.jsonl");
    size_t calls = 0;

    assert_int_equal(al_journal_running(file, count, &calls), 0);
    return calls;
}

/* What a start of airlock does with the calls whose process died. */
static void collect(const struct tmpdir *dir)
{
    journal_fill(dir, 0);
}

static bool is_there(const struct tmpdir *dir, const char *name)
{
    return faccessat(dir->fd, name, F_OK, 0) == 0;
}

static void collects_what_nobody_holds(void **state)
{
    static const char *const others[] = { "open/12-3.txt", "open/-1-3",    "open/.hidden",
                                          "open/12-5",     "open/12",      "open/.12-4",
                                          "open/12-3.jso", "open/12.jsonl" };
    struct tmpdir *dir = *state;

    (void)mkdirat(dir->fd, "open", 0700);
    tmpdir_write(dir, "open/12-3.jsonl", B1 N2);
    for (size_t i = 0; i < COUNT(others); i++)
        tmpdir_write(dir, others[i], B1);
    collect(dir);
    assert_false(is_there(dir, "open/12-3.jsonl"));
    for (size_t i = 0; i < COUNT(others); i++)
        assert_true(is_there(dir, others[i]));
}

static void removes_what_has_no_call(void **state)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        { "open/12-3.jsonl", "" },
        { "open/12-4.jsonl", "nonsense\n" },
        { "open/12-5.jsonl", "\n\n" },
    };
    struct tmpdir *dir = *state;

    (void)mkdirat(dir->fd, "open", 0700);
    for (size_t i = 0; i < COUNT(files); i++)
        tmpdir_write(dir, files[i].name, files[i].text);
    collect(dir);
    for (size_t i = 0; i < COUNT(files); i++)
        assert_false(is_there(dir, files[i].name));
}

static void follows_no_link_and_waits_for_no_pipe(void **state)
{
    struct tmpdir *dir = *state;

    (void)mkdirat(dir->fd, "open", 0700);
    tmpdir_write(dir, "outside", B1);
    assert_int_equal(symlinkat("../outside", dir->fd, "open/12-3.jsonl"), 0);
    assert_int_equal(mkfifoat(dir->fd, "open/12-4.jsonl", 0600), 0);
    collect(dir);
    assert_int_equal(running(dir), 0);
    assert_true(is_there(dir, "outside"));
}

static void does_not_show_a_call_that_is_in_the_log(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_closep) int fd = -1;

    (void)mkdirat(dir->fd, "open", 0700);
    tmpdir_write(dir, "open/12-3.jsonl", B1);
    fd = openat(dir->fd, "open/12-3.jsonl", O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0); /* its process lives */
    assert_int_equal(running(dir), 1);
    tmpdir_write(dir, "open/12-3.jsonl", B1 W);
    assert_int_equal(running(dir), 0);
}

/* Start a process that begins two calls, ends one, tells the parent, and waits to be killed. */
static pid_t start(const struct tmpdir *dir)
{
    int said[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe2(said, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        al_auto(al_freep) char *path = tmpdir_path(dir, "open");
        al_auto(al_json_decrefp) json_t *line = json_pack("{s:i}", "a", 1);
        struct al_open_record one, two;
        int fd = al_journal_open_dir(path, NULL);

        if (fd < 0 || al_open_record_begin(fd, line, &one) < 0 ||
            al_open_record_begin(fd, line, &two) < 0)
            _exit(1);
        al_open_record_close(&one, true);
        if (write(said[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            (void)pause();
    }
    close(said[1]);
    assert_int_equal(read(said[0], &byte, 1), 1);
    close(said[0]);
    return pid;
}

static void tells_those_that_live_from_the_dead(void **state)
{
    const struct tmpdir *dir = *state;
    pid_t pids[4];

    for (size_t i = 0; i < COUNT(pids); i++)
        pids[i] = start(dir);
    for (size_t dead = 0; dead <= COUNT(pids); dead++) {
        assert_int_equal(running(dir), COUNT(pids) - dead);
        collect(dir);
        assert_int_equal(journal_open_count(dir, false), COUNT(pids) - dead);
        if (dead == COUNT(pids))
            break;
        (void)kill(pids[dead], SIGKILL);
        assert_int_equal(waitpid(pids[dead], NULL, 0), pids[dead]);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_is_known_of_a_call),
        cmocka_unit_test(takes_a_line_that_is_whole_and_no_other),
        JOURNAL_TEST(collects_what_nobody_holds),
        JOURNAL_TEST(removes_what_has_no_call),
        JOURNAL_TEST(follows_no_link_and_waits_for_no_pipe),
        JOURNAL_TEST(does_not_show_a_call_that_is_in_the_log),
        JOURNAL_TEST(tells_those_that_live_from_the_dead),
    };

    return cmocka_run_group_tests_name("journal/open_scan", tests, NULL, NULL);
}
