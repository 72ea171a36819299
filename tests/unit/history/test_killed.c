// SPDX-License-Identifier: Apache-2.0
/*
 * A server that is killed before any of its system calls: the chain is valid, and each call that
 * had begun has exactly one line.
 *
 * Source: ptrace(2).
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "tests/unit/history/fixture.h"

static const size_t message_bytes[] = { 100, 10, 300, 9000, 10 };

#define NOTED 2u

/* Tell the parent how far this process is. mkdir(2) is one system call. */
static void mark(const struct tmpdir *dir, const char *what, size_t call)
{
    al_auto(al_freep) char *name = al_asprintf("%s-%zu", what, call);

    if (mkdirat(dir->fd, name, 0700) < 0)
        _exit(1);
}

static bool is_marked(const struct tmpdir *dir, const char *what, size_t call)
{
    al_auto(al_freep) char *name = al_asprintf("%s-%zu", what, call);

    return faccessat(dir->fd, name, F_OK, 0) == 0;
}

static void make_call(struct al_journal *journal, const struct tmpdir *dir, size_t call)
{
    const struct al_record_end known = { .operation = "known" };
    al_auto(al_freep) char *tool = al_asprintf("call-%zu", call);
    al_auto(al_freep) char *message = al_calloc(message_bytes[call] + 1, 1);
    struct al_record *record = NULL;

    memset(message, 'm', message_bytes[call]);
    al_auto(al_json_decrefp) json_t *input = json_pack("{s:s}", "message", message);
    if (journal_begin(journal, tool, input, &record, NULL) < 0)
        _exit(1);
    mark(dir, "begun", call);
    if (call == NOTED) {
        if (al_record_update(record, &known, true, NULL) < 0)
            _exit(1);
        mark(dir, "noted", call);
    }
    if (al_record_close(record, &known) < 0)
        _exit(1);
    mark(dir, "ended", call);
}

static void make_calls(struct al_journal *journal, const struct tmpdir *dir)
{
    for (size_t i = 0; i < COUNT(message_bytes); i++)
        make_call(journal, dir, i);
}

#define OVERLAPPING 5u

/* A call is always open: each ends after the next has begun. */
static void make_overlapping_calls(struct al_journal *journal, const struct tmpdir *dir)
{
    const struct al_record_end end = { .status = AL_OK };
    struct al_record *open[OVERLAPPING + 1] = { NULL };

    for (size_t i = 0; i <= OVERLAPPING; i++) {
        al_auto(al_freep) char *tool = al_asprintf("call-%zu", i);

        if (i < OVERLAPPING && journal_begin(journal, tool, NULL, &open[i], NULL) < 0)
            _exit(1);
        if (i < OVERLAPPING)
            mark(dir, "begun", i);
        if (i > 0 && al_record_close(open[i - 1], &end) < 0)
            _exit(1);
    }
}

typedef void calls_fn(struct al_journal *journal, const struct tmpdir *dir);

static void be_a_victim(const struct tmpdir *dir, calls_fn *calls)
{
    struct al_journal *journal;

    (void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    (void)raise(SIGSTOP);
    journal = journal_open(dir);
    calls(journal, dir);
    al_journal_free(journal);
    _exit(0);
}

/* Run the calls and kill the process before its `number`-th system call.  False when it makes
 * fewer. */
static bool kill_before(const struct tmpdir *dir, calls_fn *made, int number)
{
    bool enters = false;
    int status, calls = 0;
    pid_t pid = fork();

    if (pid == 0)
        be_a_victim(dir, made);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    while (WIFSTOPPED(status)) {
        enters ^= WSTOPSIG(status) == (SIGTRAP | 0x80);
        calls += enters && WSTOPSIG(status) == (SIGTRAP | 0x80);
        if (calls == number)
            (void)kill(pid, SIGKILL);
        else
            (void)ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
    }
    if (WIFEXITED(status))
        assert_int_equal(WEXITSTATUS(status), 0);
    return WIFSIGNALED(status);
}

static json_t *take_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');

    assert_non_null(end);
    *end = '\0';
    *text = end + 1;
    return json_loads(line, 0, NULL);
}

static void check_line(const struct tmpdir *dir, size_t call, const json_t *line)
{
    const char *outcome = al_json_get_string(line, "outcome");
    al_auto(al_freep) char *tool = al_asprintf("call-%zu", call);
    const json_t *input = json_object_get(line, "input");

    assert_string_equal(al_json_get_string(line, "tool"), tool);
    assert_int_equal(strlen(al_json_get_string(input, "message")), message_bytes[call]);
    if (is_marked(dir, "ended", call) || strcmp(outcome, "interrupted") != 0)
        assert_string_equal(outcome, "ok");
    if (is_marked(dir, "noted", call) || !strcmp(outcome, "ok"))
        assert_string_equal(al_json_get_string(line, "operation"), "known");
}

/* The number of lines after the next start. */
static size_t check(const struct tmpdir *dir)
{
    size_t begun = 0, lines = 0;

    while (begun < COUNT(message_bytes) && is_marked(dir, "begun", begun))
        begun++;
    journal_fill(dir, 0);
    al_auto(al_freep) char *text = journal_text(dir);
    for (char *at = text; *at; lines++) {
        al_auto(al_json_decrefp) json_t *line = take_line(&at);

        check_line(dir, lines, line);
    }
    /* The file of a call that is just beginning may exist. */
    assert_in_range(lines, begun, begun + 1);
    journal_fill(dir, 0);
    assert_intact(dir, lines);
    assert_int_equal(journal_open_count(dir, true) + journal_open_count(dir, false), 0);
    return lines;
}

static void has_one_line_of_each_call_wherever_it_is_killed(void **state)
{
    unsigned met = 0; /* a bit for each number of lines that occurred */
    bool killed = true;

    (void)state;
    for (int number = 1; killed; number++) {
        struct tmpdir *dir = tmpdir_new();

        killed = kill_before(dir, make_calls, number);
        met |= 1u << check(dir);
        tmpdir_free(dir);
    }
    assert_int_equal(met, (2u << COUNT(message_bytes)) - 1);
}

/* In any order: interrupted calls come after those that ended. */
static void check_overlapping(const struct tmpdir *dir)
{
    size_t lines = 0, begun = 0;

    journal_fill(dir, 0);
    al_auto(al_freep) char *text = journal_text(dir);
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    for (size_t i = 0; i < OVERLAPPING; i++) {
        al_auto(al_freep) char *tool = al_asprintf("\"call-%zu\"", i);
        const char *first = strstr(text, tool);

        assert_true(!first || !strstr(first + 1, tool));
        begun += is_marked(dir, "begun", i);
        assert_true(first || !is_marked(dir, "begun", i));
    }
    assert_in_range(lines, begun, begun + 1);
    assert_intact(dir, lines);
    assert_int_equal(journal_open_count(dir, true) + journal_open_count(dir, false), 0);
}

static void has_one_line_of_each_call_when_files_are_left_behind(void **state)
{
    bool killed = true;

    (void)state;
    for (int number = 1; killed; number++) {
        struct tmpdir *dir = tmpdir_new();

        killed = kill_before(dir, make_overlapping_calls, number);
        check_overlapping(dir);
        tmpdir_free(dir);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_one_line_of_each_call_wherever_it_is_killed),
        cmocka_unit_test(has_one_line_of_each_call_when_files_are_left_behind),
    };

    return cmocka_run_group_tests_name("journal/killed", tests, NULL, NULL);
}
