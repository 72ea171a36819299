// SPDX-License-Identifier: Apache-2.0
/* cli/review/screen/keys.h: what keys do; an answer is given only by a key that came alone, for an
 * entry that the user saw. */
#include "review/screen/private.h"

#include <limits.h>

#include "tests/lib/assert.h"

static const struct al_screen_look question = {
    .kind = AL_ITEM_QUESTION, .waits = true, .offers_always = true, .settled = true
};
static const struct al_screen_look execution = { .kind = AL_ITEM_EXECUTION,
                                                 .settled = true,
                                                 .can_roll_back = true };

static struct al_screen_key letter(uint32_t c)
{
    return (struct al_screen_key){ .code = AL_KEY_CHAR, .c = c, .alone = true };
}

static struct al_screen_key special(enum al_key_code code)
{
    return (struct al_screen_key){ .code = code, .alone = true };
}

/* What a key does in a new state. */
static enum al_screen_do pressed(struct al_screen_look look, struct al_screen_key key)
{
    al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;

    return al_screen_press(&state, &look, key).what;
}

static void type(struct al_screen_state *state, const struct al_screen_look *look, const char *text)
{
    for (; *text; text++)
        (void)al_screen_press(state, look, letter((unsigned char)*text));
}

static void answers_count_for_a_question_that_was_seen(void **state)
{
    struct al_screen_look look = question;
    struct al_screen_key key = letter('a');

    (void)state;
    assert_int_equal(pressed(look, letter('a')), AL_DO_APPROVE);
    assert_int_equal(pressed(look, letter('A')), AL_DO_ALWAYS);
    look.offers_always = false;
    assert_int_equal(pressed(look, letter('A')), AL_DO_NOTHING);
    assert_int_equal(pressed(look, letter('a')), AL_DO_APPROVE);
    look.settled = false;
    assert_int_equal(pressed(look, letter('a')), AL_DO_NOTHING);
    look = question;
    look.waits = false;
    assert_int_equal(pressed(look, letter('a')), AL_DO_NOTHING);
    assert_int_equal(pressed(execution, letter('a')), AL_DO_NOTHING);
    assert_int_equal(pressed((struct al_screen_look){ .settled = true }, letter('a')),
                     AL_DO_NOTHING);
    key.alone = false;
    assert_int_equal(pressed(question, key), AL_DO_NOTHING);
    key.c = 'A';
    assert_int_equal(pressed(question, key), AL_DO_NOTHING);
}

static void a_rejection_asks_for_its_reason(void **unused)
{
    al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;

    (void)unused;
    assert_int_equal(al_screen_press(&state, &question, letter('r')).what, AL_DO_NOTHING);
    assert_int_equal(state.mode, AL_SCREEN_REASON);
    type(&state, &question, "a q\x15no");
    (void)al_screen_press(&state, &question, letter(0xe9));
    (void)al_screen_press(&state, &question, letter(0x1f600));
    (void)al_screen_press(&state, &question, letter('x'));
    (void)al_screen_press(&state, &question, special(AL_KEY_BACKSPACE));
    assert_int_equal(al_screen_press(&state, &question, special(AL_KEY_ENTER)).what, AL_DO_REJECT);
    assert_int_equal(state.mode, AL_SCREEN_BROWSE);
    assert_true(al_starts_with(state.input.buf, "no"));
    assert_true(al_ends_with(state.input.buf, "\u00e9\U0001f600"));
    (void)al_screen_press(&state, &question, letter('r'));
    assert_string_equal(state.input.buf, "");
    assert_int_equal(al_screen_press(&state, &question, special(AL_KEY_ESCAPE)).what,
                     AL_DO_NOTHING);
    assert_int_equal(state.mode, AL_SCREEN_BROWSE);
}

static void a_reason_has_a_limit(void **unused)
{
    al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;

    (void)unused;
    (void)al_screen_press(&state, &question, letter('r'));
    for (size_t i = 0; i < AL_SCREEN_INPUT_MAX_BYTES - 1; i++)
        (void)al_screen_press(&state, &question, letter('x'));
    (void)al_screen_press(&state, &question, letter(0xe9));
    assert_int_equal(state.input.len, AL_SCREEN_INPUT_MAX_BYTES - 1);
    (void)al_screen_press(&state, &question, letter('x'));
    assert_int_equal(state.input.len, AL_SCREEN_INPUT_MAX_BYTES);
    (void)al_screen_press(&state, &question, letter('x'));
    assert_int_equal(state.input.len, AL_SCREEN_INPUT_MAX_BYTES);
}

