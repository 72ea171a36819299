// SPDX-License-Identifier: Apache-2.0
/* git/environment.h: no key of a repository decides what git runs, whatever its name. */
#include <strings.h>

#include "git/environment.h"
#include "tests/lib/assert.h"
#include "tests/lib/git_fixture.h"

/* "%s" stands for a name of the repository's choosing. */
static const struct row {
    const char *key, *value;
    const char *also; /* "<key>=<value>" set as well, NULL: nothing */
} rows[] = {
    { "filter.%s.clean", "", "filter.%s.required=false" },
    { "filter.%s.smudge", "", "filter.%s.required=false" },
    { "filter.%s.process", "", "filter.%s.required=false" },
    { "filter.%s.required", "false", NULL },
    { "diff.%s.command", "", NULL },
    { "diff.%s.textconv", "", NULL },
    { "diff.%s.binary", "auto", NULL },
    { "diff.%s.xfuncname", "^[[:alpha:]_$]", NULL },
    { "diff.%s.funcname", "^[[:alpha:]_$]", NULL },
    { "merge.%s.driver", "false", NULL },
    { "remote.%s.uploadpack", "git-upload-pack", NULL },
    { "remote.%s.receivepack", "git-receive-pack", NULL },
    { "remote.%s.vcs", "", NULL },
    { "remote.%s.proxy", "", NULL },
    { "credential.%s.helper", "", NULL },
    { "submodule.%s.update", "none", NULL },
    { "submodule.%s.ignore", "dirty", NULL },
    { "trailer.%s.command", ":", NULL },
    { "trailer.%s.cmd", ":", NULL },
    { "pager.%s", "false", NULL },
    { "branch.%s.mergeoptions", "", NULL },
    { "branch.%s.rebase", "false", NULL },
    { "gpg.%s.program", "/bin/false", NULL },
    { "pretty.%s", "medium", NULL },
    { "alias.%s", "", NULL },
    { "difftool.%s.cmd", "false", NULL },
    { "difftool.%s.path", "false", NULL },
    { "mergetool.%s.cmd", "false", NULL },
    { "mergetool.%s.path", "false", NULL },
    { "browser.%s.cmd", "false", NULL },
    { "browser.%s.path", "false", NULL },
    { "man.%s.cmd", "false", NULL },
    { "man.%s.path", "false", NULL },
    { "guitool.%s.cmd", "false", NULL },
    { "guitool.%s.path", "false", NULL },
};

/* A row's text with the name in its place.  Caller frees. */
static char *named(const char *form, const char *name)
{
    const char *at = strstr(form, "%s");

    return al_asprintf("%.*s%s%s", (int)(at - form), form, name, at + 2);
}

/* Which pairs a key gives, as "key=value " each; NULL when it is left alone.  Caller frees. */
static char *pairs_of(const char *key, bool is_driver)
{
    al_auto(al_strv_clear) struct al_strv pairs = AL_STRV_INIT;
    struct al_str text = AL_STR_INIT;

    assert_int_equal(al_overrides_add_for(&pairs, key), is_driver);
    assert_int_equal(pairs.count % 2, 0);
    for (size_t i = 0; i < pairs.count; i += 2)
        al_str_addf(&text, "%s=%s ", pairs.items[i], pairs.items[i + 1]);
    return pairs.count ? al_str_detach(&text) : NULL;
}

static void gives_every_driver_key_a_neutral_value(void **state)
{
    static const char *const names[] = {
        "lfs", "a=b", "a.b.c", "UPPER.Case", "with blank", "*", "[x]", "q\"u\\o", "-x", "é",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows) * COUNT(names); i++) {
        const struct row *row = &rows[i / COUNT(names)];
        const char *name = names[i % COUNT(names)];
        al_auto(al_freep) char *key = named(row->key, name);
        al_auto(al_freep) char *also = row->also ? named(row->also, name) : al_strdup("");
        al_auto(al_freep) char *expected =
            al_asprintf("%s=%s %s%s", key, row->value, also, *also ? " " : "");
        al_auto(al_freep) char *pairs = pairs_of(key, true);

        assert_non_null(pairs);
        assert_string_equal(pairs, expected);
    }
}

