// SPDX-License-Identifier: Apache-2.0
/* proc/confine.h: a ruleset is stale once one of its paths names another inode. */
#include "proc/confine.h"

#include <unistd.h>

#include "tests/lib/tmpdir.h"
#include "tests/unit/proc/lib.h"

static void this_kernel_has_landlock(void **state)
{
    (void)state;
    assert_true(al_confine_abi() >= 1);
    assert_int_equal(al_confine_abi(), al_confine_abi());
}

/* One rule on a path of the scratch directory. */
static int build(struct tmpdir *dir, const char *name, unsigned rights, bool optional,
                 int *ret_ruleset_fd, struct al_error *err)
{
    al_auto(al_freep) char *path = tmpdir_path(dir, name);
    const struct al_confine_rule rules[] = {
        { .path = "/usr/lib", .rights = AL_RIGHT_READ },
        { .path = path, .rights = rights, .optional = optional },
    };

    return al_ruleset_new(rules, COUNT(rules), false, ret_ruleset_fd, err);
}

static void refuses_a_missing_path_that_is_not_optional(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    int ruleset_fd = 0;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int before = count_descriptors();

    (void)state;
    assert_int_equal(build(dir, "absent", AL_RIGHT_READ, false, &ruleset_fd, &err),
                     AL_ERR_EXECUTION);
    assert_non_null(strstr(err.message, "/absent'"));
    assert_int_equal(ruleset_fd, 0);
    assert_int_equal(count_descriptors(), before);
    tmpdir_free(dir);
}

static void refuses_rights_of_files_on_directories(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    int ruleset_fd = 0;

    (void)state;
    tmpdir_mkdir(dir, "bin");
    assert_int_equal(build(dir, "bin", AL_RIGHT_EXECUTE, false, &ruleset_fd, NULL),
                     AL_ERR_EXECUTION);
    assert_int_equal(build(dir, "bin", AL_RIGHT_WRITE_FILE, false, &ruleset_fd, NULL),
                     AL_ERR_EXECUTION);
    assert_int_equal(build(dir, "bin", AL_RIGHT_READ | AL_RIGHT_WRITE, false, &ruleset_fd, NULL),
                     0);
    al_ruleset_free(ruleset_fd);
    al_ruleset_free(0);
    tmpdir_free(dir);
}

/* To a child 0 says that there is no ruleset, so a ruleset must not get it. */
static void is_never_the_number_of_a_closed_input(void **state)
{
    const struct al_confine_rule rule = { .path = "/usr/lib", .rights = AL_RIGHT_READ };
    const int input = dup(STDIN_FILENO);
    int ruleset_fd = 0, control, r;

    (void)state;
    assert_true(input > 0 && close(STDIN_FILENO) == 0);
    control = dup(input); /* what is opened next gets it */
    assert_int_equal(close(STDIN_FILENO), 0);
    r = al_ruleset_new(&rule, 1, false, &ruleset_fd, NULL);
    assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
    close(input);
    assert_int_equal(control, STDIN_FILENO);
    assert_int_equal(r, AL_ERR_EXECUTION);
    assert_int_equal(ruleset_fd, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_kernel_has_landlock),
        cmocka_unit_test(refuses_a_missing_path_that_is_not_optional),
        cmocka_unit_test(refuses_rights_of_files_on_directories),
        cmocka_unit_test(is_never_the_number_of_a_closed_input),
    };

    return cmocka_run_group_tests_name("proc/confine", tests, NULL, NULL);
}