/* The user goes on typing the reason while the question vanishes. */
static void what_is_typed_for_a_vanished_question_does_nothing(void **unused)
{
    al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;

    (void)unused;
    (void)al_screen_press(&state, &question, letter('r'));
    type(&state, &question, "not");
    al_screen_vanished(&state);
    for (const char *c = "a A y u q"; *c; c++)
        assert_int_equal(al_screen_press(&state, &question, letter((unsigned char)*c)).what,
                         AL_DO_NOTHING);
    assert_int_equal(state.mode, AL_SCREEN_HELD);
    assert_int_equal(al_screen_press(&state, &question, special(AL_KEY_ENTER)).what, AL_DO_NOTHING);
    assert_int_equal(state.mode, AL_SCREEN_BROWSE);
    al_screen_vanished(&state);
    assert_int_equal(state.mode, AL_SCREEN_BROWSE);
}

static void a_rollback_is_confirmed(void **unused)
{
    al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;
    struct al_screen_look look = execution;
    struct al_screen_key crowded = letter('y');

    (void)unused;
    crowded.alone = false;
    assert_int_equal(al_screen_press(&state, &look, letter('y')).what, AL_DO_NOTHING);
    assert_int_equal(al_screen_press(&state, &look, letter('u')).what, AL_DO_PREVIEW);
    assert_int_equal(al_screen_press(&state, &look, letter('y')).what, AL_DO_NOTHING);
    look.previewed = true;
    assert_int_equal(al_screen_press(&state, &look, crowded).what, AL_DO_NOTHING);
    assert_int_equal(al_screen_press(&state, &look, letter('a')).what, AL_DO_NOTHING);
    assert_int_equal(al_screen_press(&state, &look, letter(' ')).what, AL_DO_PAGE);
    assert_int_equal(al_screen_press(&state, &look, letter('y')).what, AL_DO_ROLL_BACK);
    (void)al_screen_press(&state, &look, letter('u'));
    assert_int_equal(al_screen_press(&state, &look, letter('n')).what, AL_DO_LEAVE_PREVIEW);
    assert_int_equal(al_screen_press(&state, &look, letter('y')).what, AL_DO_NOTHING);
    look.can_roll_back = false;
    assert_int_equal(al_screen_press(&state, &look, letter('u')).what, AL_DO_NOTHING);
    assert_int_equal(pressed(question, letter('u')), AL_DO_NOTHING);
    crowded.c = 'u';
    assert_int_equal(pressed(execution, crowded), AL_DO_NOTHING);
}

/* ESC [ A, ESC [ 1 ; 2 A and ESC O A, whose ESC came long before the rest. */
static void a_sequence_in_pieces_is_no_answer(void **unused)
{
    static const char *const rests[] = { "[A", "[1;2A", "OA", "[a", "Oa", "[[A" };

    (void)unused;
    for (size_t i = 0; i < AL_COUNT(rests); i++) {
        al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;

        (void)al_screen_press(&state, &question, special(AL_KEY_ESCAPE));
        for (const char *c = rests[i]; *c; c++)
            assert_int_equal(al_screen_press(&state, &question, letter((unsigned char)*c)).what,
                             AL_DO_NOTHING);
        assert_int_equal(al_screen_press(&state, &question, letter('a')).what, AL_DO_APPROVE);
    }
}

/* Keys that came alone: nothing but the marks says that they are a paste. */
static void what_is_pasted_decides_nothing(void **unused)
{
    al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;

    (void)unused;
    (void)al_screen_press(&state, &question, special(AL_KEY_PASTE_BEGIN));
    for (const char *c = "aArujq/?"; *c; c++)
        assert_int_equal(al_screen_press(&state, &question, letter((unsigned char)*c)).what,
                         AL_DO_NOTHING);
    assert_int_equal(al_screen_press(&state, &question, letter('z' & 0x1f)).what, AL_DO_NOTHING);
    assert_int_equal(state.mode, AL_SCREEN_BROWSE);
    assert_string_equal(state.message, "Pasted text is not taken as keys");
    (void)al_screen_press(&state, &question, special(AL_KEY_PASTE_END));
    assert_int_equal(al_screen_press(&state, &question, letter('a')).what, AL_DO_APPROVE);
}

