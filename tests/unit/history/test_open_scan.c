// SPDX-License-Identifier: Apache-2.0
/* history/open_records.c: which calls in a file are open, and whether its process lives. */
#include "history/journal_private.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/history/fixture.h"
#include "util/fs.h"

/* The open calls as "KEY=VALUE OF a", each with a space after it. */
static char *calls_of(const char *text, size_t len)
{
    al_auto(al_json_decrefp) json_t *calls = al_open_scan_calls(text, len);
    struct al_str out = AL_STR_INIT;
    const json_t *call;
    const char *key;

    json_object_foreach(calls, key, call)
    {
        assert_null(json_object_get(call, "begin"));
        assert_null(json_object_get(call, "note"));
        al_str_addf(&out, "%s=%" JSON_INTEGER_FORMAT " ", key,
                    json_integer_value(json_object_get(call, "a")));
    }
    return al_str_detach(&out);
}

#define B1 "{\"begin\":1,\"a\":1}\n"
#define B2 "{\"begin\":2,\"a\":2}\n"
#define N1 "{\"note\":1,\"a\":11,\"unknown\":1}\n"
#define E1 "{\"end\":1}\n"
#define E2 "{\"end\":2}\n"

static void tells_which_calls_are_open(void **state)
{
    static const struct {
        const char *text, *calls;
    } cases[] = {
        { "", "" },
        { B1, "1=1 " },
        { B1 B2, "1=1 2=2 " },
        { B1 E1, "" },
        { B1 B2 E1, "2=2 " },
        { B1 B2 E2, "1=1 " },
        { B1 N1, "1=11 " },
        { B1 N1 E1, "" },
        { B1 B2 N1 E2 E1, "" },
        { N1, "" }, /* of a call that did not begin */
        { E1, "" },
        { E1 B1, "1=1 " },
        { B1 "{\"begin\":2,\"a\":", "1=1 " },         /* partial */
        { B1 "{\"begin\":3,\"a\"\n" B2, "1=1 2=2 " }, /* not JSON */
        { B1 "{\"end\":\"1\"}\n" B2, "1=1 2=2 " },    /* not a number */
        { B1 "[1]\nnull\n{}\n", "1=1 " },
        { "{\"begin\":18446744073709551615,\"a\":1}\n" B1, "1=1 " }, /* too large a number */
        { "{\"conversation_id\":\"c-1\",\"a\":5}\n", "" },
        { "\n\nnonsense\n" B1, "1=1 " },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *calls = calls_of(cases[i].text, strlen(cases[i].text));

        assert_string_equal(calls, cases[i].calls);
    }
}

/* Wherever a process dies while it writes, either the old state counts or the whole new line. */
static void takes_a_line_that_is_whole_and_no_other(void **state)
{
    static const char *const lines[] = { B1, B2, N1, E2, E1 };
    static const char *const calls[] = { "", "1=1 ", "1=1 2=2 ", "1=11 2=2 ", "1=11 ", "" };
    static const char leftover[] = "{\"begin\":9,\"what an earlier write left without its end\":1";

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
                al_auto(al_freep) char *found = calls_of(torn.buf, torn.len);
                assert_string_equal(found, calls[i + (cut == strlen(lines[i]))]);
            }
            al_str_adds(&text, lines[i]);
        }
    }
}

/* What was reported. */
struct found {
    size_t files, calls;
    long pid;
    int result;
};

static int remember(void *payload, long pid, json_t *calls)
{
    struct found *found = payload;

    found->files++;
    found->calls += json_object_size(calls);
    found->pid = pid;
    return found->result;
}

static struct found scan(const struct tmpdir *dir, bool dead, int result)
{
    struct found found = { .result = result };
    int fd = openat(dir->fd, "open", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    al_open_scan(fd, dead, remember, &found);
    close(fd);
    return found;
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
    struct found found;

    (void)mkdirat(dir->fd, "open", 0700);
    tmpdir_write(dir, "open/12-3.jsonl", B1 B2 N1);
    for (size_t i = 0; i < COUNT(others); i++)
        tmpdir_write(dir, others[i], B1);
    found = scan(dir, true, 0);
    assert_int_equal(found.files, 1);
    assert_int_equal(found.calls, 2);
    assert_int_equal(found.pid, 12);
    assert_false(is_there(dir, "open/12-3.jsonl"));
    for (size_t i = 0; i < COUNT(others); i++)
        assert_true(is_there(dir, others[i]));
}

static void collects_again_what_served_no_purpose_yet(void **state)
{
    struct tmpdir *dir = *state;

    (void)mkdirat(dir->fd, "open", 0700);
    tmpdir_write(dir, "open/12-3.jsonl", B1);
    assert_int_equal(scan(dir, true, -1).calls, 1);
    assert_int_equal(scan(dir, true, -1).calls, 1);
    assert_true(is_there(dir, "open/12-3.jsonl"));
    assert_int_equal(scan(dir, true, 0).calls, 1);
    assert_int_equal(scan(dir, true, 0).calls, 0);
}

static void removes_what_has_no_call(void **state)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        { "open/12-3.jsonl", "" },
        { "open/12-4.jsonl", B1 E1 },
        { "open/12-5.jsonl", "\n\n" },
    };
    struct tmpdir *dir = *state;

    (void)mkdirat(dir->fd, "open", 0700);
    for (size_t i = 0; i < COUNT(files); i++)
        tmpdir_write(dir, files[i].name, files[i].text);
    assert_int_equal(scan(dir, true, -1).files, 0);
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
    assert_int_equal(scan(dir, true, 0).files, 0);
    assert_int_equal(scan(dir, false, 0).files, 0);
    assert_true(is_there(dir, "outside"));
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
        al_auto(al_str_clear) struct al_str members = AL_STR_INIT;
        struct al_open_records *records = NULL;
        struct al_open_record one, two;

        al_str_adds(&members, "\"a\":1");
        if (al_open_records_open(path, &records, NULL) < 0 ||
            al_open_records_begin(records, 1, &members, &one) < 0 ||
            al_open_records_begin(records, 2, &members, &two) < 0)
            _exit(1);
        al_open_records_end(records, &one);
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
    struct found found;
    pid_t pids[4];

    for (size_t i = 0; i < COUNT(pids); i++)
        pids[i] = start(dir);
    for (size_t dead = 0; dead <= COUNT(pids); dead++) {
        found = scan(dir, false, 0);
        assert_int_equal(found.calls, COUNT(pids) - dead);
        found = scan(dir, true, -1);
        assert_int_equal(found.calls, dead);
        if (dead == COUNT(pids))
            break;
        (void)kill(pids[dead], SIGKILL);
        assert_int_equal(waitpid(pids[dead], NULL, 0), pids[dead]);
    }
    assert_int_equal(scan(dir, true, 0).calls, COUNT(pids));
    assert_int_equal(scan(dir, true, 0).calls, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_which_calls_are_open),
        cmocka_unit_test(takes_a_line_that_is_whole_and_no_other),
        JOURNAL_TEST(collects_what_nobody_holds),
        JOURNAL_TEST(collects_again_what_served_no_purpose_yet),
        JOURNAL_TEST(removes_what_has_no_call),
        JOURNAL_TEST(follows_no_link_and_waits_for_no_pipe),
        JOURNAL_TEST(tells_those_that_live_from_the_dead),
    };

    return cmocka_run_group_tests_name("journal/open_scan", tests, NULL, NULL);
}
