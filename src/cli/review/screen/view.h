// SPDX-License-Identifier: Apache-2.0
/* What the screen shows: the list, the entry that is chosen, its text, and what the keys are for.
 */
#ifndef AL_CLI_REVIEW_SCREEN_VIEW_H
#define AL_CLI_REVIEW_SCREEN_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/review/screen/keys.h"
#include "cli/review/screen/layout.h"
#include "cli/review/screen/list.h"
#include "cli/review/screen/page.h"
#include "util/json.h"

/** The entry that is chosen.  It stays chosen when it vanishes. */
struct al_screen_chosen {
    enum al_screen_kind kind;
    char key[AL_ENTRY_KEY_BYTES];
    size_t row;         /**< in the list; where it was, if it has vanished */
    bool gone;          /**< it is no longer in the list */
    bool waits;         /**< a question that can be answered */
    bool sent;          /**< this screen has answered the question, and waits for the reply */
    bool answered;      /**< and that answer counts */
    bool offers_always; /**< a question that takes "always" */
    bool can_roll_back;
    int64_t settles_ms; /**< from this time on it counts as seen; of al_clock_ms() */
};

/** Released with al_screen_view_clear(). */
struct al_screen_view {
    struct al_screen_state state;
    struct al_screen_layout layout;
    struct al_screen_list list;
    struct al_screen_chosen chosen;
    struct al_page page;
    size_t list_top;     /**< the first row of the list that is seen */
    char *notice;        /**< one line for the user; NULL: none */
    const char *problem; /**< what cannot be shown; NULL: nothing.  Borrowed. */
    const char *pending; /**< what is being done, a constant; NULL: nothing */
    bool knows_all;      /**< every process has said what waits */
    bool previewed;      /**< the page shows what a rollback would change, and it can be done */
};

#define AL_SCREEN_VIEW_INIT                                                                        \
    ((struct al_screen_view){                                                                      \
        .state = AL_SCREEN_STATE_INIT, .list = AL_SCREEN_LIST_INIT, .page = AL_PAGE_INIT })

/** What a key finds. */
struct al_screen_look al_screen_view_look(const struct al_screen_view *view);

void al_screen_view_clear(struct al_screen_view *view);

#endif