static void what_is_pasted_confirms_no_rollback(void **unused)
{
    al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;
    struct al_screen_look look = execution;

    (void)unused;
    (void)al_screen_press(&state, &look, letter('u'));
    look.previewed = true;
    (void)al_screen_press(&state, &look, special(AL_KEY_PASTE_BEGIN));
    assert_int_equal(al_screen_press(&state, &look, letter('y')).what, AL_DO_NOTHING);
    assert_int_equal(state.mode, AL_SCREEN_CONFIRM);
    (void)al_screen_press(&state, &look, special(AL_KEY_PASTE_END));
    assert_int_equal(al_screen_press(&state, &look, letter('y')).what, AL_DO_ROLL_BACK);
}

static void a_reason_can_be_pasted_and_is_not_sent_by_it(void **unused)
{
    al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;

    (void)unused;
    type(&state, &question, "rsee ");
    (void)al_screen_press(&state, &question, special(AL_KEY_PASTE_BEGIN));
    type(&state, &question, "line 1");
    assert_int_equal(al_screen_press(&state, &question, special(AL_KEY_ENTER)).what, AL_DO_NOTHING);
    assert_int_equal(al_screen_press(&state, &question, special(AL_KEY_ESCAPE)).what,
                     AL_DO_NOTHING);
    assert_int_equal(al_screen_press(&state, &question, letter('u' & 0x1f)).what, AL_DO_NOTHING);
    type(&state, &question, "a");
    (void)al_screen_press(&state, &question, special(AL_KEY_PASTE_END));
    assert_string_equal(state.input.buf, "see line 1 a");
    assert_int_equal(al_screen_press(&state, &question, special(AL_KEY_ENTER)).what, AL_DO_REJECT);
}

/* The marks of a paste are sequences too, and may arrive in pieces. */
static void a_paste_is_known_by_marks_in_pieces(void **unused)
{
    static const struct {
        const char *rest;
        enum al_screen_do what;
    } marks[] = { { "[200~", AL_DO_NOTHING },   { "[0200~", AL_DO_NOTHING },
                  { "[20~", AL_DO_APPROVE },    { "[201~", AL_DO_APPROVE },
                  { "[2;200~", AL_DO_NOTHING }, { "[4294967496~", AL_DO_APPROVE } };

    (void)unused;
    for (size_t i = 0; i < AL_COUNT(marks); i++) {
        al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;

        (void)al_screen_press(&state, &question, special(AL_KEY_ESCAPE));
        type(&state, &question, marks[i].rest);
        assert_int_equal(al_screen_press(&state, &question, letter('a')).what, marks[i].what);
        (void)al_screen_press(&state, &question, special(AL_KEY_ESCAPE));
        type(&state, &question, "[201~");
        assert_int_equal(al_screen_press(&state, &question, letter('a')).what, AL_DO_APPROVE);
    }
}

static void a_paste_without_an_end_is_ended_by_a_key(void **unused)
{
    al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;
    struct al_screen_key key = letter('c' & 0x1f);

    (void)unused;
    (void)al_screen_press(&state, &question, special(AL_KEY_PASTE_BEGIN));
    key.alone = false;
    assert_int_equal(al_screen_press(&state, &question, key).what, AL_DO_NOTHING);
    key.alone = true;
    assert_int_equal(al_screen_press(&state, &question, key).what, AL_DO_QUIT);
}

/* Ctrl-L is no key of any mode, so that what is typed or confirmed stays. */
static void a_screen_can_be_drawn_again_in_every_mode(void **unused)
{
    static const enum al_screen_mode modes[] = { AL_SCREEN_BROWSE, AL_SCREEN_REASON,
                                                 AL_SCREEN_FILTER, AL_SCREEN_CONFIRM,
                                                 AL_SCREEN_HELP,   AL_SCREEN_HELD };

    (void)unused;
    for (size_t i = 0; i < AL_COUNT(modes); i++) {
        al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;

        state.mode = modes[i];
        assert_int_equal(al_screen_press(&state, &question, letter('l' & 0x1f)).what, AL_DO_REDRAW);
        assert_int_equal(state.mode, modes[i]);
        assert_int_equal(state.input.len, 0);
    }
}

