// SPDX-License-Identifier: Apache-2.0
/* proc/pipeline.c: bytes go from stage to stage, and no process is left however they end. */
#include "tests/unit/proc/lib.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "proc/cancel.h"

struct line {
    int r;
    struct al_proc_result results[AL_PIPELINE_MAX];
    struct al_error err;
    struct al_buffer out, errors;
};

static void line_clear(struct line *line)
{
    al_error_clear(&line->err);
    al_buffer_clear(&line->out);
    al_buffer_clear(&line->errors);
}

/* Run the stages, and keep the last one's output and the standard error of all. */
static struct line run_line(struct al_proc_spec *stages, size_t count, size_t max_bytes)
{
    struct line line = { .out = { .max_bytes = max_bytes }, .errors = { .max_bytes = 4096 } };
    int before = count_descriptors();

    stages[count - 1].out = al_buffer_sink(&line.out);
    for (size_t i = 0; i < count; i++)
        stages[i].err = al_buffer_sink(&line.errors);
    line.r = al_proc_run_pipeline(stages, count, line.results, &line.err);
    assert_int_equal(count_descriptors(), before);
    assert_no_children();
    return line;
}

static void passes_bytes_on(void **state)
{
    struct al_proc_spec stages[] = { SHELL_SPEC("printf 'b\\na\\nc\\n'"), SHELL_SPEC("sort"),
                                     SHELL_SPEC("tr a-z A-Z"), SHELL_SPEC("cat; exit 3") };
    al_auto(line_clear) struct line line = run_line(stages, 4, 4096);

    (void)state;
    assert_int_equal(line.r, 0);
    assert_string_equal(line.out.text.buf, "A\nB\nC\n");
    assert_int_equal(line.results[0].exit_code, 0);
    assert_int_equal(line.results[3].exit_code, 3);
}

static void more_than_a_pipe_holds(void **state)
{
    struct al_proc_spec stages[] = { SHELL_SPEC("head -c 3000000 /dev/zero"), SHELL_SPEC("cat"),
                                     SHELL_SPEC("wc -c") };
    al_auto(line_clear) struct line line = run_line(stages, 3, 4096);

    (void)state;
    assert_int_equal(line.r, 0);
    assert_string_equal(line.out.text.buf, "3000000\n");
}

static void a_reader_that_goes_ends_its_writer(void **state)
{
    struct al_proc_spec stages[] = { SHELL_SPEC("exec yes"), SHELL_SPEC("head -n 1") };
    al_auto(line_clear) struct line line = run_line(stages, 2, 4096);

    (void)state;
    assert_int_equal(line.r, 0);
    assert_string_equal(line.out.text.buf, "y\n");
    assert_int_equal(line.results[0].signal, SIGPIPE);
    assert_int_equal(line.results[1].exit_code, 0);
}

static void errors_of_all_are_kept(void **state)
{
    struct al_proc_spec stages[] = { SHELL_SPEC("echo one >&2"), SHELL_SPEC("cat; echo two >&2") };
    al_auto(line_clear) struct line line = run_line(stages, 2, 4096);

    (void)state;
    assert_int_equal(line.r, 0);
    assert_non_null(strstr(line.errors.text.buf, "one\n"));
    assert_non_null(strstr(line.errors.text.buf, "two\n"));
}

static void joined_errors_go_on(void **state)
{
    struct al_proc_spec stages[] = { SHELL_SPEC("echo out; echo err >&2"), SHELL_SPEC("cat") };
    al_auto(line_clear) struct line line = { .r = 0 };

    (void)state;
    stages[0].err_to_out = true;
    line = run_line(stages, 2, 4096);
    assert_int_equal(line.r, 0);
    assert_string_equal(line.out.text.buf, "out\nerr\n");
    assert_int_equal(line.errors.total, 0);
}

static void descriptors_take_the_place_of_streams(void **state)
{
    struct al_proc_spec stages[] = { SHELL_SPEC("cat; echo err >&2"), SHELL_SPEC("cat") };
    al_auto(line_clear) struct line line = { .r = 0 };
    FILE *in = tmpfile(), *out = tmpfile(), *err = tmpfile();
    struct stat st;

    (void)state;
    assert_true(fputs("given\n", in) >= 0 && fflush(in) == 0);
    (void)lseek(fileno(in), 0, SEEK_SET);
    stages[0].in_fd = fileno(in);
    stages[0].out_fd = fileno(out);
    stages[0].err_fd = fileno(err);
    line = run_line(stages, 2, 4096);
    assert_int_equal(line.r, 0);
    assert_int_equal(line.out.total, 0); /* the stage before it writes elsewhere */
    assert_int_equal(fstat(fileno(out), &st), 0);
    assert_int_equal(st.st_size, strlen("given\n"));
    assert_int_equal(fstat(fileno(err), &st), 0);
    assert_int_equal(st.st_size, strlen("err\n"));
    (void)fclose(in);
    (void)fclose(out);
    (void)fclose(err);
}

