// SPDX-License-Identifier: Apache-2.0
/*
 * ncurses (wide), loaded at run time: only the screen of `airlock review` needs it, and every other
 * command starts as fast as before.
 *
 * Only functions are used.  The macros of curses.h would touch its variables, such as stdscr.
 *
 * Source: curs_initscr(3), curs_get_wch(3), curs_attr(3).
 */
#ifndef AL_REVIEW_SCREEN_LIBRARY_H
#define AL_REVIEW_SCREEN_LIBRARY_H

#define NCURSES_NOMACROS         1
#define NCURSES_WIDECHAR         1
#define NCURSES_ENABLE_STDBOOL_H 1
#include <curses.h>

#include "base/error.h"

/** The functions of the library that are used here. */
#define AL_CURSES_FUNCTIONS(X)                                                                     \
    X(newterm)                                                                                     \
    X(delscreen)                                                                                   \
    X(endwin)                                                                                      \
    X(set_escdelay)                                                                                \
    X(raw)                                                                                         \
    X(noecho)                                                                                      \
    X(nonl)                                                                                        \
    X(keypad)                                                                                      \
    X(define_key)                                                                                  \
    X(nodelay)                                                                                     \
    X(newwin)                                                                                      \
    X(delwin)                                                                                      \
    X(wresize)                                                                                     \
    X(resizeterm)                                                                                  \
    X(wget_wch)                                                                                    \
    X(wmove)                                                                                       \
    X(waddnstr)                                                                                    \
    X(werase)                                                                                      \
    X(wattr_set)                                                                                   \
    X(wvline)                                                                                      \
    X(wrefresh)                                                                                    \
    X(redrawwin)                                                                                   \
    X(clearok)                                                                                     \
    X(curs_set)                                                                                    \
    X(beep)                                                                                        \
    X(has_colors)                                                                                  \
    X(start_color)                                                                                 \
    X(use_default_colors)                                                                          \
    X(init_pair)                                                                                   \
    X(reset_prog_mode)
/* NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member has none. */
#define AL_CURSES_MEMBER(name) __typeof__(&name) name;

/** The library, loaded or linked. */
struct al_curses {
    AL_CURSES_FUNCTIONS(AL_CURSES_MEMBER)
};

/**
 * Load the library once.  It stays loaded.
 *
 * @param soname  NULL but in tests.
 * @return 0; AL_ERR_NOT_FOUND with a line that says what to install.
 */
int al_curses_load(const char *soname, const struct al_curses **ret, struct al_error *err);

#endif
