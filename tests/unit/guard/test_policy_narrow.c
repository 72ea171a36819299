// SPDX-License-Identifier: Apache-2.0
/* guard/policy.h: rules of a worker file make a decision stricter and never looser. */
#include "guard/effects.h"
#include "guard/policy.h"
#include "tests/lib/assert.h"

enum { NONE = -1 };

static void add_rule(struct al_policy *policy, int decision, const char *tool, unsigned line)
{
    struct al_rule *rule;

    if (decision == NONE)
        return;
    rule = al_policy_add(policy, line);
    rule->decision = (enum al_approval_mode)decision;
    rule->tool = al_strdup(tool);
}

static struct al_ruling decide(const struct al_policy *policy, enum al_approval_mode mode,
                               bool asks)
{
    static const struct al_strv none = { .items = NULL };

    return al_policy_decide(policy, mode,
                            &(struct al_policy_query){ .tool = "git_push",
                                                       .operation = "push",
                                                       .effects = AL_WRITES_REFS,
                                                       .asks = asks,
                                                       .branches = &none,
                                                       .paths = &none });
}

static void the_stricter_decision_holds(void **state)
{
    static const struct {
        int configured, mode; /* a rule of the configuration or NONE, and the mode */
        bool asks;
        int narrower; /* a rule of the worker file or NONE */
        int wanted;
        bool narrows; /* whose rule it is */
    } cases[] = {
        { AL_APPROVAL_ALLOW, AL_APPROVAL_ASK, true, NONE, AL_APPROVAL_ALLOW, false },
        { AL_APPROVAL_ALLOW, AL_APPROVAL_ASK, true, AL_APPROVAL_ASK, AL_APPROVAL_ASK, true },
        { AL_APPROVAL_ALLOW, AL_APPROVAL_ASK, true, AL_APPROVAL_DENY, AL_APPROVAL_DENY, true },
        { AL_APPROVAL_ASK, AL_APPROVAL_ALLOW, true, AL_APPROVAL_ASK, AL_APPROVAL_ASK, false },
        { AL_APPROVAL_ASK, AL_APPROVAL_ALLOW, true, AL_APPROVAL_DENY, AL_APPROVAL_DENY, true },
        { AL_APPROVAL_DENY, AL_APPROVAL_ALLOW, true, AL_APPROVAL_ASK, AL_APPROVAL_DENY, false },
        { AL_APPROVAL_DENY, AL_APPROVAL_ASK, true, AL_APPROVAL_DENY, AL_APPROVAL_DENY, false },
        { NONE, AL_APPROVAL_ASK, true, AL_APPROVAL_DENY, AL_APPROVAL_DENY, true },
        { NONE, AL_APPROVAL_ALLOW, true, AL_APPROVAL_ASK, AL_APPROVAL_ASK, true },
        { NONE, AL_APPROVAL_DENY, true, AL_APPROVAL_ASK, AL_APPROVAL_DENY, false },
        { NONE, AL_APPROVAL_DENY, false, AL_APPROVAL_ASK, AL_APPROVAL_ASK, true },
        { NONE, AL_APPROVAL_ASK, false, NONE, AL_APPROVAL_ALLOW, false },
        /* What no worker file can contain, because reading refuses it, loosens nothing either. */
        { AL_APPROVAL_DENY, AL_APPROVAL_ASK, true, AL_APPROVAL_ALLOW, AL_APPROVAL_DENY, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_policy_clear) struct al_policy policy = AL_POLICY_INIT, rules = AL_POLICY_INIT;
        struct al_ruling ruling;

        add_rule(&policy, cases[i].configured, NULL, 3);
        add_rule(&rules, cases[i].narrower, NULL, 4);
        policy.narrower = &rules;
        ruling = decide(&policy, (enum al_approval_mode)cases[i].mode, cases[i].asks);
        if ((int)ruling.decision != cases[i].wanted || ruling.narrows != cases[i].narrows)
            fail_msg("case %zu: %s, %d", i, al_approval_mode_name(ruling.decision), ruling.narrows);
    }
}

static void a_ruling_knows_which_file_its_rule_is_from(void **state)
{
    al_auto(al_policy_clear) struct al_policy policy = AL_POLICY_INIT, rules = AL_POLICY_INIT;
    al_auto(al_str_clear) struct al_str own = AL_STR_INIT, narrower = AL_STR_INIT;
    struct al_ruling ruling;

    (void)state;
    add_rule(&policy, AL_APPROVAL_DENY, "git_log", 3);
    add_rule(&policy, AL_APPROVAL_ASK, "git_*", 6);
    add_rule(&rules, AL_APPROVAL_ASK, "git_add", 9);
    ruling = decide(&policy, AL_APPROVAL_ALLOW, true);
    al_ruling_describe(&ruling, &own);
    assert_string_equal(own.buf, "rule 2 of the configuration (line 6)");
    add_rule(&rules, AL_APPROVAL_DENY, "git_p*", 12);
    policy.narrower = &rules;
    ruling = decide(&policy, AL_APPROVAL_ALLOW, true);
    al_ruling_describe(&ruling, &narrower);
    assert_string_equal(narrower.buf, "rule 2 of the worker file (line 12)");
    assert_true(ruling.narrows);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stricter_decision_holds),
        cmocka_unit_test(a_ruling_knows_which_file_its_rule_is_from),
    };

    return cmocka_run_group_tests_name("guard/policy_narrow", tests, NULL, NULL);
}
