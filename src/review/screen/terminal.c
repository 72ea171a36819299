// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
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

/* The part of standard error that is kept, in bytes. */
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
static void catch_signal(int number)
{
    const bool ends = number == SIGHUP || number == SIGINT || number == SIGTERM;
    const struct sigaction action = { .sa_handler = note_signal,
                                      .sa_flags = SA_RESTART | (ends ? (int)SA_RESETHAND : 0) };

    (void)sigaction(number, &action, NULL);
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

int al_terminal_next_signal(void)
{
    unsigned char byte;

    return read(signal_fds[0], &byte, 1) == 1 ? byte : 0;
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
        catch_signal(handled[i]);
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

int al_terminal_signal_fd(void)
{
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
    catch_signal(SIGTSTP);
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

/* Write any text at a place, cut to these columns; `fills` writes blanks behind it. */
static void put(struct al_terminal *terminal, int row, int column, int columns, enum al_style style,
                bool fills, const char *text)
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

static void divide(struct al_terminal *terminal, int row, int column, int rows)
{
    set_style(terminal, AL_STYLE_DIM);
    (void)terminal->curses->wmove(terminal->window, row, column);
    (void)terminal->curses->wvline(terminal->window, 0, rows);
    set_style(terminal, AL_STYLE_PLAIN);
}

/* Show what was written, with the cursor at a place; a negative row hides it. */
static void show(struct al_terminal *terminal, int row, int column)
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

/* --- Where everything is, and how it looks --- */

/* Text of the entry is indented, so that it cannot pass for what is said about it. */
#define INDENT           2

#define LIST_MIN_COLUMNS 28
#define LIST_MAX_COLUMNS 76

#define AREA(area)       (area).row, (area).column, (area).columns

static int clamp(int value, int min, int max)
{
    return value < min ? min : value > max ? max : value;
}

/* Lay the screen out for a terminal of this size, any numbers.  `is_wide`: without a list. */
static struct al_screen_layout make_layout(int rows, int columns, bool is_wide)
{
    struct al_screen_layout layout = { .rows = rows, .columns = columns };
    const int list = is_wide ? 0 : clamp(columns * 2 / 5, LIST_MIN_COLUMNS, LIST_MAX_COLUMNS);
    const int from = is_wide ? 0 : list + 3; /* the divider between two blanks */

    if (rows < AL_SCREEN_MIN_ROWS || columns < AL_SCREEN_MIN_COLUMNS) {
        layout.too_small = true;
        return layout;
    }
    layout.title = (struct al_screen_area){ 0, 0, 1, columns };
    layout.list = (struct al_screen_area){ 1, 0, rows - 3, list };
    layout.divider = list + 1;
    layout.head = (struct al_screen_area){ 1, from, 1, columns - from };
    layout.text = (struct al_screen_area){ 2, from, rows - 4, columns - from };
    layout.message = (struct al_screen_area){ rows - 2, 0, 1, columns };
    layout.keys = (struct al_screen_area){ rows - 1, 0, 1, columns };
    return layout;
}

size_t al_screen_page_columns(const struct al_screen_view *view)
{
    return view->layout.text.columns > INDENT ? (size_t)view->layout.text.columns - INDENT : 0;
}

/* --- The frame --- */

static void draw_title(struct al_terminal *terminal, const struct al_screen_view *view)
{
    const struct al_screen_list *list = &view->list;
    const struct al_str *filter = &view->state.filter;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line, " airlock review   %zu wait%s   %zu run%s", list->nwaiting,
                list->nwaiting == 1 ? "s" : "", list->nrunning, list->nrunning == 1 ? "s" : "");
    if (!view->knows_all)
        al_str_adds(&line, "   asking ...");
    if (filter->len)
        al_str_addf(&line, "   filter: %s", filter->buf);
    put(terminal, AREA(view->layout.title), AL_STYLE_BAR, true, line.buf);
}

static void add_keys(const struct al_screen_view *view, struct al_str *line)
{
    const struct al_screen_look look = al_screen_view_look(view);

    if (view->state.mode == AL_SCREEN_CONFIRM) {
        al_str_adds(line, view->previewed ? " y roll back   Esc leave" : " Esc leave");
        al_str_adds(line, "   Space page");
        return;
    }
    if (view->state.mode != AL_SCREEN_BROWSE)
        return;
    if (look.waits && look.settled)
        al_str_addf(line, " a approve once  %sr reject ", look.offers_always ? "A always  " : "");
    if (look.can_roll_back)
        al_str_adds(line, " u roll back ");
    al_str_addf(line, " %s  j/k choose ", view->state.is_wide ? "d list" : "d diff");
    al_str_adds(line, look.waits ? " ? help  q quit" : " Space page  / filter  ? help  q quit");
}

static void draw_keys(struct al_terminal *terminal, const struct al_screen_view *view)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    add_keys(view, &line);
    put(terminal, AREA(view->layout.keys), AL_STYLE_BAR, true, line.buf);
}

/* The end of what is typed, so that the cursor stays in sight. */
static const char *last_of(const char *text, size_t columns)
{
    size_t len = strlen(text), taken;

    while (al_cells_cut(text, len, columns, NULL, &taken) < len) {
        do {
            text++;
            len--;
        } while (((unsigned char)*text & 0xc0) == 0x80);
    }
    return text;
}

/* Draw the typed text behind its label.  Returns the column of the cursor. */
static int draw_input(struct al_terminal *terminal, const struct al_screen_view *view,
                      const char *label, const char *text)
{
    const struct al_screen_area area = view->layout.message;
    const int used = (int)strlen(label);
    const size_t room = (size_t)(area.columns - used - 1);
    const char *seen = last_of(text, room);
    size_t taken;

    (void)al_cells_cut(seen, strlen(seen), room, NULL, &taken);
    put(terminal, area.row, 0, used, AL_STYLE_BOLD, false, label);
    put(terminal, area.row, used, (int)room, AL_STYLE_PLAIN, false, seen);
    return used + (int)taken;
}

/* Returns the column of the cursor; -1: there is none. */
static int draw_message(struct al_terminal *terminal, const struct al_screen_view *view)
{
    const struct al_screen_state *state = &view->state;
    const char *text = *state->message ? state->message
                       : view->notice  ? view->notice
                       : view->pending ? view->pending
                                       : view->problem;

    if (state->mode == AL_SCREEN_REASON)
        return draw_input(terminal, view,
                          " Reason (Enter rejects, Esc leaves): ", state->input.buf);
    if (state->mode == AL_SCREEN_FILTER)
        return draw_input(terminal, view,
                          " Filter (Enter keeps it, Esc clears it): ", state->filter.buf);
    if (text)
        put(terminal, view->layout.message.row, 1, view->layout.message.columns - 1,
            AL_STYLE_WARNING, false, text);
    return -1;
}

/* --- The list --- */

/* The last part of a path, or the last two where there is room. */
static const char *short_path(const char *path, bool is_wide)
{
    const char *at = path + strlen(path);

    for (int parts = is_wide ? 2 : 1; parts > 0 && at > path; parts--)
        while (at > path && *--at != '/')
            continue;
    return *at == '/' && at[1] ? at + 1 : at;
}

static char mark_of(const struct al_item *item)
{
    const char *outcome = al_item_get(item, "outcome");

    if (item->kind == AL_ITEM_QUESTION)
        return '?';
    if (item->kind != AL_ITEM_EXECUTION || !strcmp(outcome, "ok") || !strcmp(outcome, "dry_run"))
        return ' ';
    return !strcmp(outcome, "refused") || !strcmp(outcome, "declined") ? 'x' : '!';
}

/* A time as the list shows it: "14:05" of today, else "01-31"; local time. */
static void add_time(const char *iso, struct al_str *out)
{
    const time_t when = (time_t)(al_clock_iso_ms(iso) / 1000), now = time(NULL);
    char text[8] = "     ";
    struct tm then, today;

    (void)localtime_r(&when, &then);
    (void)localtime_r(&now, &today);
    if (when)
        (void)strftime(text, sizeof(text),
                       then.tm_year == today.tm_year && then.tm_yday == today.tm_yday ? "%H:%M"
                                                                                      : "%m-%d",
                       &then);
    al_str_adds(out, text);
}

static void draw_row(struct al_terminal *terminal, const struct al_screen_view *view, size_t number,
                     int at)
{
    const struct al_screen_area area = view->layout.list;
    const struct al_screen_row *row = &view->list.rows[number];
    const bool chosen =
        !view->chosen.gone && view->chosen.row == number && view->chosen.kind != AL_ITEM_NONE;
    const bool is_wide = area.columns >= 60;
    const enum al_style style = !chosen                            ? AL_STYLE_PLAIN
                                : view->state.pane == AL_PANE_LIST ? AL_STYLE_BAR
                                                                   : AL_STYLE_MARKED;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (row->heading) {
        put(terminal, at, area.column + 1, area.columns - 1, AL_STYLE_BOLD, false, row->heading);
        return;
    }
    al_str_addc(&line, chosen ? '>' : ' ');
    add_time(al_item_get(row->item, "time"), &line);
    al_str_addc(&line, ' ');
    al_cells_fit(short_path(al_item_get(row->item,
                                        row->item->kind == AL_ITEM_STAGED ? "agent" : "repository"),
                            is_wide),
                 is_wide ? 20 : 9, &line);
    al_str_addf(&line, " %c %s", mark_of(row->item), al_item_title(row->item));
    put(terminal, at, area.column, area.columns, style, chosen, line.buf);
}

static void draw_list(struct al_terminal *terminal, struct al_screen_view *view)
{
    const struct al_screen_area area = view->layout.list;
    const size_t height = (size_t)area.rows, row = view->chosen.row;

    if (view->list_top + height > view->list.count)
        view->list_top = view->list.count > height ? view->list.count - height : 0;
    if (row < view->list_top)
        view->list_top = row;
    else if (row >= view->list_top + height && row < view->list.count)
        view->list_top = row - height + 1;
    if (view->list_top == 1) /* the heading of the first part */
        view->list_top = row + 1 > height ? 1 : 0;
    for (size_t i = 0; i < height && view->list_top + i < view->list.count; i++)
        draw_row(terminal, view, view->list_top + i, area.row + (int)i);
    if (!view->list.count)
        put(terminal, area.row, 1, area.columns - 1, AL_STYLE_DIM, false,
            view->state.filter.len ? "Nothing matches the filter" : "Nothing yet");
}

/* --- The text --- */

static enum al_style style_of(enum al_review_line_kind kind)
{
    static const enum al_style styles[] = {
        [AL_LINE_NOTE] = AL_STYLE_PLAIN,  [AL_LINE_FILE] = AL_STYLE_BOLD,
        [AL_LINE_META] = AL_STYLE_BOLD,   [AL_LINE_HUNK] = AL_STYLE_HUNK,
        [AL_LINE_ADDED] = AL_STYLE_ADDED, [AL_LINE_REMOVED] = AL_STYLE_REMOVED,
        [AL_LINE_TITLE] = AL_STYLE_BOLD,  [AL_LINE_FACT] = AL_STYLE_DIM,
    };

    return styles[kind];
}

/* Draw the title of the text, and how far down it is shown. */
static void draw_head(struct al_terminal *terminal, const struct al_screen_view *view)
{
    static const char *const kinds[AL_ITEM_KINDS] = {
        [AL_ITEM_QUESTION] = "Question",
        [AL_ITEM_RUNNING] = "Running",
        [AL_ITEM_STAGED] = "Staged commit",
        [AL_ITEM_EXECUTION] = "Execution",
    };
    const struct al_screen_chosen *chosen = &view->chosen;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    const char *state = chosen->answered                                     ? ", answered"
                        : chosen->kind == AL_ITEM_QUESTION && !chosen->waits ? ", no longer waits"
                        : chosen->gone                                       ? ", not in the list"
                                                                             : "";

    if (view->state.mode == AL_SCREEN_HELP)
        al_str_adds(&line, "Help: any key leaves");
    else if (view->state.mode == AL_SCREEN_CONFIRM)
        al_str_addf(&line, "Roll back to before execution %s?", chosen->key);
    else if (chosen->kind != AL_ITEM_NONE)
        al_str_addf(&line, "%s%s   line %zu of %zu", kinds[chosen->kind], state,
                    view->page.nrows ? view->page.rows[view->page.top].line + 1 : 1,
                    view->page.nlines);
    put(terminal, AREA(view->layout.head),
        chosen->gone || view->state.mode == AL_SCREEN_CONFIRM ? AL_STYLE_WARNING
        : view->state.pane == AL_PANE_TEXT                    ? AL_STYLE_BAR
                                                              : AL_STYLE_MARKED,
        true, line.buf);
}

static void draw_page(struct al_terminal *terminal, struct al_screen_view *view)
{
    const struct al_screen_area area = view->layout.text;
    const struct al_page_row *rows;
    const size_t count =
        al_page_rows(&view->page, al_screen_page_columns(view), (size_t)area.rows, &rows);

    for (size_t i = 0; i < count; i++) {
        const struct al_review_line *line = &view->page.lines[rows[i].line];
        al_auto(al_freep) char *text = al_strndup(line->text + rows[i].begin, rows[i].len);
        const int indent = line->kind >= AL_LINE_TITLE ? 0 : INDENT;

        put(terminal, area.row + (int)i, area.column + indent, area.columns - indent,
            style_of(line->kind), false, text);
    }
}

static void draw_help(struct al_terminal *terminal, const struct al_screen_view *view)
{
    static const char *const lines[] = {
        "a        approve the call, once",
        "A        and from now on in its session,",
        "         as far as \"always\" says",
        "r        reject it; asks for a reason",
        "d        the text on the whole screen",
        "u        go back to before an execution:",
        "         shows what would change; y does it",
        "",
        "j k      choose (arrows; g G: ends)",
        "Space b  a page of the text down, up",
        "Tab      keys move the list or the text",
        "/        filter by any text of the list",
        "c        lately: only what changed",
        "Esc      no filter, back to the list",
        "Ctrl-L   draw again; Ctrl-Z: suspend",
        "q        quit; what waits goes on waiting",
        "",
        "? waits   ! failed   x refused",
    };
    const struct al_screen_area area = view->layout.text;

    for (int i = 0; i < (int)AL_COUNT(lines) && i < area.rows; i++)
        put(terminal, area.row + i, area.column, area.columns, AL_STYLE_PLAIN, false, lines[i]);
}

static void draw_nothing(struct al_terminal *terminal, const struct al_screen_view *view)
{
    const struct al_screen_area area = view->layout.text;

    put(terminal, area.row, area.column, area.columns, AL_STYLE_DIM, false,
        view->list.nwaiting ? "Choose an entry with j and k." : "No call waits for an answer.");
}

void al_screen_draw(struct al_terminal *terminal, struct al_screen_view *view)
{
    int cursor;

    view->layout = make_layout(terminal->rows, terminal->columns, view->state.is_wide);
    set_style(terminal, AL_STYLE_PLAIN);
    (void)terminal->curses->werase(terminal->window);
    if (view->layout.too_small) {
        char line[96];

        (void)snprintf(line, sizeof(line), "too small: %dx%d of %dx%d; q quits", terminal->columns,
                       terminal->rows, AL_SCREEN_MIN_COLUMNS, AL_SCREEN_MIN_ROWS);
        put(terminal, 0, 0, terminal->columns, AL_STYLE_PLAIN, false, line);
        show(terminal, -1, 0);
        return;
    }
    draw_title(terminal, view);
    if (!view->state.is_wide) {
        draw_list(terminal, view);
        divide(terminal, view->layout.list.row, view->layout.divider, view->layout.list.rows);
    }
    al_page_scroll(&view->page, al_screen_page_columns(view), (size_t)view->layout.text.rows, 0);
    draw_head(terminal, view);
    if (view->state.mode == AL_SCREEN_HELP)
        draw_help(terminal, view);
    else if (view->chosen.kind == AL_ITEM_NONE)
        draw_nothing(terminal, view);
    else
        draw_page(terminal, view);
    cursor = draw_message(terminal, view);
    draw_keys(terminal, view);
    show(terminal, cursor < 0 ? -1 : view->layout.message.row, cursor);
}
