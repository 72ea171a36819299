// SPDX-License-Identifier: Apache-2.0
/*
 * What a key does: state and key give the next state and an action.  Nothing here draws, waits or
 * answers.
 *
 * An answer must be for the entry that the user saw:
 *
 * - A key that decides something counts only when it came alone.  Keys that come together are
 *   typed ahead, pasted, or a sequence that a slow line has cut in two; "a" and "A" are among
 *   those.
 * - Text that the terminal says is pasted is no keys, however it arrives.  It can only be text of a
 *   reason or a filter, and ends neither.
 * - It counts only once the entry is `settled`: the user moved to it, or it was shown long enough.
 * - While a reason is typed, or a rollback is confirmed, the entry stays.  If it vanishes, the keys
 *   that the user goes on typing do nothing until Enter or Esc.
 */
#ifndef AL_CLI_REVIEW_SCREEN_KEYS_H
#define AL_CLI_REVIEW_SCREEN_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/review/screen/key.h"
#include "guard/rules/approval.h"
#include "util/str.h"

/** How a terminal encloses a paste, once it was asked to. */
#define AL_SEQUENCE_PASTE_BEGIN "\033[200~"
#define AL_SEQUENCE_PASTE_END   "\033[201~"

/** Where the last key has left a sequence.  Zeroed: in none. */
struct al_screen_sequence {
    int place;          /**< private */
    unsigned parameter; /**< private: the last number of the sequence */
};

enum al_screen_mode {
    AL_SCREEN_BROWSE,
    AL_SCREEN_REASON,  /**< the reason of a rejection is typed */
    AL_SCREEN_FILTER,  /**< the filter is typed */
    AL_SCREEN_CONFIRM, /**< what a rollback would change is shown */
    AL_SCREEN_HELP,
    AL_SCREEN_HELD, /**< what the keys were for is gone: they do nothing until Enter or Esc */
};

/** What keys move. */
enum al_screen_pane { AL_PANE_LIST, AL_PANE_TEXT };

/** The kinds of entries. */
enum al_screen_kind {
    AL_ENTRY_NONE,
    AL_ENTRY_QUESTION,
    AL_ENTRY_RUNNING,
    AL_ENTRY_STAGED,
    AL_ENTRY_EXECUTION
};

/** What is shown when a key is typed. */
struct al_screen_look {
    enum al_screen_kind kind;
    bool waits;         /**< a question that can still be answered */
    bool offers_always; /**< and takes that answer */
    bool settled;       /**< the user has had the time to see it */
    bool can_roll_back; /**< an execution with a checkpoint */
    bool too_small;     /**< of all this the user sees nothing: the terminal is too small */
    bool previewed;     /**< what its rollback would change is shown, and it can be done */
};

enum al_screen_do {
    AL_DO_NOTHING,
    AL_DO_SELECT, /**< another entry: `by` entries further; INT_MIN, INT_MAX: the first, the last */
    AL_DO_SCROLL, /**< the text: by `by` rows */
    AL_DO_PAGE,   /**< by `by` times its height; INT_MIN, INT_MAX: to its begin, its end */
    AL_DO_APPROVE,
    AL_DO_ALWAYS,
    AL_DO_REJECT, /**< `input` is the reason */
    AL_DO_PREVIEW,
    AL_DO_ROLL_BACK,
    AL_DO_LEAVE_PREVIEW,
    AL_DO_FILTER,  /**< `filter` has changed */
    AL_DO_CHANGES, /**< `only_changes` has changed */
    AL_DO_SUSPEND,
    AL_DO_REDRAW,
    AL_DO_QUIT,
};

/** What is to be done. */
struct al_screen_action {
    enum al_screen_do what;
    int by;
};

/** Set up with AL_SCREEN_STATE_INIT. */
struct al_screen_state {
    enum al_screen_mode mode;
    enum al_screen_pane pane;
    struct al_str input;                /**< the reason that is typed */
    struct al_str filter;               /**< "": everything is listed */
    bool only_changes;                  /**< executions that only read are not listed */
    const char *message;                /**< why a key did nothing, or ""; a constant */
    bool pastes;                        /**< private: between the begin of a paste and its end */
    struct al_screen_sequence sequence; /**< private */
};

#define AL_SCREEN_STATE_INIT                                                                       \
    ((struct al_screen_state){ .input = AL_STR_INIT, .filter = AL_STR_INIT, .message = "" })

/** The longest reason or filter in bytes. */
#define AL_SCREEN_INPUT_MAX_BYTES 2000

void al_screen_state_clear(struct al_screen_state *state);

/** What a key does. */
struct al_screen_action al_screen_press(struct al_screen_state *state,
                                        const struct al_screen_look *look,
                                        struct al_screen_key key);

/** The entry that is shown has vanished. */
void al_screen_vanished(struct al_screen_state *state);

/**
 * Take a key.  The last key of a sequence that encloses a paste becomes the key of its meaning.
 *
 * @return true: the key belongs to a sequence, and is no key of its own.
 */
bool al_screen_sequence_take(struct al_screen_sequence *sequence, struct al_screen_key *key);

#endif
