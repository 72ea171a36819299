// SPDX-License-Identifier: Apache-2.0
/*
 * Inside the screen of airlock review.
 *
 *   screen.c     the loop; door, model and children, and how these change what is shown
 *   keys.c       what a key does
 *   text.c       any text in rows and columns
 *   terminal.c   ncurses and the signals that concern a terminal; where everything is, and how it
 *                looks
 *
 * Threads: one.
 */
#ifndef AL_REVIEW_SCREEN_PRIVATE_H
#define AL_REVIEW_SCREEN_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "guard/approval.h"
#include "review/command/job.h"
#include "review/command/model.h"
#include "review/command/notify.h"
#include "review/door.h"
#include "review/lines.h"

/* --- text.c: cells --- */

/*
 * Any text, cut to the columns of a terminal.  Everything that the screen writes comes through
 * here, so nothing else reaches the terminal than visible characters whose width is known:
 *
 *   shown as <U+202E>   controls, invisible characters, bidi controls, characters without a width,
 *                       combining characters without a base or beyond AL_CELLS_MARKS_MAX on one;
 *                       in a locale that is not UTF-8, everything but ASCII
 *   shown as U+FFFD     a byte that is not UTF-8 ("?" in such a locale)
 *   blanks              a tab, up to the next multiple of 8
 *
 * Source: wcwidth(3), base/utf8.h.
 */

/** Combining characters on one base. */
#define AL_CELLS_MARKS_MAX 2

/** The columns of the widest thing that is not cut in two, <U+10FFFF>. */
#define AL_CELLS_WIDEST 10

/** Use the locale of the environment for the characters of the terminal.  Called once, before the
 * rest; everything but ASCII is escaped without it. */
void al_cells_use_locale(void);

/**
 * Append as much of a text as fits.  A newline is a control here.
 *
 * @param columns      At least AL_CELLS_WIDEST; with fewer, something may not fit at all.
 * @param out          May be NULL: only measure.
 * @param ret_columns  The columns that it takes; may be NULL.
 * @return the bytes of the text that were used.
 */
size_t al_cells_cut(const char *text, size_t len, size_t columns, struct al_str *out,
                    size_t *ret_columns);

/** Append a text in exactly this many columns: with blanks behind it, or cut, with a mark that says
 * so. */
void al_cells_fit(const char *text, size_t columns, struct al_str *out);

/** The same without the blanks.  Returns the columns that it takes. */
size_t al_cells_shorten(const char *text, size_t columns, struct al_str *out);

/* --- text.c: the text of an entry --- */

/*
 * Lines about the entry, its text, further lines about it.  They are wrapped, so nothing is out of
 * sight at the side.
 */

/** A row: a part of a line. */
struct al_page_row {
    size_t line; /**< its number, from 0 */
    size_t begin, len;
};

/** Set up with AL_PAGE_INIT. */
struct al_page {
    struct al_strv head, facts; /**< lines before the text, the first is the title; and after it */
    struct al_str text;
    struct al_review_line *lines; /**< all of them */
    size_t nlines;
    size_t columns;           /**< that the rows are wrapped for; 0: they are of another text */
    struct al_page_row *rows; /**< all of them */
    size_t nrows, top;        /**< and the first one that is seen */
};

#define AL_PAGE_INIT                                                                               \
    ((struct al_page){ .head = AL_STRV_INIT, .facts = AL_STRV_INIT, .text = AL_STR_INIT })

void al_page_clear(struct al_page *page);

/** Replace the text.  The place stays as far as there is such a line. */
void al_page_set_text(struct al_page *page, const char *text, size_t len);

/** The rows that are seen.  Returns how many there are, at most `max`.  Borrowed until the page
 * changes. */
size_t al_page_rows(struct al_page *page, size_t columns, size_t max,
                    const struct al_page_row **ret_rows);

/** Move by any number of rows, backwards if negative.  The last row does not come above the last of
 * `height`. */
void al_page_scroll(struct al_page *page, size_t columns, size_t height, long by);

/* --- keys.c --- */

/*
 * The effect of a key: state and key give the next state and an action.  Nothing here draws, waits
 * or answers.
 *
 * An answer must be for the entry that the user saw:
 *
 * - A key that decides something counts only when it came alone.  Keys that come together are
 *   typed ahead, pasted, or a sequence that a slow line has cut in two; "a" and "A" are among
 *   those.
 * - Text that the terminal says is pasted is no keys, however it arrives.  It can only be text of a
 *   reason or a filter, and ends neither.
 * - It counts only once the entry is `settled`: the user moved to it, or it was shown long enough.
 * - The entry stays while a reason is typed, or a rollback is confirmed.  The keys that the user
 *   goes on typing do nothing until Enter or Esc if it vanishes.
 */

enum al_key_code {
    AL_KEY_CHAR, /**< `c` is the character */
    AL_KEY_UP,
    AL_KEY_DOWN,
    AL_KEY_PAGE_UP,
    AL_KEY_PAGE_DOWN,
    AL_KEY_HOME,
    AL_KEY_END,
    AL_KEY_TAB,
    AL_KEY_ENTER,
    AL_KEY_ESCAPE,
    AL_KEY_BACKSPACE,
    AL_KEY_PASTE_BEGIN, /**< what comes up to AL_KEY_PASTE_END is pasted, not typed */
    AL_KEY_PASTE_END,
    AL_KEY_OTHER,
};