static void leaves_near_misses_alone(void **state)
{
    static const char *const keys[] = {
        "filter.clean",       /* no name */
        "filter.x.cleaner",   /* longer */
        "filter.x.clea",      /* shorter */
        "filters.x.clean",    /* another section */
        "xfilter.x.clean",    /* the section's end only */
        "filter.x.clean.not", /* the name goes on */
        "diff.x.wordregex",
        "diff.x.binaries",
        "diff.external",
        "merge.x.name",
        "remote.x.url",
        "remote.x.fetch",
        "remote.pushdefault",
        "credential.helpers",
        "credential.x.username",
        "submodule.x.url",
        "submodule.x.path",
        "trailer.x.key",
        "branch.x.merge",
        "branch.x.remote",
        "gpg.x.programs",
        "hook.x.parallel",
        "core.pagers",
        "core.aliases",
        "difftool.cmd",
        "user.name",
        "nodot",
        "",
        "pager",
        "alias",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(keys); i++) {
        al_auto(al_freep) char *pairs = pairs_of(keys[i], false);

        if (pairs)
            print_message("# %s: %s\n", keys[i], pairs);
        assert_null(pairs);
    }
}

/* Keys without a name of anybody's choosing. */
static const struct row settings[] = {
    { "core.fsmonitor", "", NULL },
    { "core.pager", "cat", NULL },
    { "core.editor", ":", NULL },
    { "sequence.editor", ":", NULL },
    { "core.sshcommand", "ssh", NULL },
    { "core.askpass", "", NULL },
    { "core.alternaterefscommand", ":", NULL },
    { "credential.helper", "", NULL },
    { "interactive.difffilter", "", NULL },
    { "gpg.program", "/bin/false", NULL },
    { "gpg.openpgp.program", "/bin/false", NULL },
    { "gpg.x509.program", "/bin/false", NULL },
    { "gpg.ssh.program", "/bin/false", NULL },
    { "gpg.ssh.defaultkeycommand", "", NULL },
    { "commit.gpgsign", "false", NULL },
    { "log.showsignature", "false", NULL },
    { "diff.submodule", "short", NULL },
    { "submodule.recurse", "false", NULL },
    { "commit.template", "", NULL },
    { "mailmap.file", "/dev/null", NULL },
    { "diff.orderfile", "/dev/null", NULL },
    { "format.pretty", "medium", NULL },
    { "color.ui", "false", NULL },
    { "status.short", "false", NULL },
    { "diff.noprefix", "false", NULL },
    /* a diff that a user is shown is the whole diff */
    { "diff.relative", "false", NULL },
    /* a message that was approved is the one that is recorded */
    { "commit.cleanup", "whitespace", NULL },
    { "i18n.commitencoding", "UTF-8", NULL },
};

static void answers_settings_without_counting_them_as_drivers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(settings); i++) {
        al_auto(al_freep) char *expected =
            al_asprintf("%s=%s ", settings[i].key, settings[i].value);
        al_auto(al_freep) char *pairs = pairs_of(settings[i].key, false);

        if (!pairs)
            print_message("# %s is left alone\n", settings[i].key);
        assert_non_null(pairs);
        assert_string_equal(pairs, expected);
    }
}

static void switches_configured_hooks_off(void **state)
{
    static const char *const keys[] = { "hook.a.B.command", "hook.a.B.event" };

    (void)state;
    for (size_t i = 0; i < COUNT(keys); i++) {
        al_auto(al_freep) char *pairs = pairs_of(keys[i], true);

        assert_string_equal(pairs, "hook.a.B.enabled=false ");
    }
}

static void answers_a_key_once_however_often_it_is_set(void **state)
{
    al_auto(al_strv_clear) struct al_strv pairs = AL_STRV_INIT;

    (void)state;
    assert_true(al_overrides_add_for(&pairs, "filter.x.clean"));
    assert_false(al_overrides_add_for(&pairs, "filter.x.clean"));
    assert_int_equal(pairs.count, 4);
    assert_true(al_overrides_add_for(&pairs, "filter.x.smudge"));
    assert_true(al_overrides_add_for(&pairs, "filter.X.clean")); /* another driver */
    assert_int_equal(pairs.count, 4 + 2 + 4);
    assert_false(al_overrides_add_for(&pairs, "core.pager"));
    assert_false(al_overrides_add_for(&pairs, "core.pager"));
    assert_int_equal(pairs.count, 4 + 2 + 4 + 2);
}

static const char *value_of(const struct al_strv *pairs, const char *key)
{
    for (size_t i = 0; i < pairs->count; i += 2)
        if (!strcmp(pairs->items[i], key))
            return pairs->items[i + 1];
    fail_msg("%s is not set", key);
    return NULL;
}

