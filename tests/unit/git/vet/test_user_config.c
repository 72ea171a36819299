// SPDX-License-Identifier: Apache-2.0
/* git/vet/vet.h: few keys of the user's configuration reach a child, and those
 * unchanged. */
#include "base/fs.h"
#include "git/vet/vet.h"
#include "tests/lib/assert.h"
#include "tests/lib/git_fixture.h"

static void wants_identity_and_a_few_settings(void **state)
{
    static const char *const keys[] = {
        "user.name",           "user.email",     "author.name",
        "author.email",        "committer.name", "committer.email",
        "init.defaultbranch",  "core.autocrlf",  "core.quotepath",
        "http.proxy",          "http.sslcainfo", "url.https://example.com/.insteadof",
        "url.a.b.c.insteadof", "safe.directory",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(keys); i++)
        assert_true(al_user_config_wants(keys[i]));
}

static void wants_nothing_that_runs_reads_or_signs(void **state)
{
    static const char *const keys[] = {
        "alias.st",          "core.editor",       "core.pager",
        "core.hookspath",    "core.fsmonitor",    "core.sshcommand",
        "core.excludesfile", "credential.helper", "gpg.program",
        "commit.gpgsign",    "user.signingkey",   "filter.lfs.clean",
        "diff.external",     "include.path",      "includeif.gitdir:x.path",
        "http.extraheader",  "http.cookiefile",   "url.x.pushinsteadof",
        "url.insteadof",     "user.names",        "xuser.name",
        "user.name.x",       "core.autocrlfx",    "",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(keys); i++)
        assert_false(al_user_config_wants(keys[i]));
}

/* What git reads from a file of one value, as it lists it: "key LF value NUL". */
static void assert_round_trip(struct tmpdir *dir, const char *key, const char *value)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT, listed = AL_STR_INIT;
    al_auto(al_freep) char *expected = al_asprintf("%s\n%s", key, value);

    al_user_config_add(&text, key, value);
    tmpdir_write_bytes(dir, "values", text.buf, text.len);
    git_ok(dir, "-c", "alias.listing=!git config -f values --list -z >listed", "listing", NULL);
    assert_int_equal(al_fs_read(dir->fd, "listed", 1u << 20, &listed), 0);
    assert_string_equal(listed.buf, expected);
    assert_int_equal(listed.len, strlen(expected) + 1); /* and nothing after its NUL */
}

static void gives_git_the_very_same_values(void **state)
{
    static const char *const values[] = {
        "plain",
        "",
        "two words",
        " leading",
        "trailing ",
        "\ttab\t",
        "\"quoted\"",
        "\"",
        "back\\slash",
        "ends in \\",
        "two\nlines",
        "\n",
        "\n\nlate",
        "# no comment",
        "; nor this",
        "a # b ; c",
        "C:\\new\\t",
        "[section]",
        "x = y",
        "\\\"\n\\n#;\\",
        "J\xc3\xb6rg",
        "'single'",
        "=",
        "$HOME `id`",
        "tab\there",
        "a\rb",
        "ends in \r",
        "\x01\x7f\x1b[",
        "  \\\\  \"\"  ",
    };

    for (size_t i = 0; i < COUNT(values); i++)
        assert_round_trip(*state, "user.name", values[i]);
}

static void gives_git_the_very_same_names(void **state)
{
    static const char *const names[] = {
        "https://example.com/",
        "a.b.c",
        "with blank",
        "q\"uote",
        "back\\slash",
        "\\\"",
        "UPPER",
        "#;[]=",
        "]",
        "ends in \\",
        " ",
        "a=b",
    };

    for (size_t i = 0; i < COUNT(names); i++) {
        al_auto(al_freep) char *key = al_asprintf("url.%s.insteadof", names[i]);

        assert_round_trip(*state, key, "x: \"y\"");
    }
}

static void keeps_several_values_in_order(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *all = NULL;

    al_user_config_add(&text, "safe.directory", "/one");
    al_user_config_add(&text, "user.name", "N");
    al_user_config_add(&text, "safe.directory", "");
    al_user_config_add(&text, "safe.directory", "/two");
    tmpdir_write(dir, "values", text.buf);
    all = git_output(dir, "config", "-f", "values", "--get-all", "safe.directory", NULL);
    assert_string_equal(all, "/one\n\n/two\n");
}

static void adds_nothing_for_a_key_without_a_section(void **state)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    (void)state;
    al_user_config_add(&text, "nodot", "x");
    assert_int_equal(text.len, 0);
}

static struct tmpdir *home;

static int setup(void **state)
{
    home = tmpdir_new();
    git_fixture_environment(home);
    *state = tmpdir_new();
    git_fixture_init(*state);
    return 0;
}

static int teardown(void **state)
{
    tmpdir_free(*state);
    tmpdir_free(home);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(wants_identity_and_a_few_settings),
        cmocka_unit_test(wants_nothing_that_runs_reads_or_signs),
        cmocka_unit_test(gives_git_the_very_same_values),
        cmocka_unit_test(gives_git_the_very_same_names),
        cmocka_unit_test(keeps_several_values_in_order),
        cmocka_unit_test(adds_nothing_for_a_key_without_a_section),
    };

    return cmocka_run_group_tests_name("gitops/user_config", tests, setup, teardown);
}
