// SPDX-License-Identifier: Apache-2.0
/* proc/proc.h: how a child ended is reported correctly, and nothing of it is left. */
#include "proc/proc.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/str.h"
#include "tests/unit/proc/lib.h"

static void gives_output_errors_and_exit_code(void **state)
{
    const struct al_proc_spec spec = SHELL_SPEC("echo out; echo err >&2; exit 3");
    al_auto(outcome_clear) struct outcome got = run(&spec);

    (void)state;
    assert_int_equal(got.r, 0);
    assert_int_equal(got.result.exit_code, 3);
    assert_int_equal(got.result.signal, 0);
    assert_false(got.result.stopped);
    assert_string_equal(got.out.text.buf, "out\n");
    assert_string_equal(got.err_out.text.buf, "err\n");
}

static void starts_from_exactly_what_it_is_given(void **state)
{
    struct al_proc_spec spec = SHELL_SPEC("echo $0 $1; pwd; cat; exec env");
    al_auto(outcome_clear) struct outcome got = { .r = 0 };

    (void)state;
    spec.argv = (const char *[]){ "sh", "-c", "echo $0 $1; pwd; cat; exec env", "a", "b c", NULL };
    spec.envp = (const char *[]){ "PATH=/usr/bin:/bin", "ONLY=this", NULL };
    spec.cwd_fd = open("/usr", O_PATH | O_DIRECTORY | O_CLOEXEC);
    got = run(&spec);
    close(spec.cwd_fd);
    assert_int_equal(got.result.exit_code, 0);
    assert_string_equal(got.out.text.buf, "a b c\n/usr\nPATH=/usr/bin:/bin\nONLY=this\nPWD=/usr\n");
}

static void leaves_no_descriptor_but_three_in_the_child(void **state)
{
    const struct al_proc_spec spec = SHELL_SPEC("ls /proc/$$/fd");
    int plain = dup(STDIN_FILENO); /* without close-on-exec */
    al_auto(outcome_clear) struct outcome got = run(&spec);

    (void)state;
    close(plain);
    assert_string_equal(got.out.text.buf, "0\n1\n2\n");
}

static void gives_a_child_its_own_session(void **state)
{
    const struct al_proc_spec spec = SHELL_SPEC("cut -d ' ' -f 5,6 /proc/$$/stat; echo $$ $$");
    al_auto(outcome_clear) struct outcome got = run(&spec);
    size_t half;

    (void)state;
    half = got.out.text.len / 2;
    assert_memory_equal(got.out.text.buf, got.out.text.buf + half, half);
}

