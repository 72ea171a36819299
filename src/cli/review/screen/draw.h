// SPDX-License-Identifier: Apache-2.0
/* Draws the whole screen. */
#ifndef AL_CLI_REVIEW_SCREEN_DRAW_H
#define AL_CLI_REVIEW_SCREEN_DRAW_H

#include "cli/review/screen/terminal.h"
#include "cli/review/screen/view.h"

/** Draw what the view says, for the size that the terminal has.  Sets its layout and list_top. */
void al_screen_draw(struct al_terminal *terminal, struct al_screen_view *view);

/** The columns in which the page is wrapped. */
size_t al_screen_page_columns(const struct al_screen_view *view);

#endif
