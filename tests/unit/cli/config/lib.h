// SPDX-License-Identifier: Apache-2.0
/* Shared by the tests of the configuration: read a text, and expect a configuration or an error. */
#ifndef TESTS_UNIT_CONFIG_LIB_H
#define TESTS_UNIT_CONFIG_LIB_H

#include "cli/config/config.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static inline int setup(void **state)
{
    *state = tmpdir_new();
    return 0;
}

static inline int teardown(void **state)
{
    tmpdir_free(*state);
    return 0;
}

static inline int read_text(struct tmpdir *dir, const char *text, struct al_config *config,
                            struct al_error *err)
{
    al_auto(al_freep) char *path = tmpdir_path(dir, "config.toml");

    tmpdir_write(dir, "config.toml", text);
    return al_config_load(config, path, NULL, NULL, err);
}

/* Expect that `text` is read without an error. */
static inline void assert_reads(void **state, const char *text, struct al_config *config)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r = read_text(*state, text, config, &err);

    if (r < 0)
        print_message("%s\n", err.message);
    assert_int_equal(r, 0);
}

/* Expect that `text` is refused with "<file>:" and `what`, and that the configuration has the
 * defaults.
 */
static inline void assert_refuses(void **state, const char *text, const char *what)
{
    const struct tmpdir *dir = *state;
    al_auto(al_config_clear) struct al_config config = { .file = NULL };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *wanted = al_asprintf("%s/config.toml:%s", dir->path, what);

    al_config_init(&config);
    config.git.max_bytes = 77;
    assert_int_equal(read_text(*state, text, &config, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, wanted);
    assert_int_equal(config.git.max_bytes, 200000);
    assert_int_equal(config.git.timeout_ms, 30000);
    assert_true(config.git.enabled);
    assert_int_equal(config.toolsets.count, 1);
    assert_null(config.file);
    assert_null(config.journal.file);
}

#endif