static void resets_signals_before_the_child_can_get_one(void **state)
{
    const struct al_proc_spec spec =
        SHELL_SPEC("cat /proc/self/status | grep -E 'Sig(Blk|Ign|Cgt)'");
    al_auto(outcome_clear) struct outcome got = { .r = 0 };
    sigset_t some, before;

    (void)state;
    sigemptyset(&some);
    sigaddset(&some, SIGTERM);
    sigaddset(&some, SIGRTMAX);
    assert_int_equal(sigprocmask(SIG_BLOCK, &some, &before), 0);
    signal(SIGUSR1, SIG_IGN);
    assert_int_equal(al_proc_init(NULL, NULL), 0);
    got = run(&spec);
    signal(SIGUSR1, SIG_DFL);
    assert_int_equal(al_proc_init(NULL, NULL), 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_string_equal(got.out.text.buf, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
                                          "SigCgt:\t0000000000000000\n");
}

static void tells_a_signal_from_an_exit_code(void **state)
{
    const struct al_proc_spec killed = SHELL_SPEC("kill -TERM $$");
    const struct al_proc_spec exited = SHELL_SPEC("exit 143");
    al_auto(outcome_clear) struct outcome got = run(&killed);

    (void)state;
    assert_int_equal(got.r, 0);
    assert_int_equal(got.result.exit_code, -1);
    assert_int_equal(got.result.signal, SIGTERM);
    outcome_clear(&got);
    got = run(&exited);
    assert_int_equal(got.result.exit_code, 143);
    assert_int_equal(got.result.signal, 0);
}

static void names_a_missing_program(void **state)
{
    struct al_proc_spec spec = SHELL_SPEC("");
    al_auto(outcome_clear) struct outcome got = { .r = 0 };

    (void)state;
    spec.program = "/nonexistent/git";
    got = run(&spec);
    assert_int_equal(got.r, AL_ERR_EXECUTION);
    assert_string_equal(got.err.message, "git binary not available");
    assert_string_equal(got.err.reason, "not_found");
}

static void tells_other_failures_from_a_missing_program(void **state)
{
    struct al_proc_spec spec = SHELL_SPEC("");
    al_auto(outcome_clear) struct outcome got = { .r = 0 };

    (void)state;
    spec.program = "/etc/passwd";
    got = run(&spec);
    assert_int_equal(got.r, AL_ERR_EXECUTION);
    assert_string_equal(got.err.message, "cannot execute 'passwd': Permission denied");
    assert_null(got.err.reason);

    outcome_clear(&got);
    spec.program = "bin/sh";
    got = run(&spec);
    assert_int_equal(got.r, AL_ERR_EXECUTION);

    outcome_clear(&got);
    spec.program = "/bin/sh";
    spec.cwd_fd = -1;
    got = run(&spec);
    assert_int_equal(got.r, AL_ERR_EXECUTION);
}

static void calls_the_end_of_processor_time_a_timeout(void **state)
{
    const struct al_confinement sandbox = { .limits.cpu_s = 1 };
    struct al_proc_spec spec = SHELL_SPEC("while :; do :; done");
    al_auto(outcome_clear) struct outcome got = { .r = 0 };

    (void)state;
    spec.sandbox = &sandbox;
    got = run(&spec);
    assert_int_equal(got.r, AL_ERR_TIMEOUT);
    assert_int_equal(got.err.code, AL_CODE_TIMEOUT);
}

static void puts_the_limits_on(void **state)
{
    const struct al_confinement sandbox = {
        .limits = { .data_bytes = 1u << 30, .cpu_s = 7, .fsize_bytes = 1024, .nofile = 32 },
    };
    struct al_proc_spec spec = SHELL_SPEC("ulimit -d; ulimit -t; ulimit -f; ulimit -n; ulimit -c");
    al_auto(outcome_clear) struct outcome got = { .r = 0 };

    (void)state;
    spec.sandbox = &sandbox;
    got = run(&spec);
    assert_string_equal(got.out.text.buf, "1048576\n7\n2\n32\n0\n");
}

static void leaves_other_limits_alone(void **state)
{
    const struct al_proc_spec spec = SHELL_SPEC("ulimit -n; ulimit -c");
    al_auto(outcome_clear) struct outcome got = run(&spec);
    al_auto(al_freep) char *expected = NULL;
    struct rlimit files;

    (void)state;
    getrlimit(RLIMIT_NOFILE, &files);
    expected = al_asprintf("%llu\n0\n", (unsigned long long)files.rlim_cur);
    assert_string_equal(got.out.text.buf, expected);
}

static void feeds_input_and_never_waits_for_a_reader(void **state)
{
    const size_t len = 5000000;
    al_auto(al_freep) char *input = al_calloc(len, 1);
    struct al_proc_spec reads = SHELL_SPEC("wc -c"), ignores = SHELL_SPEC("echo no");
    al_auto(outcome_clear) struct outcome got = { .r = 0 };

    (void)state;
    reads.input = ignores.input = input;
    reads.input_len = ignores.input_len = len;
    got = run(&reads);
    assert_string_equal(got.out.text.buf, "5000000\n");
    outcome_clear(&got);
    got = run(&ignores);
    assert_string_equal(got.out.text.buf, "no\n");
}

static void tells_empty_input_from_none(void **state)
{
    struct al_proc_spec spec = SHELL_SPEC("test /dev/stdin -ef /dev/null && echo null; wc -c");
    al_auto(outcome_clear) struct outcome got = run(&spec);

    (void)state;
    assert_string_equal(got.out.text.buf, "null\n0\n");
    outcome_clear(&got);
    spec.input = "";
    got = run(&spec);
    assert_string_equal(got.out.text.buf, "0\n");
}

static void counts_what_it_started(void **state)
{
    const struct al_proc_spec spec = SHELL_SPEC(":");
    uint64_t before = al_proc_started();
    al_auto(outcome_clear) al_unused struct outcome got = run(&spec);

    (void)state;
    assert_int_equal(got.r, 0);
    assert_int_equal(al_proc_started(), before + 1);
}

static void runs_exec_once_only_for_the_program_of_the_page(void **state)
{
    const struct al_confinement sandbox = { .exec_once = true };
    struct al_proc_spec spec = SHELL_SPEC("echo $0; /bin/true; echo went on");
    struct al_proc_spec in_place = SHELL_SPEC("echo $0; exec /bin/true");
    al_auto(outcome_clear) struct outcome got = { .r = 0 };

    (void)state;
    spec.sandbox = &sandbox;
    got = run(&spec);
    assert_int_equal(got.r, 0);
    assert_string_equal(got.out.text.buf, "sh\n");
    assert_non_null(strstr(got.err_out.text.buf, "fork"));
    outcome_clear(&got);
    in_place.sandbox = &sandbox;
    got = run(&in_place);
    assert_string_equal(got.out.text.buf, "sh\n");
    assert_non_null(strstr(got.err_out.text.buf, "not permitted"));
    outcome_clear(&got);
    spec.program = "/bin/cat";
    got = run(&spec);
    assert_int_equal(got.r, AL_ERR_SANDBOX);
}

static void refuses_to_confine_a_set_uid_program(void **state)
{
    const struct al_confinement confined = { .keep_setuid = true, .no_sockets = true };
    const struct al_confinement open = { .keep_setuid = true };
    struct al_proc_spec spec = SHELL_SPEC("grep NoNewPrivs /proc/self/status");
    al_auto(outcome_clear) struct outcome got = run(&spec);

    (void)state;
    assert_string_equal(got.out.text.buf, "NoNewPrivs:\t1\n");
    outcome_clear(&got);
    spec.sandbox = &open;
    got = run(&spec);
    assert_string_equal(got.out.text.buf, "NoNewPrivs:\t0\n");
    outcome_clear(&got);
    spec.sandbox = &confined;
    got = run(&spec);
    assert_int_equal(got.r, AL_ERR_SANDBOX);
}

static void is_set_up_once(void **state)
{
    (void)state;
    assert_int_equal(al_proc_init("/bin/cat", NULL), 0);
    assert_string_equal(al_exec_page_path(), "/bin/sh");
}

static int set_up(void **state)
{
    (void)state;
    assert_null(al_exec_page_path());
    (void)root_fd();
    return al_proc_init("/bin/sh", NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_output_errors_and_exit_code),
        cmocka_unit_test(starts_from_exactly_what_it_is_given),
        cmocka_unit_test(leaves_no_descriptor_but_three_in_the_child),
        cmocka_unit_test(gives_a_child_its_own_session),
        cmocka_unit_test(resets_signals_before_the_child_can_get_one),
        cmocka_unit_test(tells_a_signal_from_an_exit_code),
        cmocka_unit_test(names_a_missing_program),
        cmocka_unit_test(tells_other_failures_from_a_missing_program),
        cmocka_unit_test(calls_the_end_of_processor_time_a_timeout),
        cmocka_unit_test(puts_the_limits_on),
        cmocka_unit_test(leaves_other_limits_alone),
        cmocka_unit_test(feeds_input_and_never_waits_for_a_reader),
        cmocka_unit_test(tells_empty_input_from_none),
        cmocka_unit_test(counts_what_it_started),
        cmocka_unit_test(runs_exec_once_only_for_the_program_of_the_page),
        cmocka_unit_test(refuses_to_confine_a_set_uid_program),
        cmocka_unit_test(is_set_up_once),
    };

    return cmocka_run_group_tests_name("proc/proc", tests, set_up, NULL);
}
