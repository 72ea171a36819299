// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <string.h>

#include "base/utf8.h"
#include "review/screen/private.h"

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

/*
 * Take a key.  The last key of a sequence that encloses a paste becomes the key of its meaning.
 *
 * @return true: the key belongs to a sequence, and is no key of its own.
 */
static bool take_sequence(struct al_screen_sequence *sequence, struct al_screen_key *key)
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

#define CTRL(letter) ((letter)&0x1f)

void al_screen_state_clear(struct al_screen_state *state)
{
    al_str_clear(&state->input);
    al_str_clear(&state->filter);
    *state = AL_SCREEN_STATE_INIT;
}

static struct al_screen_action does(enum al_screen_do what, int by)
{
    return (struct al_screen_action){ .what = what, .by = by };
}

static struct al_screen_action nothing(struct al_screen_state *state, const char *why)
{
    state->message = why;
    return does(AL_DO_NOTHING, 0);
}

/* --- Text that is typed --- */

static void add_char(struct al_str *text, uint32_t c)
{
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;

    al_utf8_add(c, &bytes);
    if (al_utf8_valid(bytes.buf, bytes.len) && text->len + bytes.len <= AL_SCREEN_INPUT_MAX_BYTES)
        al_str_add(text, bytes.buf, bytes.len);
}

/* Change a text by a key. */
static void type(struct al_str *text, struct al_screen_key key)
{
    if (key.code == AL_KEY_BACKSPACE && text->len)
        al_str_truncate(text, al_utf8_floor(text->buf, text->len - 1));
    else if (key.code == AL_KEY_CHAR && key.c == CTRL('u'))
        al_str_reset(text);
    else if (key.code == AL_KEY_CHAR && key.c >= ' ' && key.c != 0x7f)
        add_char(text, key.c);
}

static bool is_stop(struct al_screen_key key)
{
    return key.code == AL_KEY_ESCAPE || (key.code == AL_KEY_CHAR && key.c == CTRL('c'));
}

static struct al_screen_action press_in_reason(struct al_screen_state *state,
                                               struct al_screen_key key)
{
    if (is_stop(key)) {
        state->mode = AL_SCREEN_BROWSE;
        return nothing(state, "Nothing was answered");
    }
    if (key.code != AL_KEY_ENTER) {
        type(&state->input, key);
        return does(AL_DO_NOTHING, 0);
    }
    state->mode = AL_SCREEN_BROWSE;
    return does(AL_DO_REJECT, 0);
}

static struct al_screen_action press_in_filter(struct al_screen_state *state,
                                               struct al_screen_key key)
{
    if (is_stop(key))
        al_str_reset(&state->filter);
    else
        type(&state->filter, key);
    if (is_stop(key) || key.code == AL_KEY_ENTER)
        state->mode = AL_SCREEN_BROWSE;
    return does(AL_DO_FILTER, 0);
}

/* A pasted end of line is a blank: what ends the text is typed. */
static struct al_screen_action paste(struct al_screen_state *state, struct al_screen_key key)
{
    const bool in_reason = state->mode == AL_SCREEN_REASON,
               in_filter = state->mode == AL_SCREEN_FILTER;

    if (key.code == AL_KEY_ENTER || key.code == AL_KEY_TAB)
        key = (struct al_screen_key){ .code = AL_KEY_CHAR, .c = ' ' };
    if (key.code == AL_KEY_CHAR && key.c >= ' ' && (in_reason || in_filter))
        type(in_reason ? &state->input : &state->filter, key);
    if (in_reason || in_filter)
        return does(in_filter ? AL_DO_FILTER : AL_DO_NOTHING, 0);
    return state->mode == AL_SCREEN_HELD ? does(AL_DO_NOTHING, 0)
                                         : nothing(state, "Pasted text is not taken as keys");
}

/* --- Looking around --- */

