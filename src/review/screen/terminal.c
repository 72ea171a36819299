// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "cli/tty.h"
#include "review/screen/library.h"
#include "review/screen/private.h"
#include "review/screen/screen.h"

/* A key after Esc within this time in milliseconds belongs to a sequence. */
#define ESCAPE_MS 50

/* The size of a terminal that does not know its own. */
#define FALLBACK_ROWS    24
#define FALLBACK_COLUMNS 80

/* Keys that are no key of the library. */
#define PASTE_BEGIN_KEY (KEY_MAX + 1)
#define PASTE_END_KEY   (KEY_MAX + 2)

/* What is kept of standard error in bytes. */
#define NOTES_MAX_BYTES 65536

struct al_terminal {
    const struct al_curses *curses;
    FILE *file; /* /dev/tty */
    SCREEN *screen;
    WINDOW *window;
    int rows, columns;
    bool colours;
    int notes_fd, error_fd; /* collects standard error; standard error itself; -1: it is not
                               collected */
};

static const int handled[] = { SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGCONT, SIGWINCH };
static int signal_fds[2] = { -1, -1 }; /* a pipe of the numbers */
static struct sigaction old_actions[AL_COUNT(handled)];

bool al_terminal_is_able(void)
{
    const char *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

/* --- Signals --- */

static void note_signal(int number)
{
    const int saved = errno;
    const unsigned char byte = (unsigned char)number;

    (void)!write(signal_fds[1], &byte, 1);
    errno = saved;
}

/* A second signal that ends the screen has its usual effect: the first may find it writing to a
 * terminal that takes nothing. */
static void catch_signal(int number, struct sigaction *ret_old)
{
    const bool ends = number == SIGHUP || number == SIGINT || number == SIGTERM;
    const struct sigaction action = { .sa_handler = note_signal,
                                      .sa_flags = SA_RESTART | (ends ? (int)SA_RESETHAND : 0) };

    (void)sigaction(number, &action, ret_old);
}

static bool catch_signals(void)
{
    if (pipe2(signal_fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return false;
    for (size_t i = 0; i < AL_COUNT(handled); i++)
        (void)sigaction(handled[i], NULL, &old_actions[i]);
    return true;
}

static void restore_signals(void)
{
    for (size_t i = 0; i < AL_COUNT(handled); i++)
        (void)sigaction(handled[i], &old_actions[i], NULL);
    al_close(al_take_fd(&signal_fds[0]));
    al_close(al_take_fd(&signal_fds[1]));
}

enum al_terminal_event al_terminal_take_signals(struct al_terminal *terminal, int *ret_signal)
{
    enum al_terminal_event event = AL_EVENT_NONE;
    unsigned char byte;

    (void)terminal;
    while (event != AL_EVENT_END && read(signal_fds[0], &byte, 1) == 1) {
        *ret_signal = byte;
        event = byte == SIGTSTP                       ? AL_EVENT_SUSPEND
                : byte == SIGWINCH || byte == SIGCONT ? AL_EVENT_REDRAW
                                                      : AL_EVENT_END;
    }
    return event;
}

/* --- Beginning and end --- */

static void collect_notes(struct al_terminal *terminal)
{
    terminal->notes_fd = memfd_create("airlock-notes", MFD_CLOEXEC);
    terminal->error_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (terminal->notes_fd >= 0 && terminal->error_fd >= 0)
        (void)dup2(terminal->notes_fd, STDERR_FILENO);
}

static void write_notes(struct al_terminal *terminal)
{
    al_auto(al_freep) char *notes = al_malloc(NOTES_MAX_BYTES);
    ssize_t n;

    if (terminal->notes_fd >= 0 && terminal->error_fd >= 0) {
        (void)dup2(terminal->error_fd, STDERR_FILENO);
        n = pread(terminal->notes_fd, notes, NOTES_MAX_BYTES, 0);
        if (n > 0)
            (void)al_write_all(STDERR_FILENO, notes, (size_t)n);
    }
    al_close(terminal->notes_fd);
    al_close(terminal->error_fd);
}

/* Have the terminal enclose what is pasted.  A terminal that cannot do it ignores this. */
static void enclose_pastes(const struct al_terminal *terminal, bool on)
{
    const char *mode = on ? "\033[?2004h" : "\033[?2004l";

    (void)al_write_all(fileno(terminal->file), mode, strlen(mode));
}

static void start_colours(struct al_terminal *terminal)
{
    const struct al_curses *curses = terminal->curses;

    terminal->colours =
        al_tty_colours(STDOUT_FILENO) && curses->has_colors() && curses->start_color() == OK;
    if (!terminal->colours)
        return;
    (void)curses->use_default_colors();
    for (short colour = 1; colour < 8; colour++) /* the pair of a colour has its number */
        (void)curses->init_pair(colour, colour, -1);
}

static void set_up(struct al_terminal *terminal)
{
    const struct al_curses *curses = terminal->curses;

    (void)curses->set_escdelay(ESCAPE_MS);
    (void)curses->raw();
    (void)curses->noecho();
    (void)curses->nonl();
    terminal->window = curses->newwin(0, 0, 0, 0);
    (void)curses->keypad(terminal->window, true);
    (void)curses->nodelay(terminal->window, true);
    (void)curses->define_key(AL_SEQUENCE_PASTE_BEGIN, PASTE_BEGIN_KEY);
    (void)curses->define_key(AL_SEQUENCE_PASTE_END, PASTE_END_KEY);
    start_colours(terminal);
    for (size_t i = 0; i < AL_COUNT(handled); i++) /* after ncurses, which has handlers too */
        catch_signal(handled[i], NULL);
    collect_notes(terminal);
    al_terminal_restart(terminal);
}

int al_terminal_open(struct al_terminal **ret_terminal, struct al_error *err)
{
    struct al_terminal *terminal;
    const struct al_curses *curses;
    const int r = al_curses_load(NULL, &curses, err);

    if (r < 0)
        return r;
    terminal = al_calloc(1, sizeof(*terminal));
    terminal->curses = curses;
    terminal->file = fopen("/dev/tty", "r+e");
    al_cells_use_locale();
    if (terminal->file && catch_signals())
        terminal->screen = curses->newterm(NULL, terminal->file, terminal->file);
    if (!terminal->screen) {
        if (terminal->file)
            (void)fclose(terminal->file);
        if (signal_fds[0] >= 0)
            restore_signals();
        free(terminal);
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "this terminal cannot be a screen; TERM names none that is known");
    }
    set_up(terminal);
    *ret_terminal = terminal;
    return 0;
}

void al_terminal_close(struct al_terminal *terminal)
{
    if (!terminal)
        return;
    enclose_pastes(terminal, false);
    (void)terminal->curses->curs_set(1);
    (void)terminal->curses->endwin();
    (void)terminal->curses->delwin(terminal->window);
    terminal->curses->delscreen(terminal->screen);
    (void)fclose(terminal->file);
    restore_signals();
    write_notes(terminal);
    free(terminal);
}

int al_terminal_key_fd(const struct al_terminal *terminal)
{
    return fileno(terminal->file);
}

int al_terminal_signal_fd(const struct al_terminal *terminal)
{
    (void)terminal;
    return signal_fds[0];
}

void al_terminal_suspend(struct al_terminal *terminal)
{
    const struct sigaction usual = { .sa_handler = SIG_DFL };

    enclose_pastes(terminal, false);
    (void)terminal->curses->curs_set(1);
    (void)terminal->curses->endwin();
    (void)sigaction(SIGTSTP, &usual, NULL);
    (void)raise(SIGTSTP);
    catch_signal(SIGTSTP, NULL);
    al_terminal_restart(terminal);
}

void al_terminal_restart(struct al_terminal *terminal)
{
    const struct al_curses *curses = terminal->curses;
    struct winsize size = { .ws_row = 0 };

    (void)curses->reset_prog_mode();
    enclose_pastes(terminal, true);
    if (ioctl(fileno(terminal->file), TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
        terminal->rows = size.ws_row;
        terminal->columns = size.ws_col;
    } else {
        terminal->rows = FALLBACK_ROWS;
        terminal->columns = FALLBACK_COLUMNS;
    }
    (void)curses->resizeterm(terminal->rows, terminal->columns);
    (void)curses->wresize(terminal->window, terminal->rows, terminal->columns);
    (void)curses->clearok(terminal->window, true);
    (void)curses->redrawwin(terminal->window);
}

void al_terminal_size(const struct al_terminal *terminal, int *ret_rows, int *ret_columns)
{
    *ret_rows = terminal->rows;
    *ret_columns = terminal->columns;
}

/* --- Keys --- */

static enum al_key_code code_of(wint_t c)
{
    static const struct {
        wint_t key;
        enum al_key_code code;
    } codes[] = {
        { KEY_UP, AL_KEY_UP },
        { KEY_DOWN, AL_KEY_DOWN },
        { KEY_PPAGE, AL_KEY_PAGE_UP },
        { KEY_NPAGE, AL_KEY_PAGE_DOWN },
        { KEY_HOME, AL_KEY_HOME },
        { KEY_END, AL_KEY_END },
        { KEY_ENTER, AL_KEY_ENTER },
        { KEY_BACKSPACE, AL_KEY_BACKSPACE },
        { KEY_BTAB, AL_KEY_TAB },
        { PASTE_BEGIN_KEY, AL_KEY_PASTE_BEGIN },
        { PASTE_END_KEY, AL_KEY_PASTE_END },
    };

    for (size_t i = 0; i < AL_COUNT(codes); i++)
        if (codes[i].key == c)
            return codes[i].code;
    return AL_KEY_OTHER;
}

bool al_terminal_next_key(struct al_terminal *terminal, struct al_screen_key *ret_key)
{
    wint_t c = 0;
    int kind;

    do /* resizeterm() leaves a key behind */
        kind = terminal->curses->wget_wch(terminal->window, &c);
    while (kind == KEY_CODE_YES && c == KEY_RESIZE);
    if (kind == ERR)
        return false;
    *ret_key = (struct al_screen_key){ .code = AL_KEY_CHAR, .c = (uint32_t)c };
    if (kind == KEY_CODE_YES)
        ret_key->code = code_of(c);
    else if (c == '\r' || c == '\n')
        ret_key->code = AL_KEY_ENTER;
    else if (c == '\t')
        ret_key->code = AL_KEY_TAB;
    else if (c == 0x1b)
        ret_key->code = AL_KEY_ESCAPE;
    else if (c == 0x7f || c == '\b')
        ret_key->code = AL_KEY_BACKSPACE;
    return true;
}

/* --- Writing --- */

static void set_style(struct al_terminal *terminal, enum al_style style)
{
    static const struct {
        attr_t attributes;
        short colour;
    } styles[] = {
        [AL_STYLE_PLAIN] = { A_NORMAL, 0 },
        [AL_STYLE_BOLD] = { A_BOLD, 0 },
        [AL_STYLE_DIM] = { A_DIM, 0 },
        [AL_STYLE_BAR] = { A_REVERSE, 0 },
        [AL_STYLE_MARKED] = { A_UNDERLINE, 0 },
        [AL_STYLE_ADDED] = { A_NORMAL, COLOR_GREEN },
        [AL_STYLE_REMOVED] = { A_NORMAL, COLOR_RED },
        [AL_STYLE_HUNK] = { A_NORMAL, COLOR_CYAN },
        [AL_STYLE_WARNING] = { A_BOLD, COLOR_YELLOW },
    };

    (void)terminal->curses->wattr_set(terminal->window, styles[style].attributes,
                                      terminal->colours ? styles[style].colour : (short)0, NULL);
}

void al_terminal_erase(struct al_terminal *terminal)
{
    set_style(terminal, AL_STYLE_PLAIN);
    (void)terminal->curses->werase(terminal->window);
}

void al_terminal_write(struct al_terminal *terminal, int row, int column, int columns,
                       enum al_style style, bool fills, const char *text)
{
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;

    if (columns <= 0)
        return;
    if (fills)
        al_cells_fit(text, (size_t)columns, &safe);
    else
        (void)al_cells_shorten(text, (size_t)columns, &safe);
    set_style(terminal, style);
    (void)terminal->curses->wmove(terminal->window, row, column);
    (void)terminal->curses->waddnstr(terminal->window, safe.buf, (int)safe.len);
    set_style(terminal, AL_STYLE_PLAIN);
}

void al_terminal_divide(struct al_terminal *terminal, int row, int column, int rows)
{
    set_style(terminal, AL_STYLE_DIM);
    (void)terminal->curses->wmove(terminal->window, row, column);
    (void)terminal->curses->wvline(terminal->window, 0, rows);
    set_style(terminal, AL_STYLE_PLAIN);
}

void al_terminal_show(struct al_terminal *terminal, int row, int column)
{
    (void)terminal->curses->curs_set(row >= 0);
    if (row >= 0)
        (void)terminal->curses->wmove(terminal->window, row, column);
    (void)terminal->curses->wrefresh(terminal->window);
}

void al_terminal_ring(struct al_terminal *terminal)
{
    (void)terminal->curses->beep();
}
