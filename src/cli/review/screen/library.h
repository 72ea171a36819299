// SPDX-License-Identifier: Apache-2.0
/*
 * ncurses (wide), loaded at run time: only the screen of `airlock review` needs it, and every other
 * command starts as fast as before.
 *
 * Only functions are used.  The macros of curses.h would touch its variables, such as stdscr.
 *
 * Source: curs_initscr(3), curs_get_wch(3), curs_attr(3).
 */
#ifndef AL_CLI_REVIEW_SCREEN_LIBRARY_H
#define AL_CLI_REVIEW_SCREEN_LIBRARY_H

#define NCURSES_NOMACROS         1
#define NCURSES_WIDECHAR         1
#define NCURSES_ENABLE_STDBOOL_H 1
#include <curses.h>

#include "util/error.h"

/** The functions of the library that are used here, with their names. */
struct al_curses {
    __typeof__(&newterm) newterm;
    __typeof__(&delscreen) delscreen;
    __typeof__(&endwin) endwin;
    __typeof__(&set_escdelay) set_escdelay;
    __typeof__(&raw) raw;
    __typeof__(&noecho) noecho;
    __typeof__(&nonl) nonl;
    __typeof__(&keypad) keypad;
    __typeof__(&define_key) define_key;
    __typeof__(&nodelay) nodelay;
    __typeof__(&newwin) newwin;
    __typeof__(&delwin) delwin;
    __typeof__(&wresize) wresize;
    __typeof__(&resizeterm) resizeterm;
    __typeof__(&wget_wch) wget_wch;
    __typeof__(&wmove) wmove;
    __typeof__(&waddnstr) waddnstr;
    __typeof__(&werase) werase;
    __typeof__(&wattr_set) wattr_set;
    __typeof__(&wvline) wvline;
    __typeof__(&wrefresh) wrefresh;
    __typeof__(&redrawwin) redrawwin;
    __typeof__(&clearok) clearok;
    __typeof__(&curs_set) curs_set;
    __typeof__(&beep) beep;
    __typeof__(&has_colors) has_colors;
    __typeof__(&start_color) start_color;
    __typeof__(&use_default_colors) use_default_colors;
    __typeof__(&init_pair) init_pair;
    __typeof__(&reset_prog_mode) reset_prog_mode;
};

/**
 * Load the library once.  It stays loaded.
 *
 * @param soname  NULL but in tests.
 * @return 0; AL_ERR_NOT_FOUND with a line that says what to install.
 */
int al_curses_load(const char *soname, const struct al_curses **ret, struct al_error *err);

#endif