/* Moves the list or the text; a page always is one of the text. */
static bool press_to_move(struct al_screen_key key, enum al_screen_pane pane,
                          struct al_screen_action *ret)
{
    static const struct {
        enum al_key_code code;
        uint32_t chars[2];
        int by;
        enum al_screen_do in_list, in_text;
    } moves[] = {
        { AL_KEY_PAGE_DOWN, { ' ', CTRL('f') }, 1, AL_DO_PAGE, AL_DO_PAGE },
        { AL_KEY_PAGE_UP, { 'b', CTRL('b') }, -1, AL_DO_PAGE, AL_DO_PAGE },
        { AL_KEY_DOWN, { 'j', 'j' }, 1, AL_DO_SELECT, AL_DO_SCROLL },
        { AL_KEY_UP, { 'k', 'k' }, -1, AL_DO_SELECT, AL_DO_SCROLL },
        { AL_KEY_HOME, { 'g', 'g' }, INT_MIN, AL_DO_SELECT, AL_DO_PAGE },
        { AL_KEY_END, { 'G', 'G' }, INT_MAX, AL_DO_SELECT, AL_DO_PAGE },
    };

    for (size_t i = 0; i < AL_COUNT(moves); i++)
        if (key.code == moves[i].code ||
            (key.code == AL_KEY_CHAR &&
             (key.c == moves[i].chars[0] || key.c == moves[i].chars[1]))) {
            *ret = does(pane == AL_PANE_LIST ? moves[i].in_list : moves[i].in_text, moves[i].by);
            return true;
        }
    return false;
}

static struct al_screen_action press_in_confirm(struct al_screen_state *state,
                                                const struct al_screen_look *look,
                                                struct al_screen_key key)
{
    const uint32_t c = key.code == AL_KEY_CHAR ? key.c : 0;
    struct al_screen_action action;

    if (press_to_move(key, AL_PANE_TEXT, &action))
        return action;
    if (is_stop(key) || c == 'n' || c == 'q') {
        state->mode = AL_SCREEN_BROWSE;
        state->message = "Nothing was rolled back";
        return does(AL_DO_LEAVE_PREVIEW, 0);
    }
    if (c != 'y')
        return does(AL_DO_NOTHING, 0);
    if (!key.alone)
        return nothing(state, "Several keys came at once; press y alone");
    if (!look->previewed)
        return nothing(state, "There is nothing that could be done yet");
    state->mode = AL_SCREEN_BROWSE;
    return does(AL_DO_ROLL_BACK, 0);
}

/* --- Deciding --- */

/* Why a question cannot be answered now; NULL: it can. */
static const char *no_answer(const struct al_screen_look *look, struct al_screen_key key)
{
    if (look->kind != AL_ITEM_QUESTION)
        return "Only a call that waits can be answered";
    if (!look->waits)
        return "This question no longer waits";
    if (!key.alone)
        return "Several keys came at once, so none of them answers; press it again";
    if (!look->settled)
        return "This was shown just now; look at it, then press the key again";
    if (key.c == 'A' && !look->offers_always)
        return "This question takes no \"always\"; a approves it once";
    return NULL;
}

static struct al_screen_action answer(struct al_screen_state *state,
                                      const struct al_screen_look *look, struct al_screen_key key)
{
    const char *why = no_answer(look, key);

    if (why)
        return nothing(state, why);
    if (key.c != 'r')
        return does(key.c == 'A' ? AL_DO_ALWAYS : AL_DO_APPROVE, 0);
    al_str_reset(&state->input);
    state->mode = AL_SCREEN_REASON;
    return does(AL_DO_NOTHING, 0);
}

static struct al_screen_action preview(struct al_screen_state *state,
                                       const struct al_screen_look *look, struct al_screen_key key)
{
    if (look->kind != AL_ITEM_EXECUTION)
        return nothing(state, "Only what has happened can be rolled back");
    if (!look->can_roll_back)
        return nothing(state, "No checkpoint: it changed nothing that could be brought back");
    if (!key.alone)
        return nothing(state, "Several keys came at once; press u again");
    state->mode = AL_SCREEN_CONFIRM;
    return does(AL_DO_PREVIEW, 0);
}

