// SPDX-License-Identifier: Apache-2.0
/* cli/review/screen/page.h: wrapped rows of a text of any size, from any place. */
#include "review/screen/private.h"

#include <limits.h>
#include <stdlib.h>

#include "tests/lib/assert.h"

#define COLUMNS 20
#define ROWS    5

/* The rows that are seen, one after the other. */
static char *seen(struct al_page *page)
{
    const struct al_page_row *rows;
    const size_t count = al_page_rows(page, COLUMNS, ROWS, &rows);
    struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < count; i++)
        al_str_addf(&text, "%.*s|", (int)rows[i].len,
                    page->lines[rows[i].line].text + rows[i].begin);
    return al_str_detach(&text);
}

static void assert_seen(struct al_page *page, const char *wanted)
{
    al_auto(al_freep) char *text = seen(page);

    assert_string_equal(text, wanted);
}

/* A page with the numbers from 0 on, a line each. */
static void fill(struct al_page *page, size_t count)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < count; i++)
        al_str_addf(&text, "%zu\n", i);
    al_page_set_text(page, text.buf, text.len);
}

static void lines_are_wrapped(void **state)
{
    al_auto(al_page_clear) struct al_page page = AL_PAGE_INIT;
    const char *text = "12345678901234567890abc\n\nx";

    (void)state;
    al_strv_add(&page.head, "Heading");
    al_strv_add(&page.facts, "fact");
    al_page_set_text(&page, text, strlen(text));
    assert_int_equal(page.nlines, 5);
    assert_seen(&page, "Heading|12345678901234567890|abc||x|");
    al_page_scroll(&page, COLUMNS, 3, 3);
    assert_seen(&page, "|x|fact|");
    al_page_scroll(&page, COLUMNS, 3, 1);
    assert_seen(&page, "|x|fact|");
    al_page_scroll(&page, COLUMNS, 3, -1);
    assert_seen(&page, "abc||x|fact|");
}

static void it_moves_to_any_line(void **state)
{
    al_auto(al_page_clear) struct al_page page = AL_PAGE_INIT;

    (void)state;
    fill(&page, 385);
    al_page_scroll(&page, COLUMNS, ROWS, 127);
    assert_seen(&page, "127|128|129|130|131|");
    al_page_scroll(&page, COLUMNS, ROWS, 1);
    assert_seen(&page, "128|129|130|131|132|");
    al_page_scroll(&page, COLUMNS, ROWS, INT_MAX);
    assert_seen(&page, "380|381|382|383|384|");
    al_page_scroll(&page, COLUMNS, ROWS, 1);
    assert_seen(&page, "380|381|382|383|384|");
    al_page_scroll(&page, COLUMNS, ROWS, -1000);
    assert_seen(&page, "0|1|2|3|4|");
    fill(&page, 2);
    al_page_scroll(&page, COLUMNS, ROWS, 1);
    assert_seen(&page, "0|1|");
    al_page_set_text(&page, "", 0);
    assert_seen(&page, "");
    al_page_scroll(&page, COLUMNS, ROWS, 1);
    al_page_scroll(&page, COLUMNS, ROWS, INT_MAX);
    assert_seen(&page, "");
}

/* A shorter text comes while the end of the old one is seen. */
static void another_text_may_be_shorter(void **state)
{
    al_auto(al_page_clear) struct al_page page = AL_PAGE_INIT;

    (void)state;
    fill(&page, 1000);
    al_page_scroll(&page, COLUMNS, ROWS, INT_MAX);
    fill(&page, 10);
    al_page_scroll(&page, COLUMNS, ROWS, 0);
    assert_seen(&page, "0|1|2|3|4|");
}

/* A line of 10 MB, and a million lines: they are laid out once. */
static void a_large_text_is_not_slow(void **state)
{
    al_auto(al_page_clear) struct al_page page = AL_PAGE_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    (void)state;
    al_str_reserve(&text, 12u << 20);
    memset(text.buf, 'x', 10u << 20);
    memset(text.buf + (10u << 20), '\n', 1u << 20);
    text.len = 11u << 20;
    al_page_set_text(&page, text.buf, text.len);
    for (int i = 0; i < 100; i++)
        al_page_scroll(&page, COLUMNS, ROWS, ROWS);
    al_page_scroll(&page, COLUMNS, ROWS, INT_MAX);
    assert_seen(&page, "|||||");
    al_page_scroll(&page, COLUMNS, ROWS, INT_MIN);
    assert_seen(&page, "xxxxxxxxxxxxxxxxxxxx|xxxxxxxxxxxxxxxxxxxx|xxxxxxxxxxxxxxxxxxxx|"
                       "xxxxxxxxxxxxxxxxxxxx|xxxxxxxxxxxxxxxxxxxx|");
}

/* A wider terminal has other rows. */
static void a_line_stays_on_top(void **state)
{
    al_auto(al_page_clear) struct al_page page = AL_PAGE_INIT;
    const char *text = "a\n12345678901234567890123456789012345678901234567890\nb\nc\nd\ne\nf\n";

    (void)state;
    al_page_set_text(&page, text, strlen(text));
    al_page_scroll(&page, COLUMNS, ROWS, 2);
    assert_seen(&page, "12345678901234567890|1234567890|b|c|d|");
    al_page_scroll(&page, 2 * COLUMNS, ROWS, 0);
    assert_int_equal(page.rows[page.top].line, 1);
    assert_int_equal(page.rows[page.top].begin, 0);
    al_page_scroll(&page, 2 * COLUMNS, ROWS, 2);
    al_page_set_text(&page, text, strlen(text));
    assert_seen(&page, "b|c|d|e|f|");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_wrapped),           cmocka_unit_test(it_moves_to_any_line),
        cmocka_unit_test(another_text_may_be_shorter), cmocka_unit_test(a_line_stays_on_top),
        cmocka_unit_test(a_large_text_is_not_slow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
