// SPDX-License-Identifier: Apache-2.0
/* verbs/message/pull_request.c: the text of a template stays, and a branch name becomes a readable
 * title. */
#include "verbs/message/pull_request.h"

#include <stdlib.h>

#include "tests/lib/assert.h"

static const struct al_pull_request_placeholder words[] = {
    { "{title}", "T {files}" },
    { "{files}", "F" },
    { "{empty}", "" },
    { NULL, NULL },
};

static void replaces_placeholders_once_and_nothing_else(void **state)
{
    static const char *const cases[][2] = {
        { "", "" },
        { "plain\n", "plain\n" },
        { "{title}", "T {files}" },
        { "{files}{files}", "FF" },
        { "{{files}}", "{F}" },
        { "{empty}x", "x" },
        { "{Title} {title {} } {", "{Title} {title {} } {" },
        { "{title}\r\n\t{files}\n", "T {files}\r\n\tF\n" },
        { "{", "{" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        al_pull_request_fill(cases[i][0], words, &out);
        assert_string_equal(out.buf, cases[i][1]);
    }
}

static void a_branch_reads_as_a_title(void **state)
{
    static const char *const cases[][2] = {
        { "feature/add-user_authentication", "Add user authentication" },
        { "main", "Main" },
        { "a/b/c", "C" },
        { "--x", "X" },
        { "fix/", "" },
        { "-", "" },
        { "\xc3\xa4-b", "\xc3\xa4 b" },
        { "x/\xe2\x80\xae"
          "b",
          "<U+202E>b" },
        { "release-2.0", "Release 2.0" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *title = al_pull_request_title(cases[i][0]);

        assert_string_equal(title, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_placeholders_once_and_nothing_else),
        cmocka_unit_test(a_branch_reads_as_a_title),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
