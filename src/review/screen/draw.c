// SPDX-License-Identifier: Apache-2.0
/* Where everything is, and how it looks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "review/screen/private.h"

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
    al_terminal_write(terminal, AREA(view->layout.title), AL_STYLE_BAR, true, line.buf);
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
    al_terminal_write(terminal, AREA(view->layout.keys), AL_STYLE_BAR, true, line.buf);
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

/* What is typed, behind what it is for.  Returns the column of the cursor. */
static int draw_input(struct al_terminal *terminal, const struct al_screen_view *view,
                      const char *label, const char *text)
{
    const struct al_screen_area area = view->layout.message;
    const int used = (int)strlen(label);
    const size_t room = (size_t)(area.columns - used - 1);
    const char *seen = last_of(text, room);
    size_t taken;

    (void)al_cells_cut(seen, strlen(seen), room, NULL, &taken);
    al_terminal_write(terminal, area.row, 0, used, AL_STYLE_BOLD, false, label);
    al_terminal_write(terminal, area.row, used, (int)room, AL_STYLE_PLAIN, false, seen);
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
        al_terminal_write(terminal, view->layout.message.row, 1, view->layout.message.columns - 1,
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
        al_terminal_write(terminal, at, area.column + 1, area.columns - 1, AL_STYLE_BOLD, false,
                          row->heading);
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
    al_terminal_write(terminal, at, area.column, area.columns, style, chosen, line.buf);
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
        al_terminal_write(terminal, area.row, 1, area.columns - 1, AL_STYLE_DIM, false,
                          view->state.filter.len ? "Nothing matches the filter" : "Nothing yet");
}

/* --- The text --- */

static enum al_style style_of(const struct al_review_line *row)
{
    static const enum al_style styles[] = {
        [AL_LINE_NOTE] = AL_STYLE_PLAIN,  [AL_LINE_FILE] = AL_STYLE_BOLD,
        [AL_LINE_META] = AL_STYLE_BOLD,   [AL_LINE_HUNK] = AL_STYLE_HUNK,
        [AL_LINE_ADDED] = AL_STYLE_ADDED, [AL_LINE_REMOVED] = AL_STYLE_REMOVED,
        [AL_LINE_TITLE] = AL_STYLE_BOLD,  [AL_LINE_FACT] = AL_STYLE_DIM,
    };

    return styles[row->kind];
}

/* What is shown, and how far down. */
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
                    view->page.top.line + 1, view->page.nlines);
    al_terminal_write(terminal, AREA(view->layout.head),
                      chosen->gone || view->state.mode == AL_SCREEN_CONFIRM ? AL_STYLE_WARNING
                      : view->state.pane == AL_PANE_TEXT                    ? AL_STYLE_BAR
                                                                            : AL_STYLE_MARKED,
                      true, line.buf);
}

static void draw_page(struct al_terminal *terminal, struct al_screen_view *view)
{
    const struct al_screen_area area = view->layout.text;
    const size_t height = (size_t)area.rows, columns = al_screen_page_columns(view);
    al_auto(al_freep) struct al_review_line *rows = al_calloc(height, sizeof(*rows));
    size_t count;

    al_page_scroll(&view->page, columns, height, 0);
    count = al_page_rows(&view->page, columns, height, rows);
    for (size_t i = 0; i < count; i++) {
        al_auto(al_freep) char *text = al_strndup(rows[i].text, rows[i].len);
        const int indent = rows[i].kind >= AL_LINE_TITLE ? 0 : INDENT;

        al_terminal_write(terminal, area.row + (int)i, area.column + indent, area.columns - indent,
                          style_of(&rows[i]), false, text);
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
        al_terminal_write(terminal, area.row + i, area.column, area.columns, AL_STYLE_PLAIN, false,
                          lines[i]);
}

static void draw_nothing(struct al_terminal *terminal, const struct al_screen_view *view)
{
    const struct al_screen_area area = view->layout.text;

    al_terminal_write(terminal, area.row, area.column, area.columns, AL_STYLE_DIM, false,
                      view->list.nwaiting ? "Choose an entry with j and k."
                                          : "No call waits for an answer.");
}

void al_screen_draw(struct al_terminal *terminal, struct al_screen_view *view)
{
    int rows, columns, cursor;

    al_terminal_size(terminal, &rows, &columns);
    view->layout = make_layout(rows, columns, view->state.is_wide);
    al_terminal_erase(terminal);
    if (view->layout.too_small) {
        char line[96];

        (void)snprintf(line, sizeof(line), "too small: %dx%d of %dx%d; q quits", columns, rows,
                       AL_SCREEN_MIN_COLUMNS, AL_SCREEN_MIN_ROWS);
        al_terminal_write(terminal, 0, 0, columns, AL_STYLE_PLAIN, false, line);
        al_terminal_show(terminal, -1, 0);
        return;
    }
    draw_title(terminal, view);
    if (!view->state.is_wide) {
        draw_list(terminal, view);
        al_terminal_divide(terminal, view->layout.list.row, view->layout.divider,
                           view->layout.list.rows);
    }
    draw_head(terminal, view);
    if (view->state.mode == AL_SCREEN_HELP)
        draw_help(terminal, view);
    else if (view->chosen.kind == AL_ITEM_NONE)
        draw_nothing(terminal, view);
    else
        draw_page(terminal, view);
    cursor = draw_message(terminal, view);
    draw_keys(terminal, view);
    al_terminal_show(terminal, cursor < 0 ? -1 : view->layout.message.row, cursor);
}
