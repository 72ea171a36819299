// SPDX-License-Identifier: Apache-2.0
/* call/decide.c: a call changes nothing but what the user approved in its present state. */
#include "guard/approval.h"
#include "review/queue.h"
#include "tests/unit/call/lib.h"

static void writes_unasked_in_mode_allow(void **state)
{
    struct scene *scene = *state;

    scene->session.mode = AL_APPROVAL_ALLOW;
    run(scene, &stage, STAGE_A);
    assert_int_equal(scene->result.status, AL_OK);
    assert_int_equal(scene->asked, 0);
    assert_status(scene, STAGED_A);
    assert_journal(scene, "ok auto policy stage yes");
}

static void refuses_unasked_in_mode_deny(void **state)
{
    struct scene *scene = *state;

    scene->session.mode = AL_APPROVAL_DENY;
    scene->answers[0] = AL_ANSWER_ONCE;
    run(scene, &stage, STAGE_A);
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_DENIED);
    assert_int_equal(scene->asked, 0);
    assert_status(scene, UNTOUCHED);
    assert_journal(scene, "declined rejected policy stage no");
}

static void says_what_it_needs_when_nobody_can_be_asked(void **state)
{
    struct scene *scene = *state;

    run_with(scene, &stage, STAGE_A, NULL);
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_REQUIRED);
    assert_true(al_starts_with(scene->result.text.buf, "Stage a.txt\n\n"));
    assert_status(scene, UNTOUCHED);
    assert_journal(scene, "refused none none stage no");
}

static void does_what_was_approved_once(void **state)
{
    struct scene *scene = *state;

    scene->answers[0] = AL_ANSWER_ONCE;
    scene->answers[1] = AL_ANSWER_REJECT;
    run(scene, &stage, STAGE_A);
    assert_int_equal(scene->result.status, AL_OK);
    assert_string_equal(scene->summary, "Stage a.txt");
    assert_string_equal(scene->repository, scene->w->repo->path);
    assert_status(scene, STAGED_A);
    assert_journal(scene, "ok once terminal stage yes");
    run(scene, &stage, STAGE_B); /* "once" is valid for one call */
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_DENIED);
    assert_int_equal(scene->asked, 2);
    assert_status(scene, STAGED_A);
    assert_journal(scene, "declined rejected terminal stage no");
}

static void remembers_always_for_the_same_thing_only(void **state)
{
    struct scene *scene = *state;
    al_auto(subdir_closep) struct tmpdir *other = subdir_open(scene->w->root, "other");

    git_fixture_init(other);
    tmpdir_write(other, "a.txt", "x\n");
    scene->answers[0] = AL_ANSWER_ALWAYS;
    scene->answers[1] = scene->answers[2] = AL_ANSWER_REJECT;
    run(scene, &stage, STAGE_A);
    assert_journal(scene, "ok always terminal stage yes");
    run(scene, &stage, STAGE_B); /* other arguments of the same operation */
    assert_int_equal(scene->asked, 1);
    assert_status(scene, "M  a.txt\nA  b.txt\n");
    assert_journal(scene, "ok always policy stage yes");
    run(scene, &record, RECORD); /* another operation */
    assert_int_equal(scene->asked, 2);
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_DENIED);
    run(scene, &stage,
        "{\"working_dir\":\"other\",\"paths\":[\"a.txt\"]}"); /* another repository */
    assert_int_equal(scene->asked, 3);
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_DENIED);
    assert_commits(scene, "1\n");
}

static void a_door_that_cannot_ask_gives_no_answer(void **state)
{
    struct scene *scene = *state;
    const struct al_approver approvers[] = {
        { .name = "elicitation", .ask = fail_to_ask },
        { .name = "review", .ask = have_no_answer },
    };

    for (size_t i = 0; i < 2; i++) {
        run_with(scene, &stage, STAGE_A, &approvers[i]);
        assert_int_equal(scene->result.status, AL_ERR_APPROVAL_REQUIRED);
        assert_journal(scene, "refused none none stage no");
    }
}

/* A review that dies as soon as it is shown a question. */
static bool is_attended_once(void *payload)
{
    bool *attended = payload, was = *attended;

    *attended = false;
    return was;
}

static void a_question_waits_though_its_review_dies_at_once(void **state)
{
    struct scene *scene = *state;
    bool attended = true;

    scene->session.review = al_review_queue_new(1);
    al_review_expect(scene->session.review, is_attended_once, &attended);
    run_with(scene, &stage, STAGE_A, NULL);
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_REQUIRED);
    assert_non_null(strstr(scene->result.text.buf, "nobody answered within 1 s"));
    run_with(scene, &stage, STAGE_A, NULL); /* nobody is there from the start */
    assert_null(strstr(scene->result.text.buf, "nobody answered within 1 s"));
    al_review_queue_free(al_take(&scene->session.review));
}

static void a_reason_goes_to_the_agent_and_into_the_journal(void **state)
{
    struct scene *scene = *state;
    const struct al_approver approver = { .name = "elicitation", .ask = ask, .payload = scene };
    al_auto(al_freep) char *line = NULL;

    scene->answers[0] = AL_ANSWER_REJECT;
    scene->reason = "not before\tthe release\033[2J";
    run_with(scene, &stage, STAGE_A, &approver);
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_DENIED);
    assert_string_equal(scene->result.text.buf, "Rejected: not before the release");
    assert_status(scene, UNTOUCHED);
    line = tmpdir_read(scene->w->state, "tool_log.jsonl");
    assert_non_null(strstr(line, "Rejected: not before the release"));
}