static void always_sets_what_git_would_do_otherwise(void **state)
{
    al_auto(al_strv_clear) struct al_strv pairs = AL_STRV_INIT;

    (void)state;
    al_overrides_add_always(&pairs, "/x/ignore", "/x/attributes");
    assert_string_equal(value_of(&pairs, "core.excludesfile"), "/x/ignore");
    assert_string_equal(value_of(&pairs, "core.attributesfile"), "/x/attributes");
    assert_string_equal(value_of(&pairs, "core.hookspath"), "/dev/null");
    assert_string_equal(value_of(&pairs, "diff.ignoresubmodules"), "dirty");
    al_overrides_add_writing(&pairs);
    assert_string_equal(value_of(&pairs, "user.useconfigonly"), "true");
    assert_string_equal(value_of(&pairs, "gc.auto"), "0");
    assert_string_equal(value_of(&pairs, "maintenance.auto"), "false");
    assert_int_equal(pairs.count % 2, 0);
    for (size_t i = 0; i < pairs.count; i += 2) /* no later pair takes an earlier one back */
        for (size_t k = i + 2; k < pairs.count; k += 2)
            assert_true(strcasecmp(pairs.items[i], pairs.items[k]) != 0);
}

/* What git itself makes of `key` when the pairs are handed over as for a child.  Caller frees. */
static char *git_says(struct tmpdir *repo, const struct al_strv *pairs, const char *key)
{
    al_auto(al_freep) char *count = al_asprintf("%zu", pairs->count / 2);
    char *said;

    for (size_t i = 0; i < pairs->count; i++) {
        al_auto(al_freep) char *name =
            al_asprintf("GIT_CONFIG_%s_%zu", i % 2 ? "VALUE" : "KEY", i / 2);

        assert_int_equal(setenv(name, pairs->items[i], 1), 0);
    }
    assert_int_equal(setenv("GIT_CONFIG_COUNT", count, 1), 0);
    said = git_output(repo, "config", "--get", key, NULL);
    unsetenv("GIT_CONFIG_COUNT");
    return said;
}

static void wins_over_the_repository_whatever_the_driver_is_called(void **state)
{
    static const char *const names[] = { "a=b", "a.b", "UPPER", "sp ace", "q\"\\", "=" };
    struct tmpdir *home = tmpdir_new(), *repo = tmpdir_new();

    (void)state;
    git_fixture_environment(home);
    git_fixture_init(repo);
    for (size_t i = 0; i < COUNT(names); i++) {
        al_auto(al_freep) char *key = named("diff.%s.textconv", names[i]);
        al_auto(al_strv_clear) struct al_strv pairs = AL_STRV_INIT;
        al_auto(al_freep) char *before = NULL, *after = NULL;

        git_ok(repo, "config", key, "evil", NULL);
        before = git_output(repo, "config", "--get", key, NULL);
        assert_string_equal(before, "evil\n");
        assert_true(al_overrides_add_for(&pairs, key));
        after = git_says(repo, &pairs, key);
        assert_string_equal(after, "\n");
    }
    tmpdir_free(repo);
    tmpdir_free(home);
}

static void is_accepted_by_git_as_a_whole(void **state)
{
    struct tmpdir *home = tmpdir_new(), *repo = tmpdir_new();
    al_auto(al_strv_clear) struct al_strv pairs = AL_STRV_INIT;

    (void)state;
    git_fixture_environment(home);
    git_fixture_init(repo);
    for (size_t i = 0; i < COUNT(settings); i++)
        (void)al_overrides_add_for(&pairs, settings[i].key);
    al_overrides_add_always(&pairs, "/dev/null", "/dev/null");
    al_overrides_add_writing(&pairs);
    for (size_t i = 0; i < pairs.count; i += 2) {
        al_auto(al_freep) char *said = git_says(repo, &pairs, pairs.items[i]);
        al_auto(al_freep) char *expected = al_asprintf("%s\n", pairs.items[i + 1]);

        assert_string_equal(said, expected);
    }
    git_ok(repo, "status", NULL);
    tmpdir_free(repo);
    tmpdir_free(home);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_every_driver_key_a_neutral_value),
        cmocka_unit_test(leaves_near_misses_alone),
        cmocka_unit_test(answers_settings_without_counting_them_as_drivers),
        cmocka_unit_test(switches_configured_hooks_off),
        cmocka_unit_test(answers_a_key_once_however_often_it_is_set),
        cmocka_unit_test(always_sets_what_git_would_do_otherwise),
        cmocka_unit_test(wins_over_the_repository_whatever_the_driver_is_called),
        cmocka_unit_test(is_accepted_by_git_as_a_whole),
    };

    return cmocka_run_group_tests_name("gitops/overrides", tests, NULL, NULL);
}