struct al_screen_key {
    enum al_key_code code;
    uint32_t c;
    bool alone; /**< no other key came together with it, and it was typed after the last change of
                     what is shown */
};

/** The marks of a terminal around a paste, once it was asked for them. */
#define AL_SEQUENCE_PASTE_BEGIN "\033[200~"
#define AL_SEQUENCE_PASTE_END   "\033[201~"

/** The place of the last key in a sequence.  Zeroed: in none. */
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

/** The pane that keys move. */
enum al_screen_pane { AL_PANE_LIST, AL_PANE_TEXT };

/** The view when a key is typed. */
struct al_screen_look {
    enum al_item_kind kind;
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

/** The next thing to do. */
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
    bool is_wide;                       /**< the text has the whole screen */
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

/** The effect of a key. */
struct al_screen_action al_screen_press(struct al_screen_state *state,
                                        const struct al_screen_look *look,
                                        struct al_screen_key key);

/** The entry that is shown has vanished. */
void al_screen_vanished(struct al_screen_state *state);

/* --- terminal.c: the layout --- */

/*
 * The places of the parts of the screen:
 *
 *   title
 *   list             | head of the text
 *                    | text
 *   message
 *   keys
 */

/** The smallest terminal that everything fits on. */
#define AL_SCREEN_MIN_ROWS    12
#define AL_SCREEN_MIN_COLUMNS 60

/** A rectangle of cells, from 0 on. */
struct al_screen_area {
    int row, column, rows, columns;
};

struct al_screen_layout {
    bool too_small; /**< then the rest is 0 */
    int rows, columns;
    struct al_screen_area title, list, head, text, message, keys;
    int divider; /**< its column, between list and text */
};

/* --- screen.c: what is shown --- */

/** A row: an entry of the model, or a heading. */
struct al_screen_row {
    const char *heading; /**< NULL: it is an entry */
    const struct al_item *item;
};

struct al_screen_list {
    struct al_screen_row *rows;
    size_t count;
    size_t nwaiting, nrunning; /**< all there are, with those that the filter leaves out */
};

/** The entry that is chosen.  It stays chosen when it vanishes. */
struct al_screen_chosen {
    enum al_item_kind kind;
    char key[AL_ITEM_KEY_BYTES];
    size_t row;         /**< in the list; where it was, if it has vanished */
    bool gone;          /**< it is no longer in the list */
    bool waits;         /**< a question that can be answered */
    bool sent;          /**< this screen has answered the question, and waits for the reply */
    bool answered;      /**< and that answer counts */
    bool offers_always; /**< a question that takes "always" */
    bool can_roll_back;
    int64_t settles_ms; /**< from this time on it counts as seen; of al_clock_ms() */
};

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
    ((struct al_screen_view){ .state = AL_SCREEN_STATE_INIT, .page = AL_PAGE_INIT })

/** The view that a key finds. */
struct al_screen_look al_screen_view_look(const struct al_screen_view *view);

/* --- terminal.c --- */

/*
 * The terminal as a screen of cells: ncurses and the signals that concern a terminal.
 *
 * - Everything written goes through cells.h, so no text can do anything to the terminal.
 * - Standard error collects in memory while the screen is on; al_terminal_close() writes it.
 */

enum al_style {
    AL_STYLE_PLAIN,
    AL_STYLE_BOLD,
    AL_STYLE_DIM,
    AL_STYLE_BAR,    /**< reversed: title, selected entry */
    AL_STYLE_MARKED, /**< the selected entry while the other pane has the keys */
    AL_STYLE_ADDED,
    AL_STYLE_REMOVED,
    AL_STYLE_HUNK,
    AL_STYLE_WARNING,
};

struct al_terminal;

/** Take the terminal over.  AL_ERR_NOT_FOUND when that cannot be: no ncurses, no such TERM, no
 * terminal. */
int al_terminal_open(struct al_terminal **ret_terminal, struct al_error *err);

/** Put the terminal back as it was.  NULL is fine. */
void al_terminal_close(struct al_terminal *terminal);

/** Readable when a key or an end comes, and when a signal has come.  Borrowed. */
int al_terminal_key_fd(const struct al_terminal *terminal);
int al_terminal_signal_fd(void);

/** The next signal that has come: SIGTSTP, SIGWINCH, SIGCONT, or one that ends the screen; 0: none.
 */
int al_terminal_next_signal(void);

/** The next key.  False: none is pending.  `alone` is left to the caller. */
bool al_terminal_next_key(struct al_terminal *terminal, struct al_screen_key *ret_key);

/** Stop this process, as Ctrl-Z does, with the terminal as it was. */
void al_terminal_suspend(struct al_terminal *terminal);

/** The size has changed, or something else has written: forget what is on the screen. */
void al_terminal_restart(struct al_terminal *terminal);

/** Ring the bell. */
void al_terminal_ring(struct al_terminal *terminal);

/** Draw what the view says, for the size that the terminal has.  Sets its layout and list_top. */
void al_screen_draw(struct al_terminal *terminal, struct al_screen_view *view);

/** The columns in which the page is wrapped. */
size_t al_screen_page_columns(const struct al_screen_view *view);

#endif