static void what_is_not_offered_is_no_answer(void **state)
{
    struct scene *scene = *state;
    const struct al_approver approver = { .name = "elicitation", .ask = ask, .payload = scene };

    al_approvals_free(al_take(&scene->session.approvals));
    scene->answers[0] = AL_ANSWER_ALWAYS;
    run_with(scene, &stage, STAGE_A, &approver);
    assert_null(scene->covers);
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_DENIED);
    assert_status(scene, UNTOUCHED);
}

static void says_that_too_many_questions_wait(void **state)
{
    struct scene *scene = *state;
    const struct al_approver approver = { .name = "elicitation", .ask = ask, .payload = scene };

    scene->answers[0] = AL_ANSWER_TOO_MANY;
    run_with(scene, &stage, STAGE_A, &approver);
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_REQUIRED);
    assert_non_null(strstr(scene->result.text.buf, "too many questions wait"));
    assert_status(scene, UNTOUCHED);
    assert_journal(scene, "refused none none stage no");
}

static void ends_when_the_answer_comes_with_another_call(void **state)
{
    struct scene *scene = *state;
    const struct al_approver approver = { .name = "elicitation", .ask = ask, .payload = scene };

    scene->answers[0] = AL_ANSWER_LATER;
    scene->answers[1] = AL_ANSWER_ONCE;
    run_with(scene, &stage, STAGE_A, &approver);
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_REQUIRED);
    assert_int_equal(scene->asked, 1);
    assert_status(scene, UNTOUCHED);
    assert_journal(scene, "refused none none stage no");
    run_with(scene, &stage, STAGE_A, &approver); /* asks again, with the answer at hand */
    assert_int_equal(scene->result.status, AL_OK);
    assert_status(scene, STAGED_A);
    assert_journal(scene, "ok once elicitation stage yes");
}

static void shows_what_the_answer_is_bound_to(void **state)
{
    struct scene *scene = *state;
    al_auto(al_freep) char *shown = NULL;

    scene->answers[0] = scene->answers[1] = scene->answers[2] = AL_ANSWER_LATER;
    run(scene, &stage, STAGE_A);
    shown = al_strdup(scene->state);
    assert_int_equal(strlen(shown), 64);
    run(scene, &stage, STAGE_A);
    assert_string_equal(scene->state, shown);
    tmpdir_write(scene->w->repo, "a.txt", "something else\n");
    run(scene, &stage, STAGE_A);
    assert_string_not_equal(scene->state, shown);
}

static void shows_the_whole_change_from_a_subdirectory(void **state)
{
    struct scene *scene = *state;

    tmpdir_write(scene->w->repo, "sub/s.txt", "harmless\n");
    git_ok(scene->w->repo, "add", "a.txt", "sub", NULL);
    git_ok(scene->w->repo, "config", "diff.relative", "true", NULL);
    scene->answers[0] = AL_ANSWER_REJECT;
    run(scene, &record, "{\"working_dir\":\"repo/sub\",\"message\":\"docs: s\"}");
    assert_int_equal(scene->asked, 1);
    assert_non_null(strstr(scene->detail, "+harmless"));
    assert_non_null(strstr(scene->detail, "+two"));
}

static void fire_the_token(struct scene *scene)
{
    al_cancel_fire(scene->cancel);
}

static void changes_nothing_when_cancelled_while_asking(void **state)
{
    struct scene *scene = *state;

    scene->meanwhile = fire_the_token;
    scene->answers[0] = AL_ANSWER_ONCE;
    run(scene, &stage, STAGE_A);
    assert_int_equal(scene->result.status, AL_ERR_CANCELLED);
    assert_status(scene, UNTOUCHED);
    assert_journal(scene, "cancelled none none stage no");
}

static void answers_what_cannot_be_done_before_asking(void **state)
{
    struct scene *scene = *state;

    run(scene, &record, RECORD);
    assert_int_equal(scene->result.status, AL_ERR_EXECUTION);
    assert_int_equal(scene->result.error.code, AL_CODE_NO_STAGED_CHANGES);
    assert_journal(scene, "error none none record no");
    git_ok(scene->w->repo, "add", "a.txt", NULL);
    tmpdir_write(scene->w->home, ".gitconfig", "[user]\n\tname = Only A Name\n");
    run(scene, &record, RECORD);
    assert_int_equal(scene->result.status, AL_ERR_EXECUTION);
    assert_non_null(strstr(scene->result.text.buf, "user.email not configured"));
    assert_int_equal(scene->asked, 0);
    assert_commits(scene, "1\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SCENE_TEST(writes_unasked_in_mode_allow),
        SCENE_TEST(refuses_unasked_in_mode_deny),
        SCENE_TEST(says_what_it_needs_when_nobody_can_be_asked),
        SCENE_TEST(does_what_was_approved_once),
        SCENE_TEST(remembers_always_for_the_same_thing_only),
        SCENE_TEST(a_door_that_cannot_ask_gives_no_answer),
        SCENE_TEST(a_question_waits_though_its_review_dies_at_once),
        SCENE_TEST(a_reason_goes_to_the_agent_and_into_the_journal),
        SCENE_TEST(what_is_not_offered_is_no_answer),
        SCENE_TEST(says_that_too_many_questions_wait),
        SCENE_TEST(ends_when_the_answer_comes_with_another_call),
        SCENE_TEST(shows_what_the_answer_is_bound_to),
        SCENE_TEST(shows_the_whole_change_from_a_subdirectory),
        SCENE_TEST(changes_nothing_when_cancelled_while_asking),
        SCENE_TEST(answers_what_cannot_be_done_before_asking),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("tool/approve", tests, NULL, NULL);
}
