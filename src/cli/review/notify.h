// SPDX-License-Identifier: Apache-2.0
/*
 * Tells the user's desktop that questions wait: notify-send(1), for [review] notify.
 *
 * - The program is looked for in fixed directories, never in $PATH, which may name directories that
 *   an agent writes in.  It is run without a shell.
 * - The text is safe, escaped as the markup that a desktop may take it for, and short.
 * - A thread runs it, so that a desktop that does not answer holds up nothing.  While it runs,
 *   further news are not told: the next one counts all that wait.
 *
 * Threads: one.
 */
#ifndef AL_CLI_REVIEW_NOTIFY_H
#define AL_CLI_REVIEW_NOTIFY_H

#include "config/config.h"
#include "review/client.h"

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

/** Tell that these questions wait; the last one is new.  Does not block. */
void al_review_notify_send(struct al_review_notify *notify, const struct al_review_list *questions);

/** Append the text about the last question: one line for the title, then one for the body. */
void al_review_notify_add_text(const struct al_review_list *questions, struct al_str *title,
                               struct al_str *body);

#endif
