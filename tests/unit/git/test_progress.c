// SPDX-License-Identifier: Apache-2.0
/* git/command.h: progress goes to its listener, and what is left is what git says without. */
#include "git/command.h"

#include "tests/lib/assert.h"

struct heard {
    struct al_str lines; /* each with a '|' behind it */
};

static void hear(void *payload, const char *line)
{
    struct heard *heard = payload;

    al_str_addf(&heard->lines, "%s|", line);
}

static const char said[] = "remote: Enumerating objects: 5, done.        \n"
                           "remote: Counting objects:  50% (1/2)\033[K\r"
                           "remote: Counting objects: 100% (2/2), done.        \n"
                           "remote: hello from the hook        \n"
                           "remote: Total 5 (delta 0), reused 0 (delta 0), pack-reused 0        \n"
                           "Receiving objects: 100% (5/5), 1.20 MiB | 3.00 MiB/s, done.\n"
                           "From h:p\n"
                           "   1234567..89abcde  main       -> origin/main\n"
                           "error: no newline";

static const char left[] = "remote: hello from the hook        \n"
                           "From h:p\n"
                           "   1234567..89abcde  main       -> origin/main\n"
                           "error: no newline";

static const char told[] = "remote: Enumerating objects: 5, done.|"
                           "remote: Counting objects:  50% (1/2)|"
                           "remote: Counting objects: 100% (2/2), done.|"
                           "remote: Total 5 (delta 0), reused 0 (delta 0), pack-reused 0|"
                           "Receiving objects: 100% (5/5), 1.20 MiB | 3.00 MiB/s, done.|";

static void parts_progress_from_the_rest_wherever_it_is_cut(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < sizeof(said); piece++) {
        struct heard heard = { AL_STR_INIT };
        const struct al_progress listener = { hear, &heard };
        struct al_buffer rest = { .max_bytes = 4096 };
        struct al_progress_filter filter =
            AL_PROGRESS_FILTER_INIT(&listener, al_buffer_sink(&rest));

        for (size_t at = 0; at < strlen(said); at += piece) {
            size_t len = strlen(said) - at < piece ? strlen(said) - at : piece;

            assert_true(al_progress_filter_add(&filter, said + at, len));
        }
        al_progress_filter_end(&filter);
        assert_string_equal(rest.text.buf, left);
        assert_string_equal(heard.lines.buf, told);
        al_buffer_clear(&rest);
        al_str_clear(&heard.lines);
    }
}

static void goes_on_when_the_rest_is_full(void **state)
{
    struct heard heard = { AL_STR_INIT };
    const struct al_progress listener = { hear, &heard };
    struct al_buffer rest = { .max_bytes = 4 };
    struct al_progress_filter filter = AL_PROGRESS_FILTER_INIT(&listener, al_buffer_sink(&rest));
    static const char text[] = "more than four\nand more\nCounting objects: 7\n";

    (void)state;
    assert_true(al_progress_filter_add(&filter, text, strlen(text)));
    al_progress_filter_end(&filter);
    assert_int_equal(rest.text.len, 4);
    assert_string_equal(heard.lines.buf, "Counting objects: 7|");
    al_buffer_clear(&rest);
    al_str_clear(&heard.lines);
}

static void holds_no_more_than_a_line_of_progress(void **state)
{
    struct heard heard = { AL_STR_INIT };
    const struct al_progress listener = { hear, &heard };
    struct al_buffer rest = { .max_bytes = 1u << 20 };
    struct al_progress_filter filter = AL_PROGRESS_FILTER_INIT(&listener, al_buffer_sink(&rest));

    (void)state;
    for (int i = 0; i < 100000; i++)
        (void)al_progress_filter_add(&filter, "x", 1);
    assert_true(filter.line.len < 2048);
    al_progress_filter_end(&filter);
    assert_int_equal(rest.text.len, 100000);
    al_buffer_clear(&rest);
    al_str_clear(&heard.lines);
}

static void knows_progress_from_words(void **state)
{
    static const char *const yes[] = { "Receiving objects: 0% (0/9)",
                                       "Resolving deltas: 100% (1/1)",
                                       "remote: Compressing objects: 12", "Total 3 (delta 0)",
                                       "Writing objects: 100% (3/3), 250 bytes, done." };
    static const char *const no[] = { "",
                                      "fatal: 5",
                                      "remote: rejected: 5",
                                      "Counting objects",
                                      "Counting objects: many",
                                      "remote: Counting sheep: 5",
                                      "From: host",
                                      "remote: Error: main is protected",
                                      "Total5",
                                      "Hook:x 5%",
                                      "To 127.0.0.1:5%" };

    (void)state;
    for (size_t i = 0; i < COUNT(yes); i++)
        assert_true(al_is_progress(yes[i]));
    for (size_t i = 0; i < COUNT(no); i++) {
        print_message("  %s\n", no[i]);
        assert_false(al_is_progress(no[i]));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_progress_from_the_rest_wherever_it_is_cut),
        cmocka_unit_test(goes_on_when_the_rest_is_full),
        cmocka_unit_test(holds_no_more_than_a_line_of_progress),
        cmocka_unit_test(knows_progress_from_words),
    };

    return cmocka_run_group_tests_name("gitops_progress", tests, NULL, NULL);
}
