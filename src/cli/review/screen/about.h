// SPDX-License-Identifier: Apache-2.0
/* What is said about an entry above its text. */
#ifndef AL_CLI_REVIEW_SCREEN_ABOUT_H
#define AL_CLI_REVIEW_SCREEN_ABOUT_H

#include "cli/review/screen/list.h"
#include "util/str.h"

/** Append the lines about an entry; the first is its heading. */
void al_screen_about(const struct al_screen_row *row, struct al_strv *lines);

/** Append the text that is known at once: the excerpt of a question, the result of an execution. */
void al_screen_first_text(const struct al_screen_row *row, struct al_str *text);

#endif
