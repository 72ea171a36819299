// SPDX-License-Identifier: Apache-2.0
/* call/decide.c, policy: a rule decides about the state in which the call runs. */
#include "tests/unit/call/lib.h"

#include "guard/policy.h"

/* A tool that commits, and so moves the branch. */
static struct al_tool committing(void)
{
    struct al_tool tool = record;

    tool.moves_branch = true;
    return tool;
}

static void use_rules(struct scene *scene, struct al_policy *policy, const struct al_rule *rules,
                      size_t count)
{
    *policy = (struct al_policy){ .rules = (struct al_rule *)rules, .count = count };
    scene->session.policy = policy;
}

static void make_a_branch(struct scene *scene)
{
    git_ok(scene->w->repo, "checkout", "-q", "-b", "other", NULL); /* at the same commit */
}

static void decides_anew_when_head_went_to_another_branch(void **state)
{
    static const struct al_rule rules[] = {
        { .branch = (char *)"other", .decision = AL_APPROVAL_DENY, .message = (char *)"not here" },
        { .decision = AL_APPROVAL_ASK },
    };
    struct al_policy policy;
    struct scene *scene = *state;
    const struct al_tool tool = committing();

    git_ok(scene->w->repo, "add", "a.txt", NULL);
    use_rules(scene, &policy, rules, COUNT(rules));
    scene->answers[0] = AL_ANSWER_ONCE;
    scene->meanwhile = make_a_branch;
    run(scene, &tool, RECORD);
    assert_int_equal(scene->asked, 1);
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_DENIED);
    assert_string_equal(
        scene->result.text.buf,
        "not here\n\nDenied by rule 1 of the configuration (line 0). Nothing was "
        "done. Calls about other branches than 'other' alone are not denied by this rule.");
    assert_journal(scene, "declined rule policy record no");
}

static void goes_on_when_head_stayed(void **state)
{
    static const struct al_rule rules[] = {
        { .branch = (char *)"other", .decision = AL_APPROVAL_DENY },
        { .decision = AL_APPROVAL_ASK, .message = (char *)"Look at it." },
    };
    struct al_policy policy;
    struct scene *scene = *state;
    const struct al_tool tool = committing();

    git_ok(scene->w->repo, "add", "a.txt", NULL);
    use_rules(scene, &policy, rules, COUNT(rules));
    scene->answers[0] = AL_ANSWER_ONCE;
    run(scene, &tool, RECORD);
    assert_int_equal(scene->result.status, AL_OK);
    assert_true(al_starts_with(scene->detail, "Look at it.\n\n"));
    assert_journal(scene, "ok once terminal record yes");
}

/* An "always" answer to the mode's question does not answer a rule's question, nor one rule's
 * another's. */
static void always_covers_what_the_same_rule_asks(void **state)
{
    static const struct al_rule rules[] = {
        { .path = (char *)"b.txt", .decision = AL_APPROVAL_ASK },
    };
    struct al_policy policy;
    struct al_param params[COUNT(stage_params)];
    struct scene *scene = *state;
    struct al_tool tool = stage;

    memcpy(params, stage_params, sizeof(params));
    params[0].flags |= AL_PARAM_PATH;
    tool.params = params;
    use_rules(scene, &policy, rules, COUNT(rules));
    scene->answers[0] = AL_ANSWER_ALWAYS;
    scene->answers[1] = AL_ANSWER_ALWAYS;
    run(scene, &tool, "{\"working_dir\":\"repo\",\"paths\":[\"a.txt\"]}");
    run(scene, &tool, "{\"working_dir\":\"repo\",\"paths\":[\"a.txt\"]}");
    assert_int_equal(scene->asked, 1);
    run(scene, &tool, "{\"working_dir\":\"repo\",\"paths\":[\"b.txt\"]}");
    assert_int_equal(scene->asked, 2);
    run(scene, &tool, "{\"working_dir\":\"repo\",\"paths\":[\"b.txt\",\"a.txt\"]}");
    assert_int_equal(scene->asked, 2);
    assert_journal(scene, "ok always policy stage yes");
}

static void asks_before_reading_where_a_rule_says_so(void **state)
{
    static const struct al_rule rules[] = {
        { .effect = (char *)"reads", .decision = AL_APPROVAL_ASK },
    };
    struct al_policy policy;
    struct scene *scene = *state;

    use_rules(scene, &policy, rules, COUNT(rules));
    scene->answers[0] = AL_ANSWER_REJECT;
    scene->answers[1] = AL_ANSWER_ONCE;
    run(scene, &peek, "{\"working_dir\":\"repo\"}");
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_DENIED);
    run(scene, &peek, "{\"working_dir\":\"repo\"}");
    assert_int_equal(scene->result.status, AL_OK);
    assert_int_equal(scene->asked, 2);
}

static void denies_without_asking_in_mode_allow(void **state)
{
    static const struct al_rule rules[] = {
        { .tool = (char *)"rec*", .decision = AL_APPROVAL_ALLOW },
        { .effect = (char *)"writes_index", .decision = AL_APPROVAL_DENY, .line = 9 },
    };
    struct al_policy policy;
    struct scene *scene = *state;

    use_rules(scene, &policy, rules, COUNT(rules));
    scene->session.mode = AL_APPROVAL_ALLOW;
    run(scene, &stage, "{\"working_dir\":\"repo\",\"paths\":[\"a.txt\"]}");
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_DENIED);
    assert_string_equal(scene->result.text.buf,
                        "Stage a.txt: denied by rule 2 of the configuration (line 9). Nothing was "
                        "done");
    assert_int_equal(scene->asked, 0);
    assert_journal(scene, "declined rule policy stage no");
    git_ok(scene->w->repo, "add", "a.txt", NULL);
    scene->session.mode = AL_APPROVAL_DENY;
    run(scene, &record, RECORD);
    assert_journal(scene, "ok rule policy record yes");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SCENE_TEST(decides_anew_when_head_went_to_another_branch),
        SCENE_TEST(goes_on_when_head_stayed),
        SCENE_TEST(always_covers_what_the_same_rule_asks),
        SCENE_TEST(asks_before_reading_where_a_rule_says_so),
        SCENE_TEST(denies_without_asking_in_mode_allow),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("tool/policy", tests, NULL, NULL);
}
