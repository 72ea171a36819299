// SPDX-License-Identifier: Apache-2.0
/* guard/policy.h: the first rule that matches decides, and a permission covers no more than
 * it says. */
#include "guard/policy.h"

#include "guard/effects.h"
#include "tests/lib/assert.h"

/* Add rules in order; fields as in struct al_rule, copied. */
static struct al_policy policy_of(const struct al_rule *rules, size_t count)
{
    return (struct al_policy){ .rules = (struct al_rule *)rules, .count = count };
}

/* The lists of a query, split at spaces; "-" is the empty string. */
static struct al_strv split(const char *words)
{
    struct al_strv list = AL_STRV_INIT;

    while (*words) {
        size_t len = strcspn(words, " ");
        al_auto(al_freep) char *word = al_strndup(words, len);

        al_strv_add(&list, strcmp(word, "-") ? word : "");
        words += len + (words[len] == ' ');
    }
    return list;
}

/* The decision of one rule about a call in mode ask; -1 when it does not match. */
static int ruled(struct al_rule rule, const char *operation, unsigned effects, const char *branches,
                 const char *paths)
{
    struct al_policy policy = policy_of(&rule, 1);
    al_auto(al_strv_clear) struct al_strv branch_list = split(branches);
    al_auto(al_strv_clear) struct al_strv path_list = split(paths);
    const struct al_ruling ruling =
        al_policy_decide(&policy, AL_APPROVAL_ASK,
                         &(struct al_policy_query){ .tool = "git_add",
                                                    .operation = operation,
                                                    .effects = effects,
                                                    .asks = al_effects_change_repository(effects),
                                                    .branches = &branch_list,
                                                    .paths = &path_list });

    return ruling.number ? (int)ruling.decision : -1;
}

static void a_rule_without_conditions_matches_everything(void **state)
{
    (void)state;
    for (int decision = AL_APPROVAL_ASK; decision <= AL_APPROVAL_DENY; decision++) {
        const struct al_rule rule = { .decision = (enum al_approval_mode)decision };

        assert_int_equal(ruled(rule, "add", AL_WRITES_INDEX, "", ""), decision);
        assert_int_equal(ruled(rule, "status", AL_READS, "main", "-"), decision);
    }
}

