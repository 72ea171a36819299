// SPDX-License-Identifier: Apache-2.0
/* cli/config/config.h, [[tools.approval.rule]]: rules keep their order and their lines. */
#include "tests/unit/cli/config/lib.h"

static void takes_rules_in_their_order_with_their_lines(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };
    const struct al_rule *rules;

    al_config_init(&config);
    assert_int_equal(config.approval.policy.count, 0);
    assert_reads(state,
                 "[tools.approval]\n"
                 "mode = \"deny\"\n"
                 "\n"
                 "[[tools.approval.rule]]\n"
                 "tool = \"git_push\"\n"
                 "operation = \"force\"\n"
                 "effect = \"leaves_machine\"\n"
                 "branch = \"main\"\n"
                 "path = \"infra/*\"\n"
                 "decision = \"deny\"\n"
                 "message = \"Not from here.\"\n"
                 "\n"
                 "# everything else\n"
                 "[[tools.approval.rule]]\n"
                 "decision = \"ask\"\n"
                 "[[tools.approval.rule]]\n"
                 "effect = \"writes_*\"\n"
                 "decision = \"allow\"\n",
                 &config);
    rules = config.approval.policy.rules;
    assert_int_equal(config.approval.mode, AL_APPROVAL_DENY);
    assert_int_equal(config.approval.policy.count, 3);
    assert_string_equal(rules[0].tool, "git_push");
    assert_string_equal(rules[0].operation, "force");
    assert_string_equal(rules[0].effect, "leaves_machine");
    assert_string_equal(rules[0].branch, "main");
    assert_string_equal(rules[0].path, "infra/*");
    assert_int_equal(rules[0].decision, AL_APPROVAL_DENY);
    assert_string_equal(rules[0].message, "Not from here.");
    assert_int_equal(rules[0].line, 4);
    assert_null(rules[1].tool);
    assert_null(rules[1].path);
    assert_null(rules[1].message);
    assert_int_equal(rules[1].decision, AL_APPROVAL_ASK);
    assert_int_equal(rules[1].line, 14);
    assert_string_equal(rules[2].effect, "writes_*");
    assert_int_equal(rules[2].decision, AL_APPROVAL_ALLOW);
    assert_int_equal(rules[2].line, 16);
}

static void takes_rules_on_lines_of_a_list(void **state)
{
    al_auto(al_config_clear) struct al_config config = { .file = NULL };

    al_config_init(&config);
    assert_reads(state,
                 "tools.approval.rule = [\n"
                 "  { tool = \"git_log\", decision = \"deny\" },\n"
                 "  { decision = \"allow\" },\n"
                 "]\n",
                 &config);
    assert_int_equal(config.approval.policy.count, 2);
    assert_int_equal(config.approval.policy.rules[0].line, 2);
    assert_int_equal(config.approval.policy.rules[1].line, 3);
    assert_reads(state, "tools.approval.mode = \"ask\"\n", &config); /* has no rules */
    assert_int_equal(config.approval.policy.count, 2);
    assert_reads(state, "tools.approval.rule = [{ decision = \"ask\" }]\n", &config);
    assert_int_equal(config.approval.policy.count, 1);
    assert_reads(state, "tools.approval.rule = []\n", &config);
    assert_int_equal(config.approval.policy.count, 0);
}

static void names_what_is_wrong_with_a_rule(void **state)
{
    static const char *const cases[][2] = {
        { "[[tools.approval.rule]]\ntool = \"x\"", "1: tools.approval.rule: has no 'decision'" },
        { "\n[[tools.approval.rule]]\n[[tools.approval.rule]]\ndecision = \"ask\"",
          "2: tools.approval.rule: has no 'decision'" },
        { "[[tools.approval.rule]]\ndecision = \"ask\"\n[[tools.approval.rule]]\n",
          "3: tools.approval.rule: has no 'decision'" },
        { "[[tools.approval.rule]]\ndecision = \"maybe\"",
          "2: tools.approval.rule.decision: must be 'ask', 'allow' or 'deny'" },
        { "[[tools.approval.rule]]\ndecision = true",
          "2: tools.approval.rule.decision: must be a string, not true or false" },
        { "[[tools.approval.rule]]\ndecision = \"ask\"\ntool = [\"a\"]",
          "3: tools.approval.rule.tool: must be a string, not a list of strings" },
        { "[[tools.approval.rule]]\ndecision = \"ask\"\npath = \"\"",
          "3: tools.approval.rule.path: must not be empty" },
        { "[[tools.approval.rule]]\ndecision = \"ask\"\npath = \"./a\"",
          "3: tools.approval.rule.path: must be without ./ and refs/heads/" },
        { "[[tools.approval.rule]]\ndecision = \"ask\"\nbranch = \"refs/heads/a\"",
          "3: tools.approval.rule.branch: must be without ./ and refs/heads/" },
        { "[[tools.approval.rule]]\ndecision = \"ask\"\nbranch = \"a\\u0000\"",
          "3: tools.approval.rule.branch: must not contain a NUL" },
        { "[[tools.approval.rule]]\ndecision = \"ask\"\ntol = \"x\"",
          "3: tools.approval.rule.tol: unknown key, did you mean 'tools.approval.rule.tool'?" },
        { "[[tools.approval.rule]]\ndecision = \"ask\"\n[tools.approval.rule.tool]",
          "3: tools.approval.rule.tool: must be a string, not a table" },
        { "[[tools.approval.rule]]\ndecision = \"ask\"\neffect = \"deletes\"",
          "3: tools.approval.rule.effect: unknown effect 'deletes' (valid: reads, writes_index, "
          "writes_worktree, discards_work, writes_refs, rewrites_history, writes_config, "
          "uses_network, leaves_machine, runs_program, writes_files)" },
        { "[tools.approval.rule]\ndecision = \"ask\"",
          "1: tools.approval.rule: must be a list of tables, not a table" },
        { "tools.approval.rule = \"deny\"",
          "1: tools.approval.rule: must be a list of tables, not a string" },
        { "tools.approval.rule = [\"deny\"]",
          "1: tools.approval.rule: must be a list of tables, not a list of strings" },
        { "tools.approval.rule = [{decision = \"ask\"}, 1]",
          "1: tools.approval.rule: must be a list of tables, not a list of something else" },
        { "[[tools.approval.rules]]\ndecision = \"ask\"",
          "1: tools.approval.rules: unknown key, did you mean 'tools.approval.rule'?" },
        { "[[tools.approval]]\nmode = \"ask\"",
          "1: tools.approval: must be a table, not a list of tables" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("# %s\n", cases[i][1]);
        assert_refuses(state, cases[i][0], cases[i][1]);
    }
}

static void holds_rules_to_256(void **state)
{
    for (size_t n = 255; n <= 257; n++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_config_clear) struct al_config config = { .file = NULL };

        for (size_t i = 0; i < n; i++)
            al_str_adds(&text, "[[tools.approval.rule]]\ndecision = \"ask\"\n");
        al_config_init(&config);
        if (n > 256)
            assert_refuses(state, text.buf, "1: tools.approval.rule: must have at most 256 rules");
        else
            assert_reads(state, text.buf, &config);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_rules_in_their_order_with_their_lines),
        cmocka_unit_test(takes_rules_on_lines_of_a_list),
        cmocka_unit_test(names_what_is_wrong_with_a_rule),
        cmocka_unit_test(holds_rules_to_256),
    };

    return cmocka_run_group_tests_name("config/rules", tests, setup, teardown);
}
