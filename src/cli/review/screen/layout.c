// SPDX-License-Identifier: Apache-2.0
#include "cli/review/screen/layout.h"

#define LIST_MIN_COLUMNS 28
#define LIST_MAX_COLUMNS 76

static int clamp(int value, int min, int max)
{
    return value < min ? min : value > max ? max : value;
}

struct al_screen_layout al_screen_layout_make(int rows, int columns)
{
    struct al_screen_layout layout = { .rows = rows, .columns = columns };
    const int list = clamp(columns * 2 / 5, LIST_MIN_COLUMNS, LIST_MAX_COLUMNS);
    const int text = columns - list - 3; /* the divider between two blanks */

    if (rows < AL_SCREEN_MIN_ROWS || columns < AL_SCREEN_MIN_COLUMNS) {
        layout.too_small = true;
        return layout;
    }
    layout.title = (struct al_screen_area){ 0, 0, 1, columns };
    layout.list = (struct al_screen_area){ 1, 0, rows - 3, list };
    layout.divider = list + 1;
    layout.head = (struct al_screen_area){ 1, list + 3, 1, text };
    layout.text = (struct al_screen_area){ 2, list + 3, rows - 4, text };
    layout.message = (struct al_screen_area){ rows - 2, 0, 1, columns };
    layout.keys = (struct al_screen_area){ rows - 1, 0, 1, columns };
    return layout;
}
