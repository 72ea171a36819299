// SPDX-License-Identifier: Apache-2.0
/* The screen of `airlock review`: what waits, what runs and what happened, to look at and to
 * answer. */
#ifndef AL_REVIEW_SCREEN_SCREEN_H
#define AL_REVIEW_SCREEN_SCREEN_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/setup.h"

/** Whether standard output is a terminal that can be a screen, going by TERM. */
bool al_terminal_is_able(void);

/**
 * Take the terminal over until the user quits.  Questions that wait then go on waiting.
 *
 * @param setup  After al_setup_config().
 * @param dirs   Of the sockets.
 * @return the exit code; AL_ERR_NOT_FOUND, and nothing was done, when there can be no screen here.
 */
int al_review_screen(const struct al_setup *setup, const struct al_strv *dirs,
                     struct al_error *err);

#endif
