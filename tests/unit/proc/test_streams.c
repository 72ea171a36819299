// SPDX-License-Identifier: Apache-2.0
/* proc/proc.h: sockets and descriptors as standard streams, and kept descriptors. */
#include <pthread.h>
#include <sys/socket.h>

#include "base/fs.h"
#include "tests/unit/proc/lib.h"

/* Both ends are close-on-exec, unless a spec keeps one. */
static void make_pair(int pair[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
}

static void a_kept_descriptor_has_its_number_in_the_child(void **state)
{
    int pair[2], other = open("/dev/null", O_RDONLY | O_CLOEXEC);
    al_auto(outcome_clear) struct outcome got = { .r = 0 };
    struct al_proc_spec spec = SHELL_SPEC("ls /proc/$$/fd");
    al_auto(al_freep) char *expected = NULL;

    (void)state;
    make_pair(pair);
    spec.kept_fds = pair;
    spec.nkept_fds = 1;
    got = run(&spec);
    expected = al_asprintf("0\n1\n2\n%d\n", pair[0]);
    assert_string_equal(got.out.text.buf, expected);
    assert_int_equal(fcntl(pair[0], F_GETFD),
                     FD_CLOEXEC); /* the parent's descriptor is unchanged */
    close(pair[0]);
    close(pair[1]);
    close(other);
}

static void a_descriptor_that_is_not_there_cannot_be_kept(void **state)
{
    const int missing = 1000;
    al_auto(outcome_clear) struct outcome got = { .r = 0 };
    struct al_proc_spec spec = SHELL_SPEC("echo started");

    (void)state;
    spec.kept_fds = &missing;
    spec.nkept_fds = 1;
    got = run(&spec);
    assert_int_equal(got.r, AL_ERR_EXECUTION);
    assert_null(got.out.text.buf);
}

static void a_socket_is_both_input_and_output(void **state)
{
    int pair[2];
    char answer[16] = { 0 };
    struct al_proc_spec spec = SHELL_SPEC("read x; echo got $x; echo aside >&2");
    al_auto(outcome_clear) struct outcome got = { .r = 0 };

    (void)state;
    make_pair(pair);
    assert_int_equal(write(pair[0], "word\n", 5), 5);
    spec.in_fd = spec.out_fd = pair[1];
    got = run(&spec);
    assert_int_equal(got.result.exit_code, 0);
    assert_null(got.out.text.buf);
    assert_string_equal(got.err_out.text.buf, "aside\n");
    assert_int_equal(read(pair[0], answer, sizeof(answer)), 9);
    assert_string_equal(answer, "got word\n");
    close(pair[0]);
    close(pair[1]);
}

/* The other end of an exchange, on a thread as in gitops. */
struct partner {
    int fd;
    struct outcome got;
};

static void *run_partner(void *payload)
{
    struct partner *partner = payload;
    struct al_proc_spec spec = SHELL_SPEC("read x; echo $x back");

    spec.in_fd = spec.out_fd = partner->fd;
    spec.has_job = true;
    partner->got.r = al_proc_run(&spec, &partner->got.result, &partner->got.err);
    close(partner->fd);
    return NULL;
}

static void two_children_talk_with_one_job(void **state)
{
    int pair[2];
    pthread_t thread;
    struct partner partner = { .got = { .r = -1 } };
    struct al_proc_spec spec = SHELL_SPEC("echo there; read x; echo \"$x\" >&2");
    struct al_buffer errors = { .max_bytes = 100 };
    struct al_proc_result result;

    (void)state;
    al_proc_set_jobs(1);
    make_pair(pair);
    partner.fd = pair[1];
    spec.in_fd = spec.out_fd = pair[0];
    spec.err = al_buffer_sink(&errors);
    spec.has_job = true;
    assert_int_equal(al_proc_acquire_job(NULL, NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, run_partner, &partner), 0);
    assert_int_equal(al_proc_run(&spec, &result, NULL), 0);
    close(pair[0]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    al_proc_release_job();
    assert_int_equal(result.exit_code, 0);
    assert_int_equal(partner.got.r, 0);
    assert_int_equal(partner.got.result.exit_code, 0);
    assert_string_equal(errors.text.buf, "there back\n");
    al_buffer_clear(&errors);
    assert_no_children();
}

static int set_up(void **state)
{
    (void)state;
    return al_proc_init(NULL, NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_descriptor_has_its_number_in_the_child),
        cmocka_unit_test(a_descriptor_that_is_not_there_cannot_be_kept),
        cmocka_unit_test(a_socket_is_both_input_and_output),
        cmocka_unit_test(two_children_talk_with_one_job),
    };

    return cmocka_run_group_tests_name("proc/streams", tests, set_up, NULL);
}