/* What cannot be seen cannot be answered, and a paste is followed all the same. */
static void a_terminal_that_is_too_small_takes_few_keys(void **unused)
{
    al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;
    struct al_screen_look look = question;

    (void)unused;
    look.too_small = true;
    assert_int_equal(al_screen_press(&state, &look, letter('a')).what, AL_DO_NOTHING);
    assert_int_equal(al_screen_press(&state, &look, letter('j')).what, AL_DO_NOTHING);
    assert_int_equal(al_screen_press(&state, &look, letter('z' & 0x1f)).what, AL_DO_SUSPEND);
    assert_int_equal(al_screen_press(&state, &look, letter('q')).what, AL_DO_QUIT);
    (void)al_screen_press(&state, &look, special(AL_KEY_PASTE_BEGIN));
    assert_int_equal(al_screen_press(&state, &look, letter('q')).what, AL_DO_NOTHING);
    assert_int_equal(al_screen_press(&state, &question, letter('a')).what, AL_DO_NOTHING);
    (void)al_screen_press(&state, &look, special(AL_KEY_PASTE_END));
    assert_int_equal(al_screen_press(&state, &question, letter('a')).what, AL_DO_APPROVE);
}

static void keys_move_the_pane_that_has_them(void **unused)
{
    al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;

    (void)unused;
    assert_int_equal(al_screen_press(&state, &question, letter('j')).what, AL_DO_SELECT);
    assert_int_equal(al_screen_press(&state, &question, special(AL_KEY_UP)).by, -1);
    assert_int_equal(al_screen_press(&state, &question, letter('G')).by, INT_MAX);
    (void)al_screen_press(&state, &question, special(AL_KEY_TAB));
    assert_int_equal(al_screen_press(&state, &question, letter('j')).what, AL_DO_SCROLL);
    assert_int_equal(al_screen_press(&state, &question, letter('g')).what, AL_DO_PAGE);
    (void)al_screen_press(&state, &question, special(AL_KEY_TAB));
    assert_int_equal(al_screen_press(&state, &question, special(AL_KEY_DOWN)).what, AL_DO_SELECT);
    assert_int_equal(al_screen_press(&state, &question, special(AL_KEY_PAGE_DOWN)).what,
                     AL_DO_PAGE);
}

static void the_filter_is_typed(void **unused)
{
    al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;

    (void)unused;
    (void)al_screen_press(&state, &question, letter('/'));
    assert_int_equal(al_screen_press(&state, &question, letter('a')).what, AL_DO_FILTER);
    assert_int_equal(al_screen_press(&state, &question, letter('q')).what, AL_DO_FILTER);
    (void)al_screen_press(&state, &question, special(AL_KEY_ENTER));
    assert_string_equal(state.filter.buf, "aq");
    assert_int_equal(al_screen_press(&state, &question, letter('a')).what, AL_DO_APPROVE);
    assert_int_equal(al_screen_press(&state, &question, special(AL_KEY_ESCAPE)).what, AL_DO_FILTER);
    assert_string_equal(state.filter.buf, "");
}

static void help_swallows_one_key(void **unused)
{
    al_auto(al_screen_state_clear) struct al_screen_state state = AL_SCREEN_STATE_INIT;

    (void)unused;
    (void)al_screen_press(&state, &question, letter('?'));
    assert_int_equal(al_screen_press(&state, &question, letter('a')).what, AL_DO_NOTHING);
    assert_int_equal(al_screen_press(&state, &question, letter('q')).what, AL_DO_QUIT);
    assert_int_equal(pressed(question, letter('q')), AL_DO_QUIT);
    assert_int_equal(pressed(question, letter('c' & 0x1f)), AL_DO_QUIT);
    assert_int_equal(pressed(question, letter('z' & 0x1f)), AL_DO_SUSPEND);
    assert_int_equal(pressed(question, letter('x')), AL_DO_NOTHING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_count_for_a_question_that_was_seen),
        cmocka_unit_test(a_rejection_asks_for_its_reason),
        cmocka_unit_test(a_reason_has_a_limit),
        cmocka_unit_test(what_is_typed_for_a_vanished_question_does_nothing),
        cmocka_unit_test(a_rollback_is_confirmed),
        cmocka_unit_test(a_sequence_in_pieces_is_no_answer),
        cmocka_unit_test(what_is_pasted_decides_nothing),
        cmocka_unit_test(what_is_pasted_confirms_no_rollback),
        cmocka_unit_test(a_reason_can_be_pasted_and_is_not_sent_by_it),
        cmocka_unit_test(a_paste_is_known_by_marks_in_pieces),
        cmocka_unit_test(a_paste_without_an_end_is_ended_by_a_key),
        cmocka_unit_test(a_screen_can_be_drawn_again_in_every_mode),
        cmocka_unit_test(a_terminal_that_is_too_small_takes_few_keys),
        cmocka_unit_test(keys_move_the_pane_that_has_them),
        cmocka_unit_test(the_filter_is_typed),
        cmocka_unit_test(help_swallows_one_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
