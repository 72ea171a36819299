// SPDX-License-Identifier: Apache-2.0
/*
 * Where the parts of the screen are:
 *
 *   title
 *   list             | head of the text
 *                    | text
 *   message
 *   keys
 */
#ifndef AL_CLI_REVIEW_SCREEN_LAYOUT_H
#define AL_CLI_REVIEW_SCREEN_LAYOUT_H

#include <stdbool.h>

/** The smallest terminal that everything fits on. */
#define AL_SCREEN_MIN_ROWS    12
#define AL_SCREEN_MIN_COLUMNS 60

/** A rectangle of cells, from 0 on. */
struct al_screen_area {
    int row, column, rows, columns;
};

struct al_screen_layout {
    bool too_small; /**< then the rest is 0 */
    int rows, columns;
    struct al_screen_area title, list, head, text, message, keys;
    int divider; /**< its column, between list and text */
};

/** Lay the screen out for a terminal of this size; any numbers. */
struct al_screen_layout al_screen_layout_make(int rows, int columns);

#endif
