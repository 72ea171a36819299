// SPDX-License-Identifier: Apache-2.0
/* cli/review/screen/layout.h: the parts fill every terminal that is large enough and do not
 * overlap; a smaller one is said to be too small. */
#include "cli/review/screen/layout.h"

#include "tests/lib/assert.h"

static void small_terminals_are_too_small(void **state)
{
    (void)state;
    assert_true(al_screen_layout_make(AL_SCREEN_MIN_ROWS - 1, 300).too_small);
    assert_true(al_screen_layout_make(100, AL_SCREEN_MIN_COLUMNS - 1).too_small);
    assert_true(al_screen_layout_make(0, 0).too_small);
    assert_true(al_screen_layout_make(-1, -1).too_small);
    assert_false(al_screen_layout_make(AL_SCREEN_MIN_ROWS, AL_SCREEN_MIN_COLUMNS).too_small);
    assert_false(
        al_screen_layout_make(AL_SCREEN_MIN_ROWS + 1, AL_SCREEN_MIN_COLUMNS + 1).too_small);
}

static void assert_inside(const struct al_screen_layout *layout, struct al_screen_area area)
{
    assert_true(area.row >= 0 && area.rows > 0 && area.row + area.rows <= layout->rows);
    assert_true(area.column >= 0 && area.columns > 0 &&
                area.column + area.columns <= layout->columns);
}

static void parts_fill_the_screen(void **state)
{
    (void)state;
    for (int rows = AL_SCREEN_MIN_ROWS; rows <= 120; rows++)
        for (int columns = AL_SCREEN_MIN_COLUMNS; columns <= 400; columns++) {
            const struct al_screen_layout layout = al_screen_layout_make(rows, columns);

            assert_inside(&layout, layout.title);
            assert_inside(&layout, layout.list);
            assert_inside(&layout, layout.head);
            assert_inside(&layout, layout.text);
            assert_inside(&layout, layout.message);
            assert_inside(&layout, layout.keys);
            assert_int_equal(layout.list.row, layout.title.rows);
            assert_int_equal(layout.list.row + layout.list.rows, layout.message.row);
            assert_int_equal(layout.head.row + 1, layout.text.row);
            assert_int_equal(layout.text.row + layout.text.rows, layout.message.row);
            assert_int_equal(layout.message.row + 1, layout.keys.row);
            assert_true(layout.divider >= layout.list.column + layout.list.columns);
            assert_true(layout.divider < layout.text.column);
            assert_int_equal(layout.text.column + layout.text.columns, columns);
            assert_true(layout.text.columns >= 20);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_terminals_are_too_small),
        cmocka_unit_test(parts_fill_the_screen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
