// SPDX-License-Identifier: Apache-2.0
#include "cli/review/screen/sequence.h"

/* The values of `place`. */
enum { OUTSIDE, AFTER_ESC, IN_SEQUENCE, BEFORE_LAST };

/* The numbers of the sequences around a paste. */
#define PASTE_BEGIN 200
#define PASTE_END   201

/* Far above every number that means something here. */
#define PARAMETER_MAX 9999

/* ESC [ was read, and this behind it. */
static bool take_in_sequence(struct al_screen_sequence *sequence, struct al_screen_key *key)
{
    if (key->c >= '0' && key->c <= '9' && sequence->parameter <= PARAMETER_MAX)
        sequence->parameter = sequence->parameter * 10 + (key->c - '0');
    else if (key->c != '~')
        sequence->parameter = 0;
    if ((key->c >= 0x20 && key->c < 0x40) || key->c == '[') { /* F1 of a console: ESC [ [ A */
        sequence->place = IN_SEQUENCE;
        return true;
    }
    if (sequence->parameter != PASTE_BEGIN && sequence->parameter != PASTE_END)
        return true;
    key->code = sequence->parameter == PASTE_BEGIN ? AL_KEY_PASTE_BEGIN : AL_KEY_PASTE_END;
    return false;
}

bool al_screen_sequence_take(struct al_screen_sequence *sequence, struct al_screen_key *key)
{
    const int before = sequence->place;
    const bool is_char = key->code == AL_KEY_CHAR;

    sequence->place = key->code == AL_KEY_ESCAPE ? AFTER_ESC : OUTSIDE;
    if (before == BEFORE_LAST)
        return is_char;
    if (before == AFTER_ESC && is_char && (key->c == '[' || key->c == 'O')) {
        *sequence =
            (struct al_screen_sequence){ .place = key->c == '[' ? IN_SEQUENCE : BEFORE_LAST };
        return true;
    }
    return before == IN_SEQUENCE && is_char && take_in_sequence(sequence, key);
}