static void names_of_tools_and_operations_are_globs(void **state)
{
    static const struct {
        const char *tool, *operation;
        bool matches;
    } cases[] = {
        { "git_add", NULL, true },      { "git_*", NULL, true },    { "git_[a-c]dd", NULL, true },
        { NULL, "add", true },          { "git_add", "a*", true },  { "*", "*", true },
        { "git_ad", NULL, false },      { "it_add", NULL, false },  { "GIT_ADD", NULL, false },
        { "git_add", "commit", false }, { "git_c*", "add", false }, { NULL, "ad", false },
        { "git_add", "", false },       { "", NULL, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct al_rule rule = { .tool = (char *)cases[i].tool,
                                      .operation = (char *)cases[i].operation,
                                      .decision = AL_APPROVAL_DENY };

        print_message("# %zu\n", i);
        assert_int_equal(ruled(rule, "add", AL_WRITES_INDEX, "", ""),
                         cases[i].matches ? AL_APPROVAL_DENY : -1);
    }
}

/* For each pattern: whether a rule that denies matches, and whether one that allows matches. */
struct both {
    const char *pattern, *items;
    bool denies, allows;
};

static void any_effect_objects_and_only_all_permit(void **state)
{
    static const struct {
        const char *pattern;
        unsigned effects;
        bool denies, allows;
    } cases[] = {
        { "writes_index", AL_WRITES_INDEX, true, true },
        { "writes_index", AL_WRITES_INDEX | AL_WRITES_REFS, true, false },
        { "writes_refs", AL_WRITES_INDEX | AL_WRITES_REFS, true, false },
        { "writes_*", AL_WRITES_INDEX | AL_WRITES_REFS, true, true },
        { "writes_*", AL_WRITES_WORKTREE | AL_DISCARDS_WORK, true, false },
        { "discards_work", AL_WRITES_WORKTREE | AL_DISCARDS_WORK, true, false },
        { "discards_work", AL_WRITES_WORKTREE, false, false },
        { "reads", AL_READS, true, true },
        { "reads", AL_READS | AL_WRITES_FILES, true, false },
        { "writes_files", AL_READS | AL_WRITES_FILES, true, true },
        { "reads", AL_WRITES_INDEX, false, false },
        { "*", AL_USES_NETWORK | AL_LEAVES_MACHINE, true, true },
        { "nothing*", AL_WRITES_INDEX, false, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct al_rule rule = { .effect = (char *)cases[i].pattern, .decision = AL_APPROVAL_DENY };

        print_message("# %zu %s\n", i, cases[i].pattern);
        assert_int_equal(ruled(rule, "add", cases[i].effects, "", ""),
                         cases[i].denies ? AL_APPROVAL_DENY : -1);
        rule.decision = AL_APPROVAL_ASK;
        assert_int_equal(ruled(rule, "add", cases[i].effects, "", ""),
                         cases[i].denies ? AL_APPROVAL_ASK : -1);
        rule.decision = AL_APPROVAL_ALLOW;
        assert_int_equal(ruled(rule, "add", cases[i].effects, "", ""),
                         cases[i].allows ? AL_APPROVAL_ALLOW : -1);
    }
}

static void check_both(const struct both *cases, size_t count, bool branches)
{
    for (size_t i = 0; i < count; i++) {
        struct al_rule rule = { .decision = AL_APPROVAL_DENY };
        const char *branch_list = branches ? cases[i].items : "";
        const char *path_list = branches ? "" : cases[i].items;

        print_message("# '%s' against '%s'\n", cases[i].pattern, cases[i].items);
        *(branches ? &rule.branch : &rule.path) = (char *)cases[i].pattern;
        assert_int_equal(ruled(rule, "add", AL_WRITES_INDEX, branch_list, path_list),
                         cases[i].denies ? AL_APPROVAL_DENY : -1);
        rule.decision = AL_APPROVAL_ASK;
        assert_int_equal(ruled(rule, "add", AL_WRITES_INDEX, branch_list, path_list),
                         cases[i].denies ? AL_APPROVAL_ASK : -1);
        rule.decision = AL_APPROVAL_ALLOW;
        assert_int_equal(ruled(rule, "add", AL_WRITES_INDEX, branch_list, path_list),
                         cases[i].allows ? AL_APPROVAL_ALLOW : -1);
    }
}

static void any_branch_objects_and_only_all_permit(void **state)
{
    static const struct both cases[] = {
        { "main", "main", true, true },
        { "main", "mainline", false, false },
        { "main", "Main", false, false },
        { "feature/*", "feature/a/b", true, true },
        { "feature/*", "feature/a feature/b", true, true },
        { "feature/*", "feature/a main", true, false },
        { "main", "feature/a main", true, false },
        { "feature/*", "main", false, false },
        { "*", "main", true, true },
        { "*", "", false, false }, /* affects no branch */
        { "HEAD", "HEAD", true, true },
    };

    (void)state;
    check_both(cases, COUNT(cases), true);
}

static void any_path_objects_and_only_all_permit(void **state)
{
    static const struct both cases[] = {
        { "docs/*", "docs/a.txt", true, true },
        { "docs/*", "docs/a/b.txt", true, true },
        { "docs/*", "docs/a.txt docs/b.txt", true, true },
        { "docs/*", "docs/a.txt src/a.c", true, false },
        { "docs/*", "src/docs/a.txt", false, false },
        { "*.pem", "a.txt keys/b.pem", true, false },
        { "*.pem", "b.pem .b.pem", true, true },
        { "*.pem", "b.pem.txt", false, false },
        { "a[0-9].txt", "a1.txt", true, true },
        { "a[0-9].txt", "ax.txt", false, false },
        { "*", "", false, false }, /* affects no path */
    };

    (void)state;
    check_both(cases, COUNT(cases), false);
}

static void a_directory_stands_for_everything_below_it(void **state)
{
    static const struct both cases[] = {
        { "secrets/*", "secrets/", true, true },
        { "secrets/key", "secrets/", true, false },
        { "secrets/deep/*", "secrets/", true, false },
        { "secrets/*", "secrets/deep/", true, true },
        { "secrets", "secrets/", true, false },
        { "*/key", "secrets/", true, false },
        { "*.pem", "keys/", true, false },
        { "s*s/key", "secrets/", true, false },
        { "secrets[/]key", "secrets/", true, false },
        { "secrets\\/key", "secrets/", true, false },
        { "*", "keys/", true, true },
        { "keys/\\*", "keys/", true, false },
        { "secret/*", "secrets/", false, false },
        { "secrets/*", "docs/", false, false },
        { "secrets/*", "docs/ secrets/", true, false },
        { "secrets/key", "other/secrets/", false, false },
    };

    (void)state;
    check_both(cases, COUNT(cases), false);
}

static void everything_is_touched_by_any_pattern_and_covered_by_none(void **state)
{
    static const struct both cases[] = {
        { "secrets/*", "-", true, false },
        { "a.txt", "-", true, false },
        { "*", "-", true, false },
        { "**", "-", true, false },
        { "docs/*", "docs/a -", true, false },
    };

    (void)state;
    check_both(cases, COUNT(cases), false);
}

static void all_conditions_of_a_rule_have_to_hold(void **state)
{
    const struct al_rule rule = { .tool = (char *)"git_add",
                                  .operation = (char *)"add",
                                  .effect = (char *)"writes_index",
                                  .branch = (char *)"main",
                                  .path = (char *)"a.txt",
                                  .decision = AL_APPROVAL_DENY };
    struct al_rule other = rule;

    (void)state;
    assert_int_equal(ruled(rule, "add", AL_WRITES_INDEX, "main", "a.txt"), AL_APPROVAL_DENY);
    assert_int_equal(ruled(rule, "stage", AL_WRITES_INDEX, "main", "a.txt"), -1);
    assert_int_equal(ruled(rule, "add", AL_WRITES_REFS, "main", "a.txt"), -1);
    assert_int_equal(ruled(rule, "add", AL_WRITES_INDEX, "other", "a.txt"), -1);
    assert_int_equal(ruled(rule, "add", AL_WRITES_INDEX, "", "a.txt"), -1);
    assert_int_equal(ruled(rule, "add", AL_WRITES_INDEX, "main", "b.txt"), -1);
    assert_int_equal(ruled(rule, "add", AL_WRITES_INDEX, "main", ""), -1);
    other.tool = (char *)"git_commit";
    assert_int_equal(ruled(other, "add", AL_WRITES_INDEX, "main", "a.txt"), -1);
}

static struct al_ruling decide(const struct al_policy *policy, enum al_approval_mode mode,
                               const char *tool, unsigned effects)
{
    static const struct al_strv none = { .items = NULL };

    return al_policy_decide(
        policy, mode,
        &(struct al_policy_query){ .tool = tool,
                                   .operation = "x",
                                   .effects = effects,
                                   .asks = al_effects_change_repository(effects),
                                   .branches = &none,
                                   .paths = &none });
}

static void the_first_match_decides_and_says_where_it_is(void **state)
{
    static const struct al_rule rules[] = {
        { .tool = (char *)"git_push", .decision = AL_APPROVAL_DENY, .line = 3 },
        { .tool = (char *)"git_*", .decision = AL_APPROVAL_ALLOW, .line = 7 },
        { .tool = (char *)"git_add",
          .decision = AL_APPROVAL_DENY,
          .message = (char *)"never reached",
          .line = 11 },
        { .tool = (char *)"bash*",
          .decision = AL_APPROVAL_ASK,
          .message = (char *)"look twice",
          .line = 15 },
    };
    struct al_policy policy = policy_of(rules, COUNT(rules));
    struct al_ruling ruling;

    (void)state;
    ruling = decide(&policy, AL_APPROVAL_ASK, "git_push", AL_LEAVES_MACHINE);
    assert_int_equal(ruling.decision, AL_APPROVAL_DENY);
    assert_int_equal(ruling.number, 1);
    assert_int_equal(ruling.rule->line, 3);
    assert_null(ruling.rule->message);
    ruling = decide(&policy, AL_APPROVAL_ASK, "git_add", AL_WRITES_INDEX);
    assert_int_equal(ruling.decision, AL_APPROVAL_ALLOW);
    assert_int_equal(ruling.number, 2);
    assert_int_equal(ruling.rule->line, 7);
    ruling = decide(&policy, AL_APPROVAL_ALLOW, "bash_command", AL_RUNS_PROGRAM);
    assert_int_equal(ruling.decision, AL_APPROVAL_ASK);
    assert_int_equal(ruling.number, 4);
    assert_string_equal(ruling.rule->message, "look twice");
    ruling = decide(&policy, AL_APPROVAL_ASK, "other", AL_WRITES_INDEX);
    assert_int_equal(ruling.number, 0);
    assert_null(ruling.rule);
}

static void the_mode_decides_what_changes_and_no_rule_matches(void **state)
{
    static const struct al_policy none = { .rules = NULL };

    (void)state;
    for (int mode = AL_APPROVAL_ASK; mode <= AL_APPROVAL_DENY; mode++) {
        const enum al_approval_mode m = (enum al_approval_mode)mode;

        assert_int_equal(decide(&none, m, "t", AL_WRITES_INDEX).decision, mode);
        assert_int_equal(decide(NULL, m, "t", AL_WRITES_REFS).decision, mode);
        assert_int_equal(decide(&none, m, "t", AL_READS).decision, AL_APPROVAL_ALLOW);
        assert_int_equal(decide(NULL, m, "t", AL_READS | AL_WRITES_FILES).decision,
                         AL_APPROVAL_ALLOW);
    }
}

static void rules_count_in_every_mode(void **state)
{
    (void)state;
    for (int decision = AL_APPROVAL_ASK; decision <= AL_APPROVAL_DENY; decision++) {
        const struct al_rule rule = { .decision = (enum al_approval_mode)decision };
        struct al_policy policy = policy_of(&rule, 1);

        for (int mode = AL_APPROVAL_ASK; mode <= AL_APPROVAL_DENY; mode++) {
            const enum al_approval_mode m = (enum al_approval_mode)mode;

            assert_int_equal(decide(&policy, m, "t", AL_WRITES_INDEX).decision, decision);
            assert_int_equal(decide(&policy, m, "t", AL_READS).decision, decision);
        }
    }
}

static void effects_are_a_closed_list(void **state)
{
    static const char *const good[] = {
        "reads",
        "writes_index",
        "discards_work",
        "rewrites_history",
        "uses_network",
        "writes_files",
        "leaves_machine",
        "writes_*",
        "*",
        "re[a]ds",
    };
    static const char *const bad[] = { "write_index", "Reads", "", "reads ", "writes", "force" };

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(al_policy_check_effect(good[i], NULL), 0);
    for (size_t i = 0; i < COUNT(bad); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(al_policy_check_effect(bad[i], &err), AL_ERR_BAD_ARGS);
        assert_non_null(strstr(err.message, "(valid: reads, writes_index, writes_worktree, "
                                            "discards_work, writes_refs, rewrites_history, "
                                            "writes_config, uses_network, leaves_machine, "
                                            "runs_program, writes_files)"));
    }
}

static void decisions_have_the_words_of_the_configuration(void **state)
{
    (void)state;
    assert_string_equal(al_approval_mode_name(AL_APPROVAL_ASK), "ask");
    assert_string_equal(al_approval_mode_name(AL_APPROVAL_ALLOW), "allow");
    assert_string_equal(al_approval_mode_name(AL_APPROVAL_DENY), "deny");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_without_conditions_matches_everything),
        cmocka_unit_test(names_of_tools_and_operations_are_globs),
        cmocka_unit_test(any_effect_objects_and_only_all_permit),
        cmocka_unit_test(any_branch_objects_and_only_all_permit),
        cmocka_unit_test(any_path_objects_and_only_all_permit),
        cmocka_unit_test(a_directory_stands_for_everything_below_it),
        cmocka_unit_test(everything_is_touched_by_any_pattern_and_covered_by_none),
        cmocka_unit_test(all_conditions_of_a_rule_have_to_hold),
        cmocka_unit_test(the_first_match_decides_and_says_where_it_is),
        cmocka_unit_test(the_mode_decides_what_changes_and_no_rule_matches),
        cmocka_unit_test(rules_count_in_every_mode),
        cmocka_unit_test(effects_are_a_closed_list),
        cmocka_unit_test(decisions_have_the_words_of_the_configuration),
    };

    return cmocka_run_group_tests_name("guard/policy", tests, NULL, NULL);
}
