// SPDX-License-Identifier: Apache-2.0
/*
 * git/command.h: how a git child is run, how long it may take, and what comes back of it.
 *
 * Where git would not tell, a shell or env(1) stands in for it, run in the very same way.
 */
#include "git/command.h"
#include "git/failure.h"
#include "git/git_lock.h"
#include "git/layer.h"
#include "git/reading/read_log.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "guard/env.h"
#include "guard/root.h"
#include "tests/unit/git/command_lib.h"

/* `/bin/sh -c script` as if it were git. */
static int run_script(const struct al_repo *repo, const char *script, size_t max_bytes,
                      struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.starts_children = true; /* exec-once is git's alone */
    al_strv_adds(&command.argv, "git", "-c", script, NULL);
    return al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = max_bytes },
                      ret_output, err);
}

/* Words of git's, which are also what it says of a path that an agent named so. */
static void tells_a_foreign_lock_of_the_index(void **state)
{
    static const struct {
        const char *before, *behind;
        int exit_code;
        bool is_lock;
    } rows[] = {
        { "fatal: Unable to create '", "/index.lock': File exists.\n\nAnother git", 128, true },
        { "error: Unable to create '", "/index.lock': File exists.\n", 1, true },
        { "warning: first\nerror: Unable to create '", "/index.lock': File exists.\n", 1, true },
        { "x fatal: Unable to create '", "/index.lock': File exists.\nfatal: other\n", 128, false },
        { "hint: Unable to create '", "/index.lock': File exists.\n", 128, false },
        { "fatal: Unable to create '", "/index.lock': Permission denied\n", 128, false },
        { "fatal: Unable to create '", "/HEAD.lock': File exists.\n", 128, false },
        { "fatal: Unable to create '", "/index.lock': File exists.\n", 0, false },
    };
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_git_output_clear) struct al_git_output output = {
            .exit_code = rows[i].exit_code,
            .out = AL_TEXT_INIT(0),
            .err = AL_TEXT_INIT(0),
        };

        al_str_addf(&output.err.out, "%s%s%s", rows[i].before, repo->at.git_dir, rows[i].behind);
        assert_int_equal(al_git_failed_on_lock(&repo->at, AL_LOCK_INDEX, &output),
                         rows[i].is_lock ? AL_LOCK_INDEX : 0);
    }
}

static void says_that_there_is_no_git(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    w->git->options.program = NULL;
    assert_int_equal(run_script(repo, "", 1000, &output, &w->err), AL_ERR_EXECUTION);
    assert_string_equal(w->err.message, "git binary not available");
    assert_int_equal(w->err.code, AL_CODE_NO_GIT);
}

/* A shell of our own, taken into its place at once as a package manager does. */
static void install_shell(struct world *w)
{
    al_auto(al_freep) char *new = tmpdir_path(w->place, "git.new");
    al_auto(al_freep) char *program = tmpdir_path(w->place, "git");
    al_auto(al_freep) char *shell = realpath("/bin/sh", NULL);
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;

    assert_int_equal(al_fs_read(AT_FDCWD, shell, 16u << 20, &bytes), 0);
    tmpdir_write_bytes(w->place, "git.new", bytes.buf, bytes.len);
    assert_int_equal(chmod(new, 0755), 0);
    assert_int_equal(rename(new, program), 0);
}

static void runs_a_program_that_was_replaced(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *program = tmpdir_path(w->place, "git");
    al_auto(repo_freep) struct al_repo *repo = NULL;

    install_shell(w);
    repo = open_with(w, program);
    for (int i = 0; i < 3; i++) {
        al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

        assert_int_equal(run_script(repo, "echo new", 1000, &output, &w->err), 0);
        assert_string_equal(output.out.out.buf, "new\n");
        install_shell(w);
    }
}

static void misses_a_program_that_went_away(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *program = tmpdir_path(w->place, "git");
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(repo_freep) struct al_repo *repo = NULL;

    install_shell(w);
    repo = open_with(w, program);
    assert_int_equal(run_script(repo, "", 1000, &output, &w->err), 0);
    assert_int_equal(unlink(program), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_script(repo, "", 1000, &output, &w->err), AL_ERR_EXECUTION);
        assert_string_equal(w->err.message, "git binary not available");
        assert_int_equal(w->err.code, AL_CODE_NO_GIT);
    }
    install_shell(w);
    assert_int_equal(run_script(repo, "", 1000, &output, &w->err), 0);
}

