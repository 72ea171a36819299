// SPDX-License-Identifier: Apache-2.0
/* Names in another spelling, and with typing errors. */
#include "base/nearest.h"
#include "call/registry.h"
#include "tests/lib/assert.h"

struct args {
    const char *new_name, *cwd, *working_dir, *path;
};

static const struct al_param new_name =
    AL_STRING_AS(struct args, new_name, "newName", "x", .max_bytes = 1);
static const struct al_param timeout_ms =
    AL_STRING_AS(struct args, path, "timeout_ms", "x", .max_bytes = 1);
static const struct al_param cwd = AL_STRING(struct args, cwd, "x", .max_bytes = 1);
static const struct al_param working_dir = AL_STRING(struct args, working_dir, "x", .max_bytes = 1);

static void a_parameter_is_known_by_both_spellings(void **state)
{
    static const struct {
        const struct al_param *param;
        const char *name;
        bool expected;
    } cases[] = {
        { &new_name, "newName", true },
        { &new_name, "new_name", true },
        { &new_name, "newname", false },
        { &new_name, "NewName", false },
        { &new_name, "new_Name", false },
        { &new_name, "NEW_NAME", false },
        { &new_name, "", false },
        { &timeout_ms, "timeout_ms", true },
        { &timeout_ms, "timeoutMs", true },
        { &timeout_ms, "timeoutMS", false },
        { &cwd, "cwd", true },
        { &cwd, "working_dir", true },
        { &cwd, "workingDir", true },
        { &cwd, "wd", false },
        { &cwd, "Cwd", false },
        { &working_dir, "cwd", true },
        { &working_dir, "workingDir", true },
        { &working_dir, "working-dir", false },
        { &working_dir, "dir", false },
        { &working_dir, "cwdir", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (al_param_is_called(cases[i].param, cases[i].name) != cases[i].expected)
            fail_msg("%s, %s", cases[i].param->name, cases[i].name);
}

static const struct al_tool status = { .name = "git_status" }, stash = { .name = "git_stash" },
                            show = { .name = "git_show" }, blame = { .name = "git_blame" },
                            bash = { .name = "bash_command" };
static struct al_listed_tool listed[] = { { .tool = &status },
                                          { .tool = &stash },
                                          { .tool = &show },
                                          { .tool = &blame },
                                          { .tool = &bash } };
static const struct al_registry registry = { .items = listed, .count = COUNT(listed) };

static void the_nearest_tool_is_found(void **state)
{
    static const struct {
        const char *name, *expected;
    } cases[] = {
        { "git_stauts", "git_status" },
        { "git-status", "git_status" },
        { "gitStatus", "git_status" },
        { "GIT_STATUS", "git_status" },
        { "status", "git_status" },
        { "mcp__airlock__git_status", "git_status" },
        { "mcp__git__show", "git_show" },
        { "git_stash_", "git_stash" },
        { "git_blast", "git_blame" },
        { "bashCommand", "bash_command" },
        { "nope", NULL },
        { "git_x", NULL },
        { "git", NULL },
        { "", NULL },
        { "__", NULL },
        { "git_rebase_interactive", NULL },
    };
    al_auto(al_freep) char *endless = al_malloc(100001);

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *found = al_registry_nearest(&registry, NULL, cases[i].name);

        if ((found != NULL) != (cases[i].expected != NULL) ||
            (found && strcmp(found, cases[i].expected) != 0))
            fail_msg("%s: %s", cases[i].name, found ? found : "none");
    }
    memset(endless, 's', 100000);
    endless[100000] = '\0';
    assert_null(al_registry_nearest(&registry, NULL, endless));
}

static void the_nearest_word_wins_and_far_ones_do_not_count(void **state)
{
    struct al_nearest nearest = { .word = "--rot" };

    (void)state;
    al_nearest_offer(&nearest, "--help");
    assert_null(nearest.found);
    al_nearest_offer(&nearest, "--robots");
    assert_null(nearest.found);
    al_nearest_offer(&nearest, "--roots");
    assert_string_equal(nearest.found, "--roots");
    al_nearest_offer(&nearest, "--root");
    assert_string_equal(nearest.found, "--root");
    al_nearest_offer(&nearest, "--rook");
    assert_string_equal(nearest.found, "--root");
    nearest = (struct al_nearest){ .word = "ls" };
    al_nearest_offer(&nearest, "log"); /* a different word */
    assert_null(nearest.found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parameter_is_known_by_both_spellings),
        cmocka_unit_test(the_nearest_tool_is_found),
        cmocka_unit_test(the_nearest_word_wins_and_far_ones_do_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
