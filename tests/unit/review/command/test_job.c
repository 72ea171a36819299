// SPDX-License-Identifier: Apache-2.0
/* review/command/job.h: a job is this program with the words of a command; what it prints is made
 * safe, and how it ends is known.  The test itself is the program. */
#include "review/command/job.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "proc/proc.h"
#include "tests/lib/assert.h"

/* What the program does as `airlock rollback …`: print its words, and fail in a preview. */
static int act(int argc, char **argv)
{
    char cwd[256] = "";

    for (int i = 1; i < argc; i++)
        (void)printf("%s ", argv[i]);
    (void)printf("in %s\033[2J\n", getcwd(cwd, sizeof(cwd)));
    (void)fflush(stdout);
    if (!strcmp(argv[1], "staging"))
        for (int i = 0; i < 20 << 10; i++)
            (void)printf("%01023d\n", i);
    (void)fprintf(stderr, "said at the end\n");
    return strstr(argv[argc - 3], "dry") || !strcmp(argv[argc - 1], "--dry-run") ? 1 : 0;
}

static struct al_review_job *start(enum al_review_job_kind kind, uint64_t newest)
{
    static char repository[] = "/usr";
    struct al_item item = { .path = repository, .key = "7", .seq = 7 };
    static char journal[] = "/j/tool_log.jsonl", config[] = "/c.toml";
    struct al_setup setup = { .journal_file = journal };
    struct al_review_job *job = NULL;

    setup.config.file = kind == AL_REVIEW_JOB_CHANGES ? config : NULL;
    if (kind == AL_REVIEW_JOB_STAGED)
        item = (struct al_item){ .kind = AL_ITEM_STAGED, .key = "id" };
    assert_int_equal(al_review_job_start(&setup, kind, &item, newest, &job, NULL), 0);
    return job;
}

static void finish(struct al_review_job *job)
{
    struct pollfd wait = { .fd = al_review_job_fd(job), .events = POLLIN };

    assert_int_equal(poll(&wait, 1, -1), 1);
    assert_true(al_review_job_has_ended(job));
}

static void the_words_of_each_kind(void **state)
{
    static const struct {
        enum al_review_job_kind kind;
        uint64_t newest;
        const char *words;
        bool succeeds;
    } rows[] = {
        { AL_REVIEW_JOB_CHANGES, 0,
          "diff --config /c.toml --audit /j/tool_log.jsonl --root /usr --execution 7 in /usr\n",
          true },
        { AL_REVIEW_JOB_PREVIEW, 9,
          "rollback --audit /j/tool_log.jsonl --root /usr --execution 7 --dry-run --newest 9 in "
          "/usr\n",
          false },
        { AL_REVIEW_JOB_ROLL_BACK, 9,
          "rollback --audit /j/tool_log.jsonl --root /usr --execution 7 --yes --newest 9 in "
          "/usr\n",
          true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_review_job *job = start(rows[i].kind, rows[i].newest);

        finish(job);
        assert_non_null(strstr(al_review_job_text(job)->buf, rows[i].words));
        assert_non_null(strstr(al_review_job_text(job)->buf, "said at the end\n"));
        assert_int_equal(al_review_job_succeeded(job), rows[i].succeeds);
        al_review_job_free(job);
    }
}

static void a_long_output_is_cut(void **state)
{
    struct al_review_job *job = start(AL_REVIEW_JOB_STAGED, 0);

    (void)state;
    finish(job);
    assert_int_equal(al_review_job_text(job)->len, AL_REVIEW_JOB_MAX_BYTES);
    assert_non_null(strstr(al_review_job_text(job)->buf, "staging diff id --audit"));
    assert_true(al_ends_with(al_review_job_text(job)->buf, "... [output truncated]"));
    assert_true(al_review_job_succeeded(job));
    al_review_job_free(job);
}

static void a_job_can_be_ended(void **state)
{
    struct al_review_job *job = start(AL_REVIEW_JOB_STAGED, 0);

    (void)state;
    al_review_job_free(job); /* it has more to print than a pipe takes */
    al_review_job_free(NULL);
}

static void a_repository_that_is_gone(void **state)
{
    char repository[] = "/nowhere/at/all";
    const struct al_item item = { .path = repository, .key = "7" };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_setup setup = { .journal_file = NULL };
    struct al_review_job *job = NULL;
    char journal[] = "/j";

    (void)state;
    setup.journal_file = journal;
    assert_int_equal(al_review_job_start(&setup, AL_REVIEW_JOB_CHANGES, &item, 0, &job, &err),
                     AL_ERR_EXECUTION);
    assert_null(job);
    assert_non_null(strstr(err.message, "/nowhere/at/all"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_words_of_each_kind),
        cmocka_unit_test(a_long_output_is_cut),
        cmocka_unit_test(a_job_can_be_ended),
        cmocka_unit_test(a_repository_that_is_gone),
    };

    if (argc > 1)
        return act(argc, argv);
    if (al_proc_init(NULL, NULL) < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
