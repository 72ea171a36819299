// SPDX-License-Identifier: Apache-2.0
/* tests/tables/self_check.c, operations: for every rule one broken table, and a sound one next to
 * it. */
#include "tests/unit/call/check_lib.h"

static bool applies(const struct al_call *call, const void *args)
{
    (void)call;
    (void)args;
    return true;
}

static void finds_in_operations(const struct al_operation *rows, size_t count, bool with_summary,
                                const char *expected)
{
    struct al_tool tool = sound_tool();

    tool.operations = rows;
    tool.noperations = count;
    tool.summarize = with_summary ? summarize : NULL;
    finds(&tool, expected);
}

static bool holds(struct al_call *call)
{
    (void)call;
    return true;
}

static void stricter_operations(void **state)
{
    static const char bad[] = "stricter operation 'drop' has effects that only an operation has";
    const struct al_operation rows[] = {
        { "drop", applies, AL_WRITES_REFS, execute, AL_ASKS_NEVER },
        { "list", NULL, AL_READS, execute, AL_ASKS_NEVER },
    };
    const struct al_stricter sound = { "drop", holds, "for x", AL_LEAVES_MACHINE };
    struct al_stricter stricter[] = { sound, sound, sound, sound, sound, sound };
    const char *const faults[] = {
        NULL,
        NULL,
        bad,
        "stricter operation 'none' is stricter than no operation",
        "stricter operation 'drop' does not say when it holds",
        "stricter operation 'drop' does not say when it holds",
    };

    (void)state;
    stricter[1].operation = NULL; /* all that change something */
    stricter[2].effects = 1u << AL_EFFECT_COUNT;
    stricter[3].operation = "none";
    stricter[4].holds = NULL;
    stricter[5].condition = NULL;
    for (size_t i = 0; i < COUNT(stricter); i++) {
        struct al_tool tool = sound_tool();

        tool.operations = rows;
        tool.noperations = COUNT(rows);
        tool.summarize = summarize;
        tool.stricter = &stricter[i];
        tool.nstricter = 1;
        finds(&tool, faults[i]);
    }
}

static void operations(void **state)
{
    const struct al_operation first = { "drop", applies, AL_WRITES_REFS, execute,
                                        AL_ASKS_BY_EFFECTS };
    const struct al_operation last = { "list", NULL, AL_READS, execute, AL_ASKS_BY_EFFECTS };
    struct al_operation rows[] = { first, last };

    (void)state;
    finds_in_operations(rows, 2, true, NULL);
    finds_in_operations(rows, 0, true, "tool 'sample_tool-1' has no operations");
    finds_in_operations(rows, 1, true, "operation 'drop' is the last and has a condition");
    rows[0].applies = NULL;
    finds_in_operations(rows, 2, true, "operation 'drop' has no condition and is not the last");
    rows[0] = first;
    rows[0].name = "list";
    finds_in_operations(rows, 2, true, NULL); /* one operation, which may have more effects */
    rows[0].effects = last.effects;
    finds_in_operations(rows, 2, true, "operation 'list' is there twice");
    rows[0].effects = first.effects;
    rows[0].name = "Drop it";
    finds_in_operations(
        rows, 2, true,
        "operation 'Drop it' has a name that is not lower case, digits and underscores");
    rows[0].name = NULL;
    finds_in_operations(rows, 2, true,
                        "operation '' has a name that is not lower case, digits and underscores");
    rows[0] = first;
    rows[0].effects = 0;
    finds_in_operations(rows, 2, true, "operation 'drop' has no effects, or unknown ones");
    rows[0].effects = 1u << AL_EFFECT_COUNT;
    finds_in_operations(rows, 2, true, "operation 'drop' has no effects, or unknown ones");
    rows[0] = first;
    rows[0].execute = NULL;
    finds_in_operations(rows, 2, true, "operation 'drop' does nothing");
}

static void what_needs_approval_needs_a_summary(void **state)
{
    static const char fault[] =
        "operation 'run' changes the repository, and the tool has no summary";
    struct al_operation row = { "run", NULL, AL_READS, execute, AL_ASKS_BY_EFFECTS };

    (void)state;
    finds_in_operations(&row, 1, false, NULL);
    row.effects = AL_DISCARDS_WORK;
    finds_in_operations(&row, 1, false, fault);
    finds_in_operations(&row, 1, true, NULL);
    row.effects = AL_WRITES_INDEX;
    finds_in_operations(&row, 1, false, fault);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations),
        cmocka_unit_test(stricter_operations),
        cmocka_unit_test(what_needs_approval_needs_a_summary),
    };

    return cmocka_run_group_tests_name("tool/check_operations", tests, NULL, NULL);
}
