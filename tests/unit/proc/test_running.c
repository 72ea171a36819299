// SPDX-License-Identifier: Apache-2.0
/* proc/spawn.h: a child that runs beside the test, and leaves nothing behind. */
#include "proc/spawn.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "tests/unit/proc/lib.h"

/* The child's output up to the first newline. */
static void read_line(int fd, char *line, size_t room)
{
    size_t len = 0;

    while (len + 1 < room && read(fd, line + len, 1) == 1 && line[len] != '\n')
        len++;
    line[len] = '\0';
}

static struct al_spawned *start_ok(const struct al_proc_spec *spec)
{
    struct al_spawned *running = NULL;
    struct al_error err = AL_ERROR_INIT;

    assert_int_equal(al_running_start(spec, &running, &err), 0);
    return running;
}

static void it_runs_until_its_input_ends(void **state)
{
    struct al_proc_spec spec = SHELL_SPEC("while read x; do echo got $x; done; exit 3");
    struct al_proc_result result;
    struct al_spawned *running;
    struct pollfd ended;
    int before = count_descriptors(), input[2];
    char line[32];

    (void)state;
    assert_int_equal(pipe2(input, O_CLOEXEC), 0);
    spec.in_fd = input[0];
    running = start_ok(&spec);
    close(input[0]);
    assert_int_equal(write(input[1], "a\n", 2), 2);
    read_line(running->out_fd, line, sizeof(line));
    assert_string_equal(line, "got a");
    close(input[1]);
    ended = (struct pollfd){ .fd = running->process.pidfd, .events = POLLIN };
    assert_int_equal(poll(&ended, 1, -1), 1);
    al_running_end(running, &result);
    assert_int_equal(result.exit_code, 3);
    assert_int_equal(result.signal, 0);
    assert_no_children();
    assert_int_equal(count_descriptors(), before);
}

static void ending_it_reaches_what_left_its_session(void **state)
{
    struct al_proc_spec spec =
        SHELL_SPEC("trap '' TERM; (trap '' TERM; setsid sleep 1000 & echo up; wait) & wait");
    struct al_proc_result result;
    struct al_spawned *running = start_ok(&spec);
    char line[32];

    (void)state;
    read_line(running->out_fd, line, sizeof(line));
    assert_string_equal(line, "up");
    al_running_end(running, &result);
    assert_int_equal(result.exit_code, -1);
    assert_int_equal(result.signal, SIGKILL);
    assert_no_children();
}

static void grace_lets_it_end_by_itself(void **state)
{
    static const char script[] = "import signal, sys\n"
                                 "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
                                 "print('up', flush=True)\n"
                                 "while True:\n    signal.pause()\n";
    struct al_proc_spec spec = SHELL_SPEC("");
    struct al_proc_result result;
    struct al_spawned *running;
    char line[32];

    (void)state;
    spec.program = "/usr/bin/python3";
    spec.argv = (const char *[]){ "python3", "-c", script, NULL };
    spec.grace_ms = LONG_MS;
    running = start_ok(&spec);
    read_line(running->out_fd, line, sizeof(line));
    assert_string_equal(line, "up");
    al_running_end(running, &result);
    assert_int_equal(result.exit_code, 5);
    assert_no_children();
}

static void what_cannot_start_leaves_nothing(void **state)
{
    struct al_proc_spec spec = SHELL_SPEC("true");
    struct al_spawned *running = NULL;
    struct al_error err = AL_ERROR_INIT;
    int before = count_descriptors();

    (void)state;
    spec.program = "/nonexistent/server";
    assert_int_equal(al_running_start(&spec, &running, &err), AL_ERR_EXECUTION);
    assert_string_equal(err.reason, "not_found");
    assert_null(running);
    al_error_clear(&err);
    assert_int_equal(count_descriptors(), before);
}

/* Both beside each other: node has to start processes, and has no way out. */
static void a_confined_one_has_pairs_of_streams_only(void **state)
{
    static const char script[] =
        "import socket\n"
        "for make in (lambda: socket.socketpair(), lambda: socket.socket(socket.AF_UNIX),\n"
        "             lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),\n"
        "             lambda: socket.socket(socket.AF_INET)):\n"
        "    try:\n        make()\n        print('y', end='')\n"
        "    except PermissionError:\n        print('n', end='')\n"
        "print()\n";
    static const struct {
        struct al_confinement sandbox;
        const char *wanted;
    } rows[] = {
        { { .no_sockets = false }, "yyyy" },
        { { .no_sockets = true }, "nnnn" },
        { { .no_sockets = true, .stream_pairs = true }, "ynnn" },
        { { .network = true, .stream_pairs = true }, "ynny" },
        { { .network = true }, "yyyy" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_proc_spec spec = SHELL_SPEC("");
        struct al_proc_result result;
        struct al_spawned *running;
        char line[32];

        spec.program = "/usr/bin/python3";
        spec.argv = (const char *[]){ "python3", "-c", script, NULL };
        spec.sandbox = &rows[i].sandbox;
        running = start_ok(&spec);
        read_line(running->out_fd, line, sizeof(line));
        al_running_end(running, &result);
        assert_string_equal(line, rows[i].wanted);
    }
}

static int set_up(void **state)
{
    (void)state;
    return al_proc_init(NULL, NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_runs_until_its_input_ends),
        cmocka_unit_test(ending_it_reaches_what_left_its_session),
        cmocka_unit_test(grace_lets_it_end_by_itself),
        cmocka_unit_test(what_cannot_start_leaves_nothing),
        cmocka_unit_test(a_confined_one_has_pairs_of_streams_only),
    };

    return cmocka_run_group_tests_name("proc/running", tests, set_up, NULL);
}
