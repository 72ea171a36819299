// SPDX-License-Identifier: Apache-2.0
/*
 * The terminal as a screen of cells: ncurses and the signals that concern a terminal.
 *
 * - Everything written goes through cells.h, so no text can do anything to the terminal.
 * - While the screen is on, standard error collects in memory; al_terminal_close() writes it.
 *
 * Threads: one.  There is one terminal at a time.
 */
#ifndef AL_CLI_REVIEW_SCREEN_TERMINAL_H
#define AL_CLI_REVIEW_SCREEN_TERMINAL_H

#include <stdbool.h>

#include "cli/review/screen/keys.h"
#include "cli/review/screen/layout.h"
#include "util/error.h"

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

/** Whether standard output is a terminal that can be a screen, going by TERM. */
bool al_terminal_is_able(void);

/** Take the terminal over.  AL_ERR_NOT_FOUND when that cannot be: no ncurses, no such TERM, no
 * terminal. */
int al_terminal_open(struct al_terminal **ret_terminal, struct al_error *err);

/** Put the terminal back as it was.  NULL is fine. */
void al_terminal_close(struct al_terminal *terminal);

/** Readable when a key or an end comes, and when a signal has come.  Borrowed. */
int al_terminal_key_fd(const struct al_terminal *terminal);
int al_terminal_signal_fd(const struct al_terminal *terminal);

/** What signals ask for. */
enum al_terminal_event { AL_EVENT_NONE, AL_EVENT_REDRAW, AL_EVENT_SUSPEND, AL_EVENT_END };

/** Take the signals that have come.  *ret_signal is the one of AL_EVENT_END: the screen ends. */
enum al_terminal_event al_terminal_take_signals(struct al_terminal *terminal, int *ret_signal);

/** The next key.  False: none is pending.  `alone` is left to the caller. */
bool al_terminal_next_key(struct al_terminal *terminal, struct al_screen_key *ret_key);

/** Stop this process, as Ctrl-Z does, with the terminal as it was. */
void al_terminal_suspend(struct al_terminal *terminal);

/** The size has changed, or something else has written: forget what is on the screen. */
void al_terminal_restart(struct al_terminal *terminal);

/** The size in cells. */
void al_terminal_size(const struct al_terminal *terminal, int *ret_rows, int *ret_columns);

/** Begin an empty screen. */
void al_terminal_erase(struct al_terminal *terminal);

/** Write any text at a place, cut to these columns; `fills` writes blanks behind it. */
void al_terminal_write(struct al_terminal *terminal, int row, int column, int columns,
                       enum al_style style, bool fills, const char *text);

/** Draw a vertical line. */
void al_terminal_divide(struct al_terminal *terminal, int row, int column, int rows);

/** Show what was written, with the cursor at a place; a negative row hides it. */
void al_terminal_show(struct al_terminal *terminal, int row, int column);

/** Ring the bell. */
void al_terminal_ring(struct al_terminal *terminal);

#endif