/* We read the output of each stage that the next one does not read. */
static void stages_that_are_not_joined(void **state)
{
    static const size_t err_to_out[] = { 0, 1, AL_PIPELINE_MAX / 2, AL_PIPELINE_MAX - 1 };

    (void)state;
    for (size_t k = 0; k < COUNT(err_to_out); k++) {
        const struct al_proc_spec stage = SHELL_SPEC("cat; echo x >&2");
        struct al_proc_spec stages[AL_PIPELINE_MAX];
        al_auto(line_clear) struct line line = { .r = 0 };

        for (size_t i = 0; i < AL_PIPELINE_MAX; i++) {
            stages[i] = stage;
            stages[i].input = i > err_to_out[k] ? "given" : NULL;
            stages[i].input_len = i > err_to_out[k] ? strlen("given") : 0;
        }
        line = run_line(stages, AL_PIPELINE_MAX, 4096);
        assert_int_equal(line.r, 0);
        assert_int_equal(line.errors.total, 2 * AL_PIPELINE_MAX);
        if (err_to_out[k] < AL_PIPELINE_MAX - 1)
            assert_string_equal(line.out.text.buf, "given");
    }
}

static void the_deadline_ends_all(void **state)
{
    struct al_proc_spec stages[] = { SHELL_SPEC("echo early; exec sleep 1000"),
                                     SHELL_SPEC("cat; exec sleep 1000") };
    al_auto(line_clear) struct line line = { .r = 0 };

    (void)state;
    stages[0].timeout_ms = 200;
    line = run_line(stages, 2, 4096);
    assert_int_equal(line.r, AL_ERR_TIMEOUT);
    assert_string_equal(line.out.text.buf, "early\n");
}

static void a_cancel_ends_all(void **state)
{
    struct al_cancel *cancel = al_cancel_new();
    struct al_proc_spec stages[] = { SHELL_SPEC("exec sleep 1000"), SHELL_SPEC("cat") };
    al_auto(line_clear) struct line line = { .r = 0 };

    (void)state;
    stages[0].cancel = cancel;
    al_cancel_fire(cancel);
    line = run_line(stages, 2, 4096);
    assert_int_equal(line.r, AL_ERR_CANCELLED);
    al_cancel_unrefp(&cancel);
}

static void the_cap_ends_all(void **state)
{
    (void)state;
    for (size_t cap = 99; cap <= 101; cap++) {
        struct al_proc_spec stages[] = { SHELL_SPEC("head -c 100 /dev/zero; exec sleep 0"),
                                         SHELL_SPEC("cat") };
        al_auto(line_clear) struct line line = run_line(stages, 2, cap);

        assert_int_equal(line.r, 0);
        assert_int_equal(line.results[1].stopped, cap < 100);
        assert_int_equal(line.results[1].exit_code, cap < 100 ? -1 : 0);
        assert_int_equal(line.out.text.len, cap < 100 ? cap : 100);
    }
}

static void the_cap_ends_none_whose_last_one_drains(void **state)
{
    struct al_proc_spec stages[] = { SHELL_SPEC("head -c 500000 /dev/zero"),
                                     SHELL_SPEC("cat; exit 3") };
    al_auto(line_clear) struct line line = { .r = 0 };

    (void)state;
    stages[1].drains = true;
    line = run_line(stages, 2, 10);
    assert_int_equal(line.r, 0);
    assert_false(line.results[1].stopped);
    assert_int_equal(line.results[1].exit_code, 3);
    assert_int_equal(line.out.text.len, 10);
}

static void a_stage_that_cannot_start_ends_all(void **state)
{
    struct al_proc_spec stages[] = { SHELL_SPEC("exec sleep 1000"), SHELL_SPEC("cat"),
                                     SHELL_SPEC("cat") };
    al_auto(line_clear) struct line line = { .r = 0 };

    (void)state;
    stages[2].program = "/nonexistent/program";
    line = run_line(stages, 3, 4096);
    assert_int_equal(line.r, AL_ERR_EXECUTION);
    assert_string_equal(line.err.reason, "not_found");
}

static void grandchildren_end_too(void **state)
{
    struct al_proc_spec stages[] = { SHELL_SPEC("(trap '' HUP; sleep 1000) & echo x"),
                                     SHELL_SPEC("setsid sleep 1000 & head -n 1") };
    al_auto(line_clear) struct line line = { .r = 0 };

    (void)state;
    line = run_line(stages, 2, 4096);
    assert_int_equal(line.r, 0);
    assert_string_equal(line.out.text.buf, "x\n");
}

static void counts_its_stages(void **state)
{
    struct al_proc_spec stages[AL_PIPELINE_MAX + 1];

    (void)state;
    for (size_t count = AL_PIPELINE_MAX - 1; count <= AL_PIPELINE_MAX + 1; count++) {
        al_auto(line_clear) struct line line = { .r = 0 };

        for (size_t i = 0; i < count; i++)
            stages[i] = (struct al_proc_spec)SHELL_SPEC("cat");
        line = run_line(stages, count, 4096);
        assert_int_equal(line.r == 0, count <= AL_PIPELINE_MAX);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_bytes_on),
        cmocka_unit_test(more_than_a_pipe_holds),
        cmocka_unit_test(a_reader_that_goes_ends_its_writer),
        cmocka_unit_test(errors_of_all_are_kept),
        cmocka_unit_test(joined_errors_go_on),
        cmocka_unit_test(descriptors_take_the_place_of_streams),
        cmocka_unit_test(stages_that_are_not_joined),
        cmocka_unit_test(the_deadline_ends_all),
        cmocka_unit_test(a_cancel_ends_all),
        cmocka_unit_test(the_cap_ends_all),
        cmocka_unit_test(the_cap_ends_none_whose_last_one_drains),
        cmocka_unit_test(a_stage_that_cannot_start_ends_all),
        cmocka_unit_test(grandchildren_end_too),
        cmocka_unit_test(counts_its_stages),
    };

    if (al_proc_init(NULL, NULL) < 0)
        return 1;
    return cmocka_run_group_tests_name("proc/pipeline", tests, NULL, NULL);
}
