// SPDX-License-Identifier: Apache-2.0
/* cli/config/config.h: the file named with --config is read, else the user's own. */
#include "cli/config/config.h"

#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static int setup(void **state)
{
    struct tmpdir *dir = tmpdir_new();

    tmpdir_write(dir, "named.toml", "tools.git.max_bytes = 1\n");
    tmpdir_write(dir, "xdg/airlock/config.toml", "tools.git.max_bytes = 2\n");
    tmpdir_write(dir, "home/.config/airlock/config.toml",
                 "tools.git.max_bytes = 3\njournal.file = \"~/state/log.jsonl\"\n");
    *state = dir;
    return 0;
}

static int teardown(void **state)
{
    tmpdir_free(*state);
    return 0;
}

/* max_bytes after loading with these places below the scratch directory (NULL: not set); 0 when
 * loading failed. */
static uint32_t loaded(void **state, const char *path, const char *xdg, const char *home)
{
    struct tmpdir *dir = *state;
    al_auto(al_freep) char *path_abs = path ? tmpdir_path(dir, path) : NULL;
    al_auto(al_freep) char *xdg_abs = xdg ? tmpdir_path(dir, xdg) : NULL;
    al_auto(al_freep) char *home_abs = home ? tmpdir_path(dir, home) : NULL;
    al_auto(al_config_clear) struct al_config config = { .file = NULL };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    al_config_init(&config);
    r = al_config_load(&config, path_abs, xdg_abs, home_abs, &err);
    return r < 0 ? 0 : config.git.max_bytes;
}

static void takes_the_first_place_that_has_a_file(void **state)
{
    assert_int_equal(loaded(state, "named.toml", "xdg", "home"), 1);
    assert_int_equal(loaded(state, NULL, "xdg", "home"), 2);
    assert_int_equal(loaded(state, NULL, NULL, "home"), 3);
}

static void is_content_without_a_file(void **state)
{
    assert_int_equal(loaded(state, NULL, "empty", "home"), 200000);
    assert_int_equal(loaded(state, NULL, NULL, "empty"), 200000);
    assert_int_equal(loaded(state, NULL, NULL, NULL), 200000);
}

static void wants_a_named_file_to_exist(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_freep) char *path = tmpdir_path(dir, "absent.toml");
    al_auto(al_freep) char *message = al_asprintf("%s: no such file", path);
    al_auto(al_config_clear) struct al_config config = { .file = NULL };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    al_config_init(&config);
    assert_int_equal(al_config_load(&config, path, NULL, dir->path, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, message);
}

static void ignores_a_relative_config_home(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_freep) char *home = tmpdir_path(dir, "home");
    al_auto(al_config_clear) struct al_config config = { .file = NULL };

    al_config_init(&config);
    assert_int_equal(al_config_load(&config, NULL, "xdg", home, NULL), 0);
    assert_int_equal(config.git.max_bytes, 3);
    assert_int_equal(al_config_load(&config, NULL, "", home, NULL), 0);
    assert_int_equal(config.git.max_bytes, 3);
}

static void expands_the_home_directory_in_the_journals_place(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_freep) char *home = tmpdir_path(dir, "home");
    al_auto(al_freep) char *wanted = tmpdir_path(dir, "home/state/log.jsonl");
    al_auto(al_config_clear) struct al_config config = { .file = NULL };

    al_config_init(&config);
    assert_int_equal(al_config_load(&config, NULL, NULL, home, NULL), 0);
    assert_string_equal(config.journal.file, wanted);
}

static void passes_on_what_is_wrong_with_a_found_file(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_freep) char *home = tmpdir_path(dir, "bad");
    al_auto(al_freep) char *message = al_asprintf(
        "%s/.config/airlock/config.toml:1: rots: unknown key, did you mean 'roots'?", home);
    al_auto(al_config_clear) struct al_config config = { .file = NULL };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    tmpdir_write(dir, "bad/.config/airlock/config.toml", "rots = []\n");
    al_config_init(&config);
    assert_int_equal(al_config_load(&config, NULL, NULL, home, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, message);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_first_place_that_has_a_file),
        cmocka_unit_test(is_content_without_a_file),
        cmocka_unit_test(wants_a_named_file_to_exist),
        cmocka_unit_test(ignores_a_relative_config_home),
        cmocka_unit_test(expands_the_home_directory_in_the_journals_place),
        cmocka_unit_test(passes_on_what_is_wrong_with_a_found_file),
    };

    return cmocka_run_group_tests_name("config/load", tests, setup, teardown);
}