static void keeps_what_came_until_the_deadline(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = open_with(w, "/bin/sh");
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_run_limits budget = { .left_ms = 2000 };

    repo->at.budget = &budget;
    assert_int_equal(mkfifoat(w->repo->fd, "never", 0600), 0);
    assert_int_equal(
        run_script(repo, "echo some; echo more >&2; read x <never", 1000, &output, &w->err),
        AL_ERR_TIMEOUT);
    assert_string_equal(w->err.detail, "some\n\n\n[stderr]\nmore\n");
}

static void keeps_nothing_when_nothing_came(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = open_with(w, "/bin/sh");
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_run_limits budget = { .left_ms = 1 };

    repo->at.budget = &budget;
    assert_int_equal(mkfifoat(w->repo->fd, "never", 0600), 0);
    assert_int_equal(run_script(repo, "read x <never", 1000, &output, &w->err), AL_ERR_TIMEOUT);
    assert_null(w->err.detail);
}

static void does_not_start_for_a_cancelled_call(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = open_with(w, "/bin/sh");
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
    struct al_run_limits budget = { .left_ms = LONG_MS, .cancel = cancel };

    repo->at.budget = &budget;
    al_cancel_fire(cancel);
    assert_int_equal(run_script(repo, "echo x", 1000, &output, &w->err), AL_ERR_CANCELLED);
}

static void takes_the_time_a_child_ran_off_the_budget(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = open_with(w, "/bin/sh");
    uint32_t before = w->budget.left_ms;

    for (int i = 0; i < 20; i++) {
        al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

        /* enough work for a millisecond to pass at some point */
        assert_int_equal(run_script(repo, "i=0; while [ $i -lt 9999 ]; do i=$((i + 1)); done", 1000,
                                    &output, NULL),
                         0);
        assert_in_range(w->budget.left_ms, 1, before);
        before = w->budget.left_ms;
    }
    assert_true(w->budget.left_ms < LONG_MS);
}

/* How a program that writes so many bytes is seen through a cap of 100. */
static bool is_stopped(struct world *w, const struct al_repo *repo, int bytes, size_t *ret_kept)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *script = al_asprintf("printf %%%dd 1", bytes);

    assert_int_equal(run_script(repo, script, 100, &output, &w->err), 0);
    assert_int_equal(output.exit_code, output.stopped ? -1 : 0);
    *ret_kept = output.out.out.len;
    return output.stopped;
}

static void tells_the_cap_from_more_than_the_cap(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = open_with(w, "/bin/sh");
    size_t kept;

    assert_false(is_stopped(w, repo, 99, &kept));
    assert_int_equal(kept, 99);
    assert_false(is_stopped(w, repo, 100, &kept));
    assert_int_equal(kept, 100);
    (void)is_stopped(w, repo, 101, &kept); /* it may end before it is stopped */
    assert_int_equal(kept, 101);
}

static void stops_a_program_without_end(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = open_with(w, "/bin/sh");
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    assert_int_equal(run_script(repo, "while :; do echo x; done", 1000, &output, &w->err), 0);
    assert_true(output.stopped);
    assert_int_equal(output.exit_code, -1);
    assert_true(al_git_read_well(&output));
    assert_int_equal(al_git_failed(&output, &w->err), AL_ERR_EXECUTION);
    assert_string_equal(w->err.message, "git was stopped because it said too much");
}

