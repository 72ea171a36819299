// SPDX-License-Identifier: Apache-2.0
/* guard/env.h: a child gets the variables chosen for it, and never a secret. */
#include "guard/env.h"

#include "tests/lib/assert.h"

static const char *const secrets[] = {
    "API_KEY",     "api_key",    "GITHUB_TOKEN", "github_Token",   "CLIENT_SECRET",
    "Db_PassWord", "AWS_REGION", "aws_profile",  "ANTHROPIC_X",    "OpenAI_Base",
    "_KEY",        "AWS_",       "A_B_TOKEN",    "OPENAI_API_KEY",
};

static const char *const harmless[] = {
    "MY_VAR", "KEY",      "TOKEN", "KEYBOARD", "MONKEY", "TOKEN_COUNT", "PASSWORD", "SECRETS",
    "LAWS_X", "XOPENAI_", "LANG",  "TZ",       "_",      "a1",          "EMAIL",    "AWS",
};

static void secrets_are_known_by_name_in_any_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(secrets); i++)
        assert_true(al_env_is_secret(secrets[i]));
    for (size_t i = 0; i < COUNT(harmless); i++)
        assert_false(al_env_is_secret(harmless[i]));
}

static void ordinary_names_may_be_allowed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(harmless); i++)
        assert_int_equal(al_env_check_allowed(harmless[i], NULL), 0);
}

static void names_that_steer_git_or_hide_secrets_may_not(void **state)
{
    static const char *const refused[] = {
        "GIT_DIR",
        "GIT_SSH_COMMAND",
        "git_dir",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "ld_audit",
        "SSH_ASKPASS",
        "Path",
        "PATH",
        "HOME",
        "LC_ALL",
        "TERM",
        "TMPDIR",
        "GOPATH",
        "SSH_ASKPASS_REQUIRE",
        "BASH_ENV",
        "GCONV_PATH",
        "EDITOR",
        "XDG_CONFIG_HOME",
        "GLIBC_TUNABLES",
        "",
        "1A",
        "A-B",
        "A B",
        "A=B",
        "ÄPFEL",
        "A\n",
        "OPENSSL_CONF",
        "GIT_",
        "LD_",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        if (al_env_check_allowed(refused[i], NULL) != AL_ERR_BAD_ARGS)
            fail_msg("allowed: %s", refused[i]);
    }
    for (size_t i = 0; i < COUNT(secrets); i++)
        assert_int_equal(al_env_check_allowed(secrets[i], NULL), AL_ERR_BAD_ARGS);
}

static void a_refusal_names_the_variable_safely(void **state)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    (void)state;
    assert_int_equal(al_env_check_allowed("MY_TOKEN", &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "'MY_TOKEN' looks like a secret and never reaches a child");
    assert_int_equal(al_env_check_allowed("A\033[31m\nB", &err), AL_ERR_BAD_ARGS);
    assert_non_null(strstr(err.message, "'A<U+000A>B' is not a variable name"));
}

static void only_allowed_names_that_are_set_pass(void **state)
{
    static char one[] = "ONE=1", empty[] = "EMPTY=", more[] = "ONE_MORE=no", odd[] = "ODD";
    static char twice[] = "ONE=second", equals[] = "EQ=a=b";
    char *const ours[] = { more, odd, one, empty, twice, equals, NULL };
    al_auto(al_strv_clear) struct al_strv allow = AL_STRV_INIT, env = AL_STRV_INIT;

    (void)state;
    al_strv_adds(&allow, "ONE", "EMPTY", "ODD", "ABSENT", "EQ", "ONE", NULL);
    al_env_add(&env, "PATH", "/usr/bin");
    al_env_add_allowed(&env, &allow, ours);
    assert_int_equal(env.count, 4);
    assert_string_equal(env.items[0], "PATH=/usr/bin");
    assert_string_equal(env.items[1], "ONE=1");
    assert_string_equal(env.items[2], "EMPTY=");
    assert_string_equal(env.items[3], "EQ=a=b");
}

static void a_secret_on_the_allow_list_still_does_not_pass(void **state)
{
    static char token[] = "MY_TOKEN=x", git[] = "GIT_DIR=/x", path[] = "PATH=/evil";
    char *const ours[] = { token, git, path, NULL };
    al_auto(al_strv_clear) struct al_strv allow = AL_STRV_INIT, env = AL_STRV_INIT;

    (void)state;
    al_strv_adds(&allow, "MY_TOKEN", "GIT_DIR", "PATH", NULL);
    al_env_add_allowed(&env, &allow, ours);
    assert_int_equal(env.count, 0);
}

static void what_airlock_has_set_is_not_set_twice(void **state)
{
    static char theirs[] = "MINE=theirs";
    char *const ours[] = { theirs, NULL };
    al_auto(al_strv_clear) struct al_strv allow = AL_STRV_INIT, env = AL_STRV_INIT;

    (void)state;
    al_strv_add(&allow, "MINE");
    al_env_add(&env, "MINE", "ours");
    al_env_add_allowed(&env, &allow, ours);
    assert_int_equal(env.count, 1);
    assert_string_equal(env.items[0], "MINE=ours");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_are_known_by_name_in_any_case),
        cmocka_unit_test(ordinary_names_may_be_allowed),
        cmocka_unit_test(names_that_steer_git_or_hide_secrets_may_not),
        cmocka_unit_test(a_refusal_names_the_variable_safely),
        cmocka_unit_test(only_allowed_names_that_are_set_pass),
        cmocka_unit_test(a_secret_on_the_allow_list_still_does_not_pass),
        cmocka_unit_test(what_airlock_has_set_is_not_set_twice),
    };

    return cmocka_run_group_tests_name("guard/env", tests, NULL, NULL);
}