/* The keys that are no movement. */
static struct al_screen_action press_command(struct al_screen_state *state,
                                             const struct al_screen_look *look,
                                             struct al_screen_key key)
{
    switch (key.c) {
    case 'a':
    case 'A':
    case 'r':
        return answer(state, look, key);
    case 'u':
        return preview(state, look, key);
    case '/':
        state->mode = AL_SCREEN_FILTER;
        return does(AL_DO_NOTHING, 0);
    case 'd':
        state->is_wide = !state->is_wide;
        state->pane = state->is_wide ? AL_PANE_TEXT : AL_PANE_LIST;
        return does(AL_DO_NOTHING, 0);
    case 'c':
        state->only_changes = !state->only_changes;
        return does(AL_DO_CHANGES, 0);
    case '?':
    case 'h':
        state->mode = AL_SCREEN_HELP;
        return does(AL_DO_NOTHING, 0);
    case 'q':
    case CTRL('c'):
        return does(AL_DO_QUIT, 0);
    default:
        return nothing(state, "Unknown key; ? lists the keys");
    }
}

static struct al_screen_action press_in_browse(struct al_screen_state *state,
                                               const struct al_screen_look *look,
                                               struct al_screen_key key)
{
    struct al_screen_action action;

    if (key.code == AL_KEY_TAB || key.code == AL_KEY_ENTER) {
        state->pane = state->pane == AL_PANE_LIST ? AL_PANE_TEXT : AL_PANE_LIST;
        state->is_wide = false;
        return does(AL_DO_NOTHING, 0);
    }
    if (key.code == AL_KEY_ESCAPE) {
        state->pane = AL_PANE_LIST;
        state->is_wide = false;
        al_str_reset(&state->filter);
        return does(AL_DO_FILTER, 0);
    }
    if (press_to_move(key, state->pane, &action))
        return action;
    return key.code == AL_KEY_CHAR ? press_command(state, look, key) : does(AL_DO_NOTHING, 0);
}

/* A key that was typed. */
static struct al_screen_action press(struct al_screen_state *state,
                                     const struct al_screen_look *look, struct al_screen_key key)
{
    if (state->mode != AL_SCREEN_HELD)
        state->message = "";
    switch (state->mode) {
    case AL_SCREEN_REASON:
        return press_in_reason(state, key);
    case AL_SCREEN_FILTER:
        return press_in_filter(state, key);
    case AL_SCREEN_CONFIRM:
        return press_in_confirm(state, look, key);
    case AL_SCREEN_HELP:
        state->mode = AL_SCREEN_BROWSE;
        return does(AL_DO_NOTHING, 0);
    case AL_SCREEN_HELD:
        if (key.code == AL_KEY_ENTER || is_stop(key)) {
            state->mode = AL_SCREEN_BROWSE;
            state->message = "";
        }
        return does(AL_DO_NOTHING, 0);
    case AL_SCREEN_BROWSE:
    default:
        return press_in_browse(state, look, key);
    }
}

struct al_screen_action al_screen_press(struct al_screen_state *state,
                                        const struct al_screen_look *look, struct al_screen_key key)
{
    uint32_t c;

    if (take_sequence(&state->sequence, &key))
        return does(AL_DO_NOTHING, 0);
    c = key.code == AL_KEY_CHAR ? key.c : 0;
    if (key.code == AL_KEY_PASTE_BEGIN || key.code == AL_KEY_PASTE_END) {
        state->pastes = key.code == AL_KEY_PASTE_BEGIN;
        return does(AL_DO_NOTHING, 0);
    }
    /* The end of a paste may be lost: Ctrl-C of the user is never part of one. */
    if (state->pastes && !(c == CTRL('c') && key.alone))
        return paste(state, key);
    state->pastes = false;
    if (c == CTRL('z'))
        return does(AL_DO_SUSPEND, 0);
    if (look->too_small && c != 'q' && c != CTRL('c'))
        return does(AL_DO_NOTHING, 0);
    if (c == CTRL('l')) {
        if (state->mode != AL_SCREEN_HELD)
            state->message = "";
        return does(AL_DO_REDRAW, 0);
    }
    return press(state, look, key);
}

void al_screen_vanished(struct al_screen_state *state)
{
    if (state->mode == AL_SCREEN_REASON) {
        state->mode = AL_SCREEN_HELD;
        state->message = "The question no longer waits, so nothing was answered; Enter goes on";
    }
}
