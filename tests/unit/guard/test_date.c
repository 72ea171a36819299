// SPDX-License-Identifier: Apache-2.0
/* guard/date.c: texts that git reads as a date, and texts that git reads only by skipping a part.
 * tests/e2e/test_dates.py compares the lists with git. */
#include "guard/date.h"

#include "base/str.h"
#include "tests/lib/assert.h"

static void is_taken(const char *value)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (al_date_check("since", value, &err) < 0)
        fail_msg("refused: %s", value ? value : "no date");
}

static void is_refused(const char *value)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (al_date_check("since", value, &err) != AL_ERR_BAD_ARGS)
        fail_msg("taken: %s", value);
    assert_true(al_starts_with(err.message, "since: git cannot read '"));
    assert_null(strchr(err.message, '\n'));
}

static void what_git_reads_is_taken(void **state)
{
    static const char *const values[] = {
#include "tests/unit/guard/dates_taken.h"
    };

    (void)state;
    is_taken(NULL);
    for (size_t i = 0; i < COUNT(values); i++)
        is_taken(values[i]);
}

static void what_git_passes_over_is_refused(void **state)
{
    static const char *const values[] = {
#include "tests/unit/guard/dates_refused.h"
    };
    char endless[5001];

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++)
        is_refused(values[i]);
    memset(endless, '1', 5000);
    endless[5000] = '\0';
    is_refused(endless);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_git_reads_is_taken),
        cmocka_unit_test(what_git_passes_over_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
