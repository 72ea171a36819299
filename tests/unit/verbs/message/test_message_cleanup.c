// SPDX-License-Identifier: Apache-2.0
/* verbs/message/commit_message.c: messages are cleaned up, and those that cannot be committed are
 * refused. */
#include "verbs/message/commit_message.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tests/lib/assert.h"

static void cleans_up_prepared_messages(void **state)
{
    static const char *const cases[][2] = {
        { "Merge branch 'x'\n\n\n#1 is \033[1mfixed\n\n", "Merge branch 'x'\n\n\n#1 is fixed\n" },
        { "\nRevert \"a\"  \nThis reverts b.\n", "Revert \"a\"\n\nThis reverts b.\n" },
        { " \n\n", NULL },
        { "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(cases); i++) {
        al_auto(al_freep) char *message = al_message_clean_prepared(cases[i][0]);

        if (cases[i][1])
            assert_string_equal(message, cases[i][1]);
        else
            assert_null(message);
    }
}

static void accepts_what_can_be_a_message(void **state)
{
    static const struct {
        const char *proposed, *expected;
    } cases[] = {
        { "feat: x", "feat: x\n" },
        { "\n\nfeat: x  \n\n\n", "feat: x\n" },
        { "feat: x\nbody", "feat: x\n\nbody\n" },
        { " feat: x\n  body", "feat: x\n\n  body\n" },
        { "feat: x\r\n\r\nbody\r\n", "feat: x\n\nbody\n" },
        { "feat: x\n\na\n\nb\n", "feat: x\n\na\n\nb\n" },
        { "feat: \xc3\xa4", "feat: \xc3\xa4\n" },
        { "```\nfeat: x\n```", "feat: x\n" },
        { "\n```text\nfeat: x\n\nbody\n```\n", "feat: x\n\nbody\n" },
        { "```\nfeat: x\n```\nmore", "```\n\nfeat: x\n```\nmore\n" },
        { "```\n```", NULL },
        { "```", "```\n" },
        { "", NULL },
        { " \n ", NULL },
        { "feat: \x1b[31mred", NULL },
        { "feat: a\tb", NULL },
        { "feat: x\n\nbody\x07", NULL },
        { "feat: \xe2\x80\xae", NULL },
        { "feat: \xff", NULL },
    };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(cases); i++) {
        al_auto(al_freep) char *message = al_commit_message_accept(cases[i].proposed);

        if (cases[i].expected)
            assert_string_equal(message, cases[i].expected);
        else
            assert_null(message);
    }
}

static void accepts_up_to_its_limits(void **state)
{
    (void)state;
    for (size_t len = AL_SUBJECT_MAX - 1; len <= AL_SUBJECT_MAX + 1; len++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_freep) char *message = NULL;

        for (size_t i = 0; i < len; i++)
            al_str_adds(&text, "\xc3\xa4");
        message = al_commit_message_accept(text.buf);
        assert_int_equal(message != NULL, len <= AL_SUBJECT_MAX);
    }
    for (size_t len = 16 * 1024 - 1; len <= 16 * 1024 + 1; len++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_freep) char *message = NULL;

        al_str_adds(&text, "s\n");
        while (text.len < len)
            al_str_addc(&text, 'x');
        message = al_commit_message_accept(text.buf);
        assert_int_equal(message != NULL, len <= 16 * 1024);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cleans_up_prepared_messages),
        cmocka_unit_test(accepts_what_can_be_a_message),
        cmocka_unit_test(accepts_up_to_its_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
