// SPDX-License-Identifier: Apache-2.0
/* call/call.h: every call is checked, recorded and answered, however it ends. */
#include "call/call.h"

#include <unistd.h>

#include "guard/policy.h"
#include "history/journal.h"
#include "tests/unit/call/lib.h"

static void reads_without_asking(void **state)
{
    struct scene *scene = *state;
    static const enum al_approval_mode modes[] = { AL_APPROVAL_ASK, AL_APPROVAL_ALLOW,
                                                   AL_APPROVAL_DENY };

    for (size_t i = 0; i < COUNT(modes); i++) {
        scene->session.mode = modes[i];
        run(scene, &peek, "{\"working_dir\":\"repo\"}");
        assert_int_equal(scene->result.status, AL_OK);
        assert_string_equal(scene->result.text.buf, UNTOUCHED);
        assert_int_equal(scene->result.exit_code, 0);
        assert_journal(scene, "ok auto policy peek yes");
    }
    assert_int_equal(scene->asked, 0);
    assert_int_equal(journal_lines(scene), COUNT(modes));
}

static void never_takes_bad_arguments_to_a_person(void **state)
{
    struct scene *scene = *state;
    static const char *const bad[] = {
        "{}",
        "{\"paths\":[]}",
        "{\"paths\":\"a.txt\"}",
        "{\"paths\":[\"a.txt\"],\"unknown\":1}",
        "{\"paths\":[\"a.txt\"],\"timeout_ms\":1}",
        "[]",
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        run(scene, &stage, bad[i]);
        assert_int_equal(scene->result.status, AL_ERR_BAD_ARGS);
        assert_journal(scene, "refused none none - no");
    }
    run(scene, &stage, "{\"working_dir\":\"../outside\",\"paths\":[\"a.txt\"]}");
    assert_int_equal(scene->result.status, AL_ERR_SANDBOX);
    assert_journal(scene, "refused none none stage no");
    assert_int_equal(scene->asked, 0);
    assert_int_equal(journal_lines(scene), COUNT(bad) + 1);
}

static void says_that_arguments_could_not_be_taken(void **state)
{
    struct scene *scene = *state;
    const struct al_listed_tool listed = { .toolset = &toolset, .tool = &stage };

    al_call_run(&scene->session,
                &(struct al_call_input){ .tool = &listed, .arguments_error = "duplicate name" },
                &scene->result);
    assert_int_equal(scene->result.status, AL_ERR_BAD_ARGS);
    assert_string_equal(scene->result.text.buf, "Invalid arguments: duplicate name");
    assert_journal(scene, "refused none none - no");
}

static void reads_but_does_not_write_without_a_journal(void **state)
{
    struct scene *scene = *state;

    scene->session.journal = NULL;
    scene->session.mode = AL_APPROVAL_ALLOW;
    run(scene, &peek, "{\"working_dir\":\"repo\"}");
    assert_int_equal(scene->result.status, AL_OK);
    run(scene, &stage, STAGE_A);
    assert_int_equal(scene->result.status, AL_ERR_EXECUTION);
    assert_non_null(strstr(scene->result.text.buf, "journal"));
    assert_status(scene, UNTOUCHED);
}

static void reads_but_does_not_write_when_the_journal_has_gone_bad(void **state)
{
    struct scene *scene = *state;
    al_auto(al_freep) char *open_dir = tmpdir_path(scene->w->state, "open");

    al_fs_remove_tree(open_dir);
    tmpdir_write(scene->w->state, "open", "in the way");
    scene->answers[0] = AL_ANSWER_ONCE;
    run(scene, &peek, "{\"working_dir\":\"repo\"}");
    assert_int_equal(scene->result.status, AL_OK);
    run(scene, &stage, STAGE_A);
    assert_int_equal(scene->result.status, AL_ERR_EXECUTION);
    assert_int_equal(scene->asked, 0);
    assert_status(scene, UNTOUCHED);
}

/* The journal is removed under a running server: calls with side effects are refused before a user
 * is asked. */
static void does_not_write_when_the_log_is_not_where_it_was(void **state)
{
    struct scene *scene = *state;
    struct tmpdir *dir = scene->w->state;

    scene->session.mode = AL_APPROVAL_ALLOW;
    run(scene, &peek, "{\"working_dir\":\"repo\"}");
    assert_int_equal(renameat(dir->fd, "tool_log.jsonl", dir->fd, "elsewhere"), 0);
    for (int i = 0; i < 2; i++) {
        run(scene, &stage, STAGE_A);
        assert_int_equal(scene->result.status, AL_ERR_EXECUTION);
        assert_non_null(strstr(scene->result.text.buf, "journal"));
        assert_status(scene, UNTOUCHED);
        run(scene, &peek, "{\"working_dir\":\"repo\"}");
        assert_int_equal(scene->result.status, AL_OK);
    }
    assert_int_equal(renameat(dir->fd, "elsewhere", dir->fd, "tool_log.jsonl"), 0);
    run(scene, &stage, STAGE_A);
    assert_int_equal(scene->result.status, AL_OK);
}

