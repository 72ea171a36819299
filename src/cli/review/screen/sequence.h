// SPDX-License-Identifier: Apache-2.0
/*
 * Sequences whose ESC came as a key of its own, because a slow line has cut them in two.  Without
 * this, the rest of such a sequence would be keys: the A of "cursor up" is one that decides.
 *
 * Source: ECMA-48 5.4 (control sequences), XTerm Control Sequences (bracketed paste mode).
 */
#ifndef AL_CLI_REVIEW_SCREEN_SEQUENCE_H
#define AL_CLI_REVIEW_SCREEN_SEQUENCE_H

#include <stdbool.h>

#include "cli/review/screen/key.h"

/** How a terminal encloses a paste, once it was asked to. */
#define AL_SEQUENCE_PASTE_BEGIN "\033[200~"
#define AL_SEQUENCE_PASTE_END   "\033[201~"

/** Where the last key has left a sequence.  Zeroed: in none. */
struct al_screen_sequence {
    int place;          /**< private */
    unsigned parameter; /**< private: the last number of the sequence */
};

/**
 * Take a key.  The last key of a sequence that encloses a paste becomes the key of its meaning.
 *
 * @return true: the key belongs to a sequence, and is no key of its own.
 */
bool al_screen_sequence_take(struct al_screen_sequence *sequence, struct al_screen_key *key);

#endif