/* Whichever function runs it, one that may write goes to its own end. */
static void a_writer_is_never_stopped(void **state)
{
    static const char script[] = "i=0; while [ $i -lt 40000 ]; do echo more; i=$((i + 1)); done; "
                                 "echo said >&2; exit $0";
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = open_with(w, "/bin/sh");

    for (int code = 0; code < 2; code++) {
        al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
        al_auto(al_git_output_clear) struct al_git_output text = { .exit_code = -1 };
        al_auto(al_git_output_clear) struct al_git_output sunk = { .exit_code = -1 };
        al_auto(al_git_output_clear) struct al_git_output until = { .exit_code = -1 };
        al_auto(al_git_output_clear) struct al_git_output writer = { .exit_code = -1 };
        struct al_buffer buffer = { .max_bytes = 1 };

        command.class = AL_GIT_WRITE;
        command.starts_children = true;
        al_strv_adds(&command.argv, "sh", "-c", script, code ? "1" : "0", NULL);
        assert_int_equal(
            al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = 1 }, &text, &w->err),
            0);
        assert_int_equal(text.exit_code, code);
        assert_int_equal(al_git_run(&repo->at, &command,
                                    &(struct al_git_run){ .sink = al_buffer_sink(&buffer) }, &sunk,
                                    &w->err),
                         0);
        assert_int_equal(sunk.exit_code, code);
        assert_int_equal(buffer.text.len, 1);
        al_buffer_clear(&buffer);
        assert_int_equal(al_git_run(&repo->at, &command,
                                    &(struct al_git_run){
                                        .max_bytes = 1, .max_err_bytes = 1, .may_time_out = true },
                                    &until, &w->err),
                         0);
        assert_int_equal(until.exit_code, code);
        assert_int_equal(al_git_run(&repo->at, &command,
                                    &(struct al_git_run){
                                        .max_bytes = 1, .locks = AL_LOCK_INDEX, .checked = true },
                                    &writer, &w->err),
                         code ? AL_ERR_EXECUTION : 0);
        assert_false(text.stopped || sunk.stopped || until.stopped || writer.stopped);
        assert_string_equal(text.err.out.buf, "said\n"); /* told beyond the cap of what is shown */
    }
}

/* What a failed script is turned into. */
static void assert_failed(struct world *w, const struct al_repo *repo, const char *script,
                          const char *message)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    assert_int_equal(run_script(repo, script, 1000, &output, &w->err), 0);
    assert_int_not_equal(output.exit_code, 0);
    assert_int_equal(al_git_failed(&output, &w->err), AL_ERR_EXECUTION);
    assert_string_equal(w->err.message, message);
}

static void says_why_git_failed(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = open_with(w, "/bin/sh");

    assert_failed(w, repo, "echo out; echo 'fatal: no' >&2; exit 128", "fatal: no");
    assert_failed(w, repo, "echo out; exit 1", "out");
    /* Advice is left out, and no file that is called like it. */
    assert_failed(
        w, repo, "printf 'fatal: in the way:\\n\\tOr x\\nPlease go\\n  (use \"git x\")\\n'; exit 1",
        "fatal: in the way:\n\tOr x");
    assert_failed(w, repo, "exit 3", "exit code 3");
    assert_failed(w, repo, "kill -9 $$", "git was ended by signal 9");
}

static void gives_git_its_input(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    command.input = "hello\n";
    command.input_len = 6;
    al_strv_adds(&command.argv, "git", "hash-object", "--stdin", NULL);
    assert_int_equal(al_git_run(&repo->at, &command,
                                &(struct al_git_run){ .max_bytes = 100, .checked = true }, &output,
                                NULL),
                     0);
    assert_string_equal(output.out.out.buf, "ce013625030ba8dba906f756967f9e9ca394464a\n");
}

static void reads_without_writing(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    if (al_confine_abi() == 0) {
        print_message("# skipped: this kernel has no Landlock\n");
        skip();
    }
    al_strv_adds(&command.argv, "git", "update-ref", "refs/heads/other", "HEAD", NULL);
    assert_int_equal(al_git_run(&repo->at, &command,
                                &(struct al_git_run){ .max_bytes = 1000, .checked = true }, &output,
                                &w->err),
                     AL_ERR_EXECUTION);
    command.class = AL_GIT_WRITE;
    assert_int_equal(al_git_run(&repo->at, &command,
                                &(struct al_git_run){ .max_bytes = 1000, .checked = true }, &output,
                                NULL),
                     0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(tells_a_foreign_lock_of_the_index),
        WORLD_TEST(says_that_there_is_no_git),
        WORLD_TEST(runs_a_program_that_was_replaced),
        WORLD_TEST(misses_a_program_that_went_away),
        WORLD_TEST(keeps_what_came_until_the_deadline),
        WORLD_TEST(keeps_nothing_when_nothing_came),
        WORLD_TEST(does_not_start_for_a_cancelled_call),
        WORLD_TEST(takes_the_time_a_child_ran_off_the_budget),
        WORLD_TEST(tells_the_cap_from_more_than_the_cap),
        WORLD_TEST(stops_a_program_without_end),
        WORLD_TEST(a_writer_is_never_stopped),
        WORLD_TEST(says_why_git_failed),
        WORLD_TEST(gives_git_its_input),
        WORLD_TEST(reads_without_writing),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/command", tests, NULL, NULL);
}
