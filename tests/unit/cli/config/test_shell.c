// SPDX-License-Identifier: Apache-2.0
/* cli/config/config.h, [tools.shell]: the whitelist, the timeout and the isolation. */
#include "guard/program.h"
#include "tests/unit/cli/config/lib.h"

static void has_the_standard_list(void **state)
{
    struct al_config config;
    size_t count = 0;

    (void)state;
    al_config_init(&config);
    while (al_whitelist_standard[count])
        count++;
    assert_int_equal(config.shell.whitelist.count, count);
    assert_int_equal(count, 12);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(al_whitelist_check(al_whitelist_standard[i], NULL), 0);
    assert_int_equal(config.shell.timeout_s, 30);
    assert_int_equal(config.shell.isolation, AL_ISOLATION_AUTO);
    al_config_clear(&config);
}

static void takes_names_of_commands(void **state)
{
    static const char *const good[] = { "ls", "g++", "python3.11", "foo_bar", "apt-get", "7z" };
    static const char *const bad[] = { "",   "/bin/ls", "./x",  "a b",   "a;b",
                                       "-x", ".",       "..",   "rm",    "mv",
                                       "cp", "su",      "sudo", "chmod", "chown",
                                       "sh", "bash",    "curl", "wget",  "\xc3\xa4" };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(good); i++)
        assert_int_equal(al_whitelist_check(good[i], NULL), 0);
    for (size_t i = 0; i < AL_COUNT(bad); i++)
        assert_int_equal(al_whitelist_check(bad[i], NULL), AL_ERR_BAD_ARGS);
}

static void refuses_what_is_out_of_bounds(void **state)
{
    assert_refuses(state, "[tools.shell]\ncommand_timeout = 0",
                   "2: tools.shell.command_timeout: must be between 1 and 600");
    assert_refuses(state, "[tools.shell]\ncommand_timeout = 601",
                   "2: tools.shell.command_timeout: must be between 1 and 600");
    assert_refuses(state, "[tools.shell]\ncommand_whitelist = [\"ls\", \"rm\"]",
                   "2: tools.shell.command_whitelist: 'rm' is always refused");
    assert_refuses(state, "[tools.shell]\nisolation = \"bwrap\"",
                   "2: tools.shell.isolation: must be 'auto', 'landlock', 'firejail' or 'none'");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_standard_list),
        cmocka_unit_test(takes_names_of_commands),
        cmocka_unit_test(refuses_what_is_out_of_bounds),
    };

    return cmocka_run_group_tests_name("config/shell", tests, setup, teardown);
}
