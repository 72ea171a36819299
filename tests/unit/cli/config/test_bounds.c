// SPDX-License-Identifier: Apache-2.0
/* cli/config/config.h: numbers, lists and texts are held to their bounds. */
#include "tests/unit/cli/config/lib.h"

static void holds_numbers_to_their_bounds(void **state)
{
    static const struct {
        const char *text;
        const char *complaint; /* NULL: accepted */
    } cases[] = {
        { "timeout_ms = 99", "2: tools.git.timeout_ms: must be between 100 and 600000" },
        { "timeout_ms = 100", NULL },
        { "timeout_ms = 101", NULL },
        { "timeout_ms = 599999", NULL },
        { "timeout_ms = 600000", NULL },
        { "timeout_ms = 600001", "2: tools.git.timeout_ms: must be between 100 and 600000" },
        { "max_bytes = 0", "2: tools.git.max_bytes: must be between 1 and 5000000" },
        { "max_bytes = 1", NULL },
        { "max_bytes = 2", NULL },
        { "max_bytes = 4999999", NULL },
        { "max_bytes = 5000000", NULL },
        { "max_bytes = 5000001", "2: tools.git.max_bytes: must be between 1 and 5000000" },
        { "max_fetch_bytes = 1048575",
          "2: tools.git.max_fetch_bytes: must be between 1048576 and 1125899906842624" },
        { "max_fetch_bytes = 1048576", NULL },
        { "max_fetch_bytes = 1048577", NULL },
        { "max_fetch_bytes = 1125899906842623", NULL },
        { "max_fetch_bytes = 1125899906842624", NULL },
        { "max_fetch_bytes = 1125899906842625",
          "2: tools.git.max_fetch_bytes: must be between 1048576 and 1125899906842624" },
        { "prefer_mcp = true", NULL },
        { "prefer_mcp = 1", "2: tools.git.prefer_mcp: must be true or false, not a whole number" },
        { "max_bytes = -1", "2: tools.git.max_bytes: must be between 1 and 5000000" },
        { "max_bytes = 4294967297", "2: tools.git.max_bytes: must be between 1 and 5000000" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *text = al_asprintf("[tools.git]\n%s\n", cases[i].text);
        al_auto(al_config_clear) struct al_config config = { .file = NULL };

        print_message("# %s\n", cases[i].text);
        al_config_init(&config);
        if (cases[i].complaint)
            assert_refuses(state, text, cases[i].complaint);
        else
            assert_reads(state, text, &config);
    }
}

static void holds_the_size_of_the_log_to_its_bounds(void **state)
{
    static const struct {
        const char *text;
        bool fits;
    } cases[] = {
        { "16383", false },     { "16384", true },      { "16385", true },
        { "1073741823", true }, { "1073741824", true }, { "1073741825", false },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *text =
            al_asprintf("[journal]\nmax_log_bytes = %s\n", cases[i].text);
        al_auto(al_config_clear) struct al_config config = { .file = NULL };

        al_config_init(&config);
        if (cases[i].fits)
            assert_reads(state, text, &config);
        else
            assert_refuses(state, text,
                           "2: journal.max_log_bytes: must be between 16384 and 1073741824");
    }
}

/* A list of `count` copies of `item` for `key`. */
static char *list_of(const char *key, const char *item, size_t count)
{
    struct al_str text = AL_STR_INIT;

    al_str_addf(&text, "%s = [", key);
    for (size_t i = 0; i < count; i++)
        al_str_addf(&text, "%s\"%s\"", i ? ", " : "", item);
    al_str_adds(&text, "]\n");
    return al_str_detach(&text);
}

static void holds_lists_to_their_bounds(void **state)
{
    static const struct {
        const char *key;
        const char *item;
        size_t min, max;
    } lists[] = {
        { "toolsets", "git", 1, 32 },
        { "roots", ".", 0, 64 },
        { "tools.environment.allow", "MY_VAR", 0, 256 },
    };

    for (size_t i = 0; i < COUNT(lists); i++) {
        al_auto(al_freep) char *what = al_asprintf("1: %s: must have between %zu and %zu items",
                                                   lists[i].key, lists[i].min, lists[i].max);

        for (size_t n = lists[i].max - 1; n <= lists[i].max + 1; n++) {
            al_auto(al_freep) char *text = list_of(lists[i].key, lists[i].item, n);
            al_auto(al_config_clear) struct al_config config = { .file = NULL };

            al_config_init(&config);
            if (n > lists[i].max)
                assert_refuses(state, text, what);
            else
                assert_reads(state, text, &config);
        }
    }
    assert_refuses(state, "toolsets = []\n", "1: toolsets: must have between 1 and 32 items");
}

static void holds_strings_to_4096_bytes(void **state)
{
    for (size_t len = 4095; len <= 4097; len++) {
        al_auto(al_freep) char *word = al_calloc(len + 1, 1);
        al_auto(al_freep) char *text = NULL;
        al_auto(al_config_clear) struct al_config config = { .file = NULL };

        memset(word, 'a', len);
        text = al_asprintf("roots = [\"%s\"]\n", word);
        al_config_init(&config);
        if (len > 4096)
            assert_refuses(state, text, "1: roots: must be at most 4096 bytes");
        else
            assert_reads(state, text, &config);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_numbers_to_their_bounds),
        cmocka_unit_test(holds_the_size_of_the_log_to_its_bounds),
        cmocka_unit_test(holds_lists_to_their_bounds),
        cmocka_unit_test(holds_strings_to_4096_bytes),
    };

    return cmocka_run_group_tests_name("config/bounds", tests, setup, teardown);
}
