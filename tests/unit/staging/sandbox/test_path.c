// SPDX-License-Identifier: Apache-2.0
/* staging/sandbox/path.c: the paths that agents give. */
#include <limits.h>

#include "tests/unit/staging/sandbox/sandbox_lib.h"

static void strips_the_zone(void **state)
{
    static const struct {
        const char *given, *expected;
    } cases[] = {
        { "/workspace", "" },
        { "/workspace/", "" },
        { "/workspace/a", "a" },
        { "/workspace/a/", "a" },
        { "/workspace/a/b c/d.md", "a/b c/d.md" },
        { "/workspace/.gitignore", ".gitignore" },
        { "/workspace/.github/workflows/ci.yml", ".github/workflows/ci.yml" },
        { "/workspace/a..b/...", "a..b/..." },
        { "/workspace/-x", "-x" },
        { "/workspace/\xc3\xa4", "\xc3\xa4" },
        { "/workspace/*.md", "*.md" },
        { "/workspace/workspace", "workspace" },
        { "/workspace/.airlock-1", ".airlock-1" },
        { "/workspace/x/.airlock/a-1-2", "x/.airlock/a-1-2" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct al_error err = AL_ERROR_INIT;
        al_auto(al_freep) char *path = NULL;

        assert_int_equal(al_sandbox_path(cases[i].given, &path, &err), 0);
        assert_string_equal(path, cases[i].expected);
    }
}

static void refuses_other_paths(void **state)
{
    static const struct {
        const char *given;
        int status;
        const char *words;
    } cases[] = {
        { "", AL_ERR_BAD_ARGS, "begins with /workspace/" },
        { "a", AL_ERR_BAD_ARGS,
          "'a' is no path of the sandbox; such a path begins with /workspace/" },
        { "workspace/a", AL_ERR_BAD_ARGS, "begins with /workspace/" },
        { "/", AL_ERR_SANDBOX,
          "Path outside sandbox: / (paths of the sandbox begin with /workspace/)" },
        { "/etc/passwd", AL_ERR_SANDBOX, "Path outside sandbox: /etc/passwd" },
        { "/workspacex/a", AL_ERR_SANDBOX, "Path outside sandbox" },
        { "/Workspace/a", AL_ERR_SANDBOX, "Path outside sandbox" },
        { "//workspace/a", AL_ERR_SANDBOX, "Path outside sandbox" },
        { "/workspace/..", AL_ERR_SANDBOX, "'.' or '..' component" },
        { "/workspace/../etc/passwd", AL_ERR_SANDBOX, "'.' or '..' component" },
        { "/workspace/a/../../etc", AL_ERR_SANDBOX, "'.' or '..' component" },
        { "/workspace/./a", AL_ERR_SANDBOX, "'.' or '..' component" },
        { "/workspace/a/.", AL_ERR_SANDBOX, "'.' or '..' component" },
        { "/workspace/.airlock-1-0", AL_ERR_BAD_ARGS, "its temporary files" },
        { "/workspace/.airlock-12-3/a", AL_ERR_BAD_ARGS, "its temporary files" },
        { "/workspace//", AL_ERR_BAD_ARGS, "empty component" },
        { "/workspace//a", AL_ERR_BAD_ARGS, "empty component" },
        { "/workspace/a//b", AL_ERR_BAD_ARGS, "empty component" },
        { "/workspace/a//", AL_ERR_BAD_ARGS, "empty component" },
        { "/workspace/a\nb", AL_ERR_BAD_ARGS, "control character" },
        { "/workspace/a\x1b[2J", AL_ERR_BAD_ARGS, "control character" },
        { "/workspace/a\x7f", AL_ERR_BAD_ARGS, "control character" },
        { "/workspace/a\xc2\x9b", AL_ERR_BAD_ARGS, "control character" },
        { "/workspace/.git", AL_ERR_SANDBOX, "Protected path: /workspace/.git" },
        { "/workspace/.git/config", AL_ERR_SANDBOX, "Protected path" },
        { "/workspace/a/.GIT/hooks/x", AL_ERR_SANDBOX, "Protected path" },
        { "/workspace/.Git", AL_ERR_SANDBOX, "Protected path" },
        { "/workspace/git~1/x", AL_ERR_SANDBOX, "Protected path" },
        { "/workspace/.git. /x", AL_ERR_SANDBOX, "Protected path" },
        { "/workspace/.git::$INDEX_ALLOCATION/x", AL_ERR_SANDBOX, "Protected path" },
        { "/workspace/.g\xe2\x80\x8cit/x", AL_ERR_SANDBOX, "Protected path" },
        { "/workspace/a\\.git\\config", AL_ERR_SANDBOX, "Protected path" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct al_error err = AL_ERROR_INIT;
        char *path = NULL;
        int r = al_sandbox_path(cases[i].given, &path, &err);

        assert_null(path);
        assert_failed(r, &err, cases[i].status, cases[i].words);
    }
}

/* Whether /workspace/xx…x is accepted, with this many bytes in a component and in all. */
static int try_length(size_t component, size_t all)
{
    al_auto(al_str_clear) struct al_str given = AL_STR_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *path = NULL;
    size_t run = component;

    al_str_adds(&given, "/workspace/");
    while (given.len < all) {
        al_str_addc(&given, run ? 'x' : '/');
        run = run ? run - 1 : component;
    }
    return al_sandbox_path(given.buf, &path, &err);
}

static void bounds_components_and_paths(void **state)
{
    const size_t zone = strlen("/workspace/");

    (void)state;
    assert_int_equal(try_length(NAME_MAX - 1, zone + NAME_MAX - 1), 0);
    assert_int_equal(try_length(NAME_MAX, zone + NAME_MAX), 0);
    assert_int_equal(try_length(NAME_MAX + 1, zone + NAME_MAX + 1), AL_ERR_BAD_ARGS);
    assert_int_equal(try_length(100, PATH_MAX - 2), 0);
    assert_int_equal(try_length(100, PATH_MAX - 1), 0);
    assert_int_equal(try_length(100, PATH_MAX), AL_ERR_BAD_ARGS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strips_the_zone),
        cmocka_unit_test(refuses_other_paths),
        cmocka_unit_test(bounds_components_and_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
