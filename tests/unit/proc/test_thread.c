// SPDX-License-Identifier: Apache-2.0
/* proc/thread.h: a thread installs the filter of its children, and hands on what it can no longer
 * do. */
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>

#include "base/fs.h"
#include "tests/unit/proc/lib.h"

#define PROGRAM "/usr/bin/grep"

static const struct al_confinement confined = { .exec_once = true, .no_sockets = true };

/* The sandbox of a git child; this child prints how it is confined. */
#define GREP_SPEC(pattern)                                                                         \
    {                                                                                              \
        .program = PROGRAM,                                                                        \
        .argv = (const char *[]){ "grep", "-E", (pattern), "/proc/self/status", NULL },            \
        .envp = (const char *[]){ NULL }, .cwd_fd = root_fd(), .sandbox = &confined,               \
        .timeout_ms = LONG_MS                                                                      \
    }

/* A number of /proc/self/status; -1: this kernel does not have it.  A container may have filters on
 * every process. */
static int own(const char *name)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *line = al_asprintf("\n%s:\t", name);
    const char *at;

    assert_int_equal(al_fs_read(AT_FDCWD, "/proc/thread-self/status", 1u << 16, &text), 0);
    at = strstr(text.buf, line);
    return at ? (int)strtol(at + strlen(line), NULL, 10) : -1;
}

static int mode_of_all, filters_of_all; /* before any of ours */

/* What a child with `more` filters than all of us says, and `more` of what comes first. */
static char *expected_status(const char *first, int mode, int more)
{
    const char *count = filters_of_all < 0 ? "" : "Seccomp_filters:\t";

    if (filters_of_all < 0)
        return al_asprintf("%sSeccomp:\t%d\n", first, mode);
    return al_asprintf("%sSeccomp:\t%d\n%s%d\n", first, mode, count, filters_of_all + more);
}

static void assert_confined_child(void)
{
    const struct al_proc_spec spec = GREP_SPEC("^(NoNewPrivs|Seccomp|Seccomp_filters):");
    al_auto(outcome_clear) struct outcome got = run(&spec);
    al_auto(al_freep) char *expected = expected_status("NoNewPrivs:\t1\n", 2, 1);

    assert_int_equal(got.r, 0);
    assert_string_equal(got.out.data, expected);
}

static int try_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* With -Dspawn=fork, for tools that do not work under filters, no thread installs one. */
static bool takes_filters(void)
{
#ifdef AL_SPAWN_FORK
    return false;
#else
    return true;
#endif
}

/* Run it on a new thread, since a filter cannot be removed. */
static void on_a_thread(void *(*body)(void *))
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void *take_the_filter_up(void *payload)
{
    assert_confined_child();
    assert_int_equal(try_socket(), 0); /* al_proc_confine_thread() was not called */
    al_proc_confine_thread();
    assert_int_equal(try_socket(), 0); /* and nothing was started since */
    assert_confined_child();
    assert_int_equal(try_socket(), takes_filters() ? EACCES : 0);
    assert_confined_child(); /* one filter, not two */
    return payload;
}

static void its_children_have_the_filter_from_it(void **state)
{
    (void)state;
    on_a_thread(take_the_filter_up);
    assert_int_equal(try_socket(), 0);
}

static void *start_others(void *payload)
{
    const struct al_proc_spec plain =
        SHELL_SPEC("(grep -E '^(NoNewPrivs|Seccomp|Seccomp_filters):' /proc/self/status)");
    al_auto(al_freep) char *expected = expected_status("NoNewPrivs:\t1\n", mode_of_all, 0);
    al_auto(al_freep) char *confined_once = expected_status("", 2, 1);
    struct al_confinement alone = { .no_sockets = true };
    struct al_proc_spec without_sockets =
        SHELL_SPEC("grep -E '^Seccomp(_filters)?:' /proc/self/status");
    al_auto(outcome_clear) struct outcome got = { .r = 0 }, other = { .r = 0 };

    al_proc_confine_thread();
    assert_confined_child();
    got = run(&plain);
    assert_int_equal(got.r, 0);
    assert_string_equal(got.out.data, expected);
    without_sockets.sandbox = &alone;
    other = run(&without_sockets);
    assert_string_equal(other.out.data, confined_once);
    assert_confined_child();
    return payload;
}

static void children_of_another_kind_do_not(void **state)
{
    (void)state;
    on_a_thread(start_others);
}

static void count_socket(void *payload)
{
    *(int *)payload = try_socket();
}

static void *make_socket(void *payload)
{
    int error = -1;

    (void)payload;
    count_socket(&error);
    assert_int_equal(error, 0);
    return NULL;
}

static void make_thread(void *payload)
{
    assert_int_equal(pthread_create(payload, NULL, make_socket, NULL), 0);
}

static void *have_it_done(void *payload)
{
    pthread_t thread;
    int error = -1;

    al_proc_run_unfiltered(count_socket, &error); /* on this thread, since it has no filter yet */
    assert_int_equal(error, 0);
    al_proc_confine_thread();
    assert_confined_child();
    error = -1;
    al_proc_run_unfiltered(count_socket, &error);
    assert_int_equal(error, 0);
    al_proc_run_unfiltered(make_thread, &thread);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return payload;
}

static void what_it_may_not_another_does(void **state)
{
    (void)state;
    on_a_thread(have_it_done);
}

/* As above, without the check of descriptors, which other threads open too. */
static void *have_it_done_beside_others(void *payload)
{
    const struct al_proc_spec spec = GREP_SPEC("nothing like it");
    struct al_proc_result result;

    al_proc_confine_thread();
    assert_int_equal(al_proc_run(&spec, &result, NULL), 0);
    assert_int_equal(result.exit_code, 1);
    for (int i = 0; i < 100; i++) {
        int error = -1;

        al_proc_run_unfiltered(count_socket, &error);
        assert_int_equal(error, 0);
    }
    return payload;
}

static void many_at_once_are_served_in_turn(void **state)
{
    pthread_t threads[16];

    (void)state;
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, have_it_done_beside_others, NULL), 0);
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_children_have_the_filter_from_it),
        cmocka_unit_test(children_of_another_kind_do_not),
        cmocka_unit_test(what_it_may_not_another_does),
        cmocka_unit_test(many_at_once_are_served_in_turn),
    };

    mode_of_all = own("Seccomp");
    filters_of_all = own("Seccomp_filters");
    if (al_proc_init(PROGRAM, NULL) < 0)
        return 1;
    return cmocka_run_group_tests_name("proc/thread", tests, NULL, NULL);
}
