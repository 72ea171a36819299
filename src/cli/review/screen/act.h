// SPDX-License-Identifier: Apache-2.0
/* Private to session.c and act.c: what both change. */
#ifndef AL_CLI_REVIEW_SCREEN_ACT_H
#define AL_CLI_REVIEW_SCREEN_ACT_H

#include "cli/review/screen/session.h"
#include "util/mem.h"

/** Set the line for the user. */
void al_screen_note(struct al_screen_session *session, const char *fmt, ...) al_printf(2, 3);

/** Choose an entry of the list.  `by_program`: the user did not ask for it. */
void al_screen_choose(struct al_screen_session *session, size_t number, bool by_program);

/** Show the chosen entry, which is in the list, from its beginning. */
void al_screen_show_entry(struct al_screen_session *session);

/** Make the list anew, and find the chosen entry in it. */
void al_screen_list_again(struct al_screen_session *session);

/** Start a child in place of one that only looks something up. */
void al_screen_start_job(struct al_screen_session *session,
                         const struct al_review_job_request *request, const char *pending);

#endif