static void tells_a_failing_git_from_one_with_nothing_to_do(void **state)
{
    struct scene *scene = *state;
    al_auto(al_freep) char *blob = NULL, *object = NULL;

    git_ok(scene->w->repo, "add", "a.txt", NULL);
    blob = git_output(scene->w->repo, "rev-parse", ":a.txt", NULL);
    object = al_asprintf(".git/objects/%.2s/%.38s", blob, blob + 2);
    assert_int_equal(unlinkat(scene->w->repo->fd, object, 0), 0);
    scene->session.mode = AL_APPROVAL_ALLOW;
    run(scene, &record, RECORD);
    assert_int_equal(scene->result.status, AL_ERR_EXECUTION);
    assert_int_equal(scene->result.error.code, AL_CODE_NONE);
    assert_non_null(strstr(scene->result.text.buf, "invalid object"));
    assert_journal(scene, "error auto policy record no");
}

/* The journal's record of a call while it runs, as "TOOL REPOSITORY": at the beginning, and after a
 * child has run. */
static const struct tmpdir *journal_dir;
static char *seen_first, *seen_then;

static void see(void *payload, long pid, const json_t *call)
{
    const char *repository = al_json_get_string(call, "repository");
    char **seen = payload;

    assert_int_equal(pid, getpid());
    assert_null(*seen); /* one */
    *seen = al_asprintf("%s %s", al_json_get_string(call, "tool"),
                        repository ? strrchr(repository, '/') + 1 : "-");
}

static char *what_runs(void)
{
    al_auto(al_freep) char *file = tmpdir_path(journal_dir, "tool_log.jsonl");
    char *seen = NULL;

    assert_int_equal(al_journal_running(file, see, &seen), 0);
    return seen;
}

static int look(struct al_call *call, struct al_result *result, struct al_error *err)
{
    int r = run_status(call, result, err);

    seen_then = what_runs();
    return r;
}

static int check(void *p, struct al_error *err)
{
    (void)p;
    (void)err;
    seen_first = what_runs();
    return 0;
}

static void look_while_asked(struct scene *scene)
{
    (void)scene;
    seen_first = what_runs();
}

static void run_looking(struct scene *scene, unsigned effects)
{
    const struct al_operation operation = { "look", NULL, effects, look, AL_ASKS_NEVER };
    struct al_tool tool = peek;

    tool.operations = &operation;
    tool.check = check;
    run(scene, &tool, "{\"working_dir\":\"repo\"}");
    assert_int_equal(scene->result.status, AL_OK);
    assert_null(what_runs());
}

static void clear_seen(void)
{
    free(seen_first);
    free(seen_then);
    seen_first = seen_then = NULL;
}

/* The record has the repository as soon as it is known. */
static void is_seen_in_the_journal_while_it_runs(void **state)
{
    static const unsigned effects[] = { AL_READS, AL_WRITES_FILES };
    struct scene *scene = *state;

    journal_dir = scene->w->state;
    for (size_t i = 0; i < COUNT(effects); i++) {
        run_looking(scene, effects[i]);
        assert_string_equal(seen_first, "peek -");
        assert_string_equal(seen_then, "peek repo");
        clear_seen();
    }
}

static void is_seen_in_the_journal_while_a_person_is_asked(void **state)
{
    static const struct al_rule rule = { .decision = AL_APPROVAL_ASK };
    const struct al_policy policy = { .rules = (struct al_rule *)&rule, .count = 1 };
    struct scene *scene = *state;

    journal_dir = scene->w->state;
    scene->session.policy = &policy;
    scene->meanwhile = look_while_asked;
    scene->answers[0] = AL_ANSWER_ONCE;
    run(scene, &peek, "{\"working_dir\":\"repo\"}");
    assert_int_equal(scene->asked, 1);
    assert_string_equal(seen_first, "peek repo");
    clear_seen();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SCENE_TEST(reads_without_asking),
        SCENE_TEST(never_takes_bad_arguments_to_a_person),
        SCENE_TEST(says_that_arguments_could_not_be_taken),
        SCENE_TEST(reads_but_does_not_write_without_a_journal),
        SCENE_TEST(reads_but_does_not_write_when_the_journal_has_gone_bad),
        SCENE_TEST(does_not_write_when_the_log_is_not_where_it_was),
        SCENE_TEST(tells_a_failing_git_from_one_with_nothing_to_do),
        SCENE_TEST(is_seen_in_the_journal_while_it_runs),
        SCENE_TEST(is_seen_in_the_journal_while_a_person_is_asked),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("tool/call", tests, NULL, NULL);
}
