// SPDX-License-Identifier: Apache-2.0
/*
 * What the screen works on: the door to the questions, the overview of the rest, one child at a
 * time that looks up a text or rolls back; and how these change what is shown.
 *
 * - The chosen entry changes by the user, and by the program only when nothing is chosen, or when
 *   this screen has just answered what was.
 * - An answer names the entry that is shown, by its id.
 *
 * Threads: one.
 */
#ifndef AL_CLI_REVIEW_SCREEN_SESSION_H
#define AL_CLI_REVIEW_SCREEN_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/review/job.h"
#include "cli/review/notify.h"
#include "cli/review/overview.h"
#include "cli/review/screen/view.h"
#include "review/door.h"

/** What the program chooses itself can be answered only after this time in milliseconds. */
#define AL_SCREEN_SETTLE_MS 500

/** An entry has to stay chosen for this time before a child looks its text up. */
#define AL_SCREEN_REST_MS 150

struct al_screen_session {
    const struct al_setup *setup;
    struct al_review_door *door;
    struct al_overview_source *overview;
    struct al_review_notify *notify;
    struct al_screen_view view;
    struct al_review_job *job; /**< NULL: none runs */
    enum al_review_job_kind job_kind;
    uint64_t job_seq;     /**< the execution that the child is about; 0: none */
    int64_t job_due_ms;   /**< the text of the chosen entry is looked up then; 0: it is not due */
    uint64_t newest;      /**< the newest execution when a rollback was shown */
    struct al_strv known; /**< the ids of the questions that the user was told about */
    bool fresh;           /**< another entry is shown than when the screen was last drawn */
    bool tells; /**< what waited at the beginning is known: what comes from now on is new */
    bool rings; /**< the bell is due */
    bool ends;
};

/** Open door and overview.  Release with al_screen_session_clear(), also after a failure. */
int al_screen_session_open(struct al_screen_session *session, const struct al_setup *setup,
                           const struct al_strv *dirs, struct al_error *err);
void al_screen_session_clear(struct al_screen_session *session);

/** The door has something to do. */
void al_screen_session_run_door(struct al_screen_session *session);

/** Something else may have changed. */
void al_screen_session_refresh(struct al_screen_session *session);

/** The child has something to say. */
void al_screen_session_run_job(struct al_screen_session *session);

/** Start the child that is due. */
void al_screen_session_start_due(struct al_screen_session *session);

/** A key was typed.  The caller does AL_DO_SUSPEND and AL_DO_REDRAW. */
struct al_screen_action al_screen_session_press(struct al_screen_session *session,
                                                struct al_screen_key key);

#endif
