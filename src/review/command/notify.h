// SPDX-License-Identifier: Apache-2.0
/*
 * Tells the user's desktop that questions wait: notify-send(1), for [review] notify.
 *
 * - The program is looked for in fixed directories, never in $PATH, which may name directories that
 *   an agent writes in.  It is run without a shell.
 * - The text is safe, escaped as the markup that a desktop may take it for, and short.
 * - Nothing waits for it.  Further news are not told while it runs: the next one counts all that
 *   wait.
 *
 * Threads: one, which lives as long.
 */
#ifndef AL_REVIEW_COMMAND_NOTIFY_H
#define AL_REVIEW_COMMAND_NOTIFY_H

#include <stddef.h>

#include "cli/config/config.h"

struct al_review_notify;

/**
 * Begin.
 *
 * @param dirs  Where the program is looked for, as $PATH; NULL but in tests.
 * @return NULL when nothing is to be sent: another setting than "notify-send", or there is no such
 *         program.  NULL can be given to the functions below.
 */
struct al_review_notify *al_review_notify_new(enum al_notify how, const char *dirs);
void al_review_notify_free(struct al_review_notify *notify);

/** Tell how many questions wait, and the summary of the new one, any text.  Does not block. */
void al_review_notify_send(struct al_review_notify *notify, size_t count, const char *summary);

#endif
