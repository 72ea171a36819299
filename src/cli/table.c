// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "guard/text.h"
#include "tools/words.h"

#define BOLD                 "\033[1m"
#define RED                  "\033[31m"
#define YELLOW               "\033[33m"
#define RESET                "\033[0m"

#define GAP                  2u
#define SUMMARY_MAX_BYTES    200u /* when the output is not a terminal */
#define SUMMARY_MIN_WIDTH    24u  /* with less room, the summary gets a line of its own */
#define SUMMARY_INDENT       4u
#define DATE_MIN_WIDTH       110u /* on a narrower terminal the year is omitted */
#define TOOL_MAX_WIDTH       24u
#define OPERATION_MAX_WIDTH  16u
#define AGENT_MAX_WIDTH      20u
#define REPOSITORY_MAX_WIDTH 32u

static const struct column {
    const char *title;
    size_t max_width; /* 0: no limit */
    bool right;
} layout[AL_COLUMN_COUNT] = {
    [AL_COLUMN_TIME] = { "TIME", 0, false },
    [AL_COLUMN_PID] = { "PID", 0, true },
    [AL_COLUMN_SEQ] = { "SEQ", 0, true },
    [AL_COLUMN_TOOL] = { "TOOL", TOOL_MAX_WIDTH, false },
    [AL_COLUMN_OPERATION] = { "OPERATION", OPERATION_MAX_WIDTH, false },
    [AL_COLUMN_DECISION] = { "DECISION", OPERATION_MAX_WIDTH, false },
    [AL_COLUMN_OUTCOME] = { "OUTCOME", OPERATION_MAX_WIDTH, false },
    [AL_COLUMN_MS] = { "MS", 0, true },
    [AL_COLUMN_AGENT] = { "AGENT", AGENT_MAX_WIDTH, false },
    [AL_COLUMN_REPOSITORY] = { "REPOSITORY", REPOSITORY_MAX_WIDTH, false },
    [AL_COLUMN_SUMMARY] = { "SUMMARY", 0, false },
};

/* --- The width of text --- */

/* Combining characters count as one: a line is never wider than computed.  Source: wcwidth(3). */
static size_t columns_of(uint32_t c)
{
    const int columns = wcwidth((wchar_t)c);

    return columns > 0 ? (size_t)columns : 1;
}

size_t al_columns_cut(const char *text, size_t len, size_t room, size_t *ret_columns)
{
    size_t used = 0, at = 0;

    while (at < len) {
        uint32_t c = 0;
        const int bytes = al_utf8_next(text + at, len - at, &c);
        const size_t columns = bytes > 0 ? columns_of(c) : 1; /* an invalid byte is a character */

        if (used + columns > room)
            break;
        used += columns;
        at += bytes > 0 ? (size_t)bytes : 1;
    }
    *ret_columns = used;
    return at;
}

/* The columns that a text takes on a terminal. */
static size_t text_columns(const char *text)
{
    size_t columns;

    (void)al_columns_cut(text, strlen(text), SIZE_MAX, &columns);
    return columns;
}

/* Append as much text as fits into `room` columns, with an ellipsis if it is cut.  Returns the
 * columns used. */
static size_t add_truncated(struct al_str *out, const char *text, size_t room)
{
    const bool cut = text_columns(text) > room;
    size_t used, bytes;

    if (room == 0)
        return 0;
    bytes = al_columns_cut(text, strlen(text), room - cut, &used);
    al_str_add(out, text, bytes);
    if (cut)
        al_str_adds(out, "\u2026");
    return used + cut;
}

/* --- Cells --- */

/* A string member, sanitized; "-" if it is missing.  Caller frees. */
static char *text_of(const json_t *line, const char *name)
{
    const char *text = al_json_get_string(line, name);

    return text && *text ? al_text_join_lines(text) : al_strdup("-");
}

static char *number_of(const json_t *line, const char *name)
{
    const json_t *value = json_object_get(line, name);

    return json_is_integer(value) ? al_asprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value))
                                  : al_strdup("-");
}

/* "2026-01-02T03:04:05.678Z" in local time.  Caller frees. */
static char *local_time(const json_t *line, bool with_year)
{
    const time_t when = (time_t)(al_clock_iso_ms(al_json_get_string(line, "time")) / 1000);
    struct tm tm;
    char local[32];

    if (!when || !localtime_r(&when, &tm) ||
        !strftime(local, sizeof(local), with_year ? "%Y-%m-%d %H:%M:%S" : "%m-%d %H:%M:%S", &tm))
        return al_strdup("-");
    return al_strdup(local);
}

/* The path of the repository as text.  Caller frees. */
static char *repository_of(const json_t *line)
{
    const char *path = al_json_get_string(line, "repository");

    return path && *path ? al_text_sanitize_line(path) : al_strdup("-");
}

/* Find out what directory is above this repository and those before. */
static void add_repository(struct al_table *table, const char *path)
{
    if (*path != '/')
        return;
    if (!table->repository)
        table->repository = al_strdup(path);
    if (!strcmp(table->repository, path))
        return;
    if (!table->common_dir)
        table->common_dir = al_strndup(
            table->repository, (size_t)(strrchr(table->repository, '/') - table->repository) + 1);
    while (!al_starts_with(path, table->common_dir)) { /* it ends in '/' */
        *strrchr(table->common_dir, '/') = '\0';
        strrchr(table->common_dir, '/')[1] = '\0';
    }
}

/* Append the input of a call that only reads, except values that the summary contains. */
static void add_input(const json_t *line, const char *summary, struct al_str *out)
{
    const json_t *effects = json_object_get(line, "effects"), *value;
    const char *name, *before = ": ", *only = json_string_value(json_array_get(effects, 0));
    const char *tool = al_json_get_string(line, "tool");

    /* The summary of the shell's git has all the words that were given. */
    if (json_array_size(effects) > 1 || (only && strcmp(only, "reads") != 0) ||
        (tool && !strcmp(tool, "git")))
        return;
    json_object_foreach(json_object_get(line, "input"), name, value)
    {
        const char *word = json_string_value(value);

        if (word && strstr(summary, word))
            continue;
        al_str_addf(out, "%s%s=", before, name);
        if (word)
            al_str_adds(out, word);
        else
            al_json_dump(value, false, out);
        before = ", ";
    }
}

/* Append how a command of the shell ended, and what it changed. */
static void add_changes(const json_t *line, struct al_str *out)
{
    const char *tool = al_json_get_string(line, "tool");
    const char *status = al_json_get_string(json_object_get(line, "result"), "output");
    const char *changes = al_json_get_string(line, "changes");

    if (tool && status && !strcmp(tool, "run"))
        al_str_addf(out, ": %s", status);
    if (changes)
        al_str_addf(out, ", %s", changes);
}

/* The summary, or the error of a call without one, but not the advice below it, which is the
 * caller's.  Caller frees. */
static char *summary_of(const json_t *line, bool limited)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *summary = al_json_get_string(line, "summary");
    const char *error = al_json_get_string(json_object_get(line, "result"), "error");
    char *safe;
    size_t len;

    if (summary) {
        al_str_adds(&text, summary);
        add_input(line, summary, &text);
        add_changes(line, &text);
    } else if (error) {
        al_str_add(&text, error, strcspn(error, "\n"));
    }
    safe = al_text_join_lines(text.buf);
    len = strlen(safe);
    if (limited && len > SUMMARY_MAX_BYTES) {
        al_auto(al_freep) char *whole = safe;

        len = al_utf8_floor(whole, SUMMARY_MAX_BYTES);
        safe = al_asprintf("%.*s...", (int)len, whole);
    }
    return safe;
}

void al_table_add(struct al_table *table, const json_t *line)
{
    bool with_year = !table->width || table->width >= DATE_MIN_WIDTH;
    char *cells[AL_COLUMN_COUNT] = {
        [AL_COLUMN_TIME] = local_time(line, with_year),
        [AL_COLUMN_PID] = number_of(line, "pid"),
        [AL_COLUMN_SEQ] = number_of(line, "seq"),
        [AL_COLUMN_TOOL] = text_of(line, "tool"),
        [AL_COLUMN_OPERATION] = text_of(line, "operation"),
        [AL_COLUMN_DECISION] = text_of(line, "decision"),
        [AL_COLUMN_OUTCOME] = text_of(line, "outcome"),
        [AL_COLUMN_MS] = number_of(line, "duration_ms"),
        [AL_COLUMN_AGENT] = text_of(line, "agent"),
        [AL_COLUMN_REPOSITORY] = repository_of(line),
        [AL_COLUMN_SUMMARY] = summary_of(line, !table->width),
    };

    add_repository(table, cells[AL_COLUMN_REPOSITORY]);
    if (!table->agent)
        table->agent = al_strdup(table->running ? "-" : cells[AL_COLUMN_AGENT]);
    table->with_agents |= strcmp(table->agent, cells[AL_COLUMN_AGENT]) != 0;
    for (size_t i = 0; i < AL_COLUMN_COUNT; i++)
        al_strv_take(&table->cells, cells[i]);
}

void al_table_clear(struct al_table *table)
{
    al_strv_clear(&table->cells);
    free(table->common_dir);
    free(table->repository);
    free(table->agent);
}

/* --- Rows --- */

/* A terminal line that is being written. */
struct line {
    struct al_str *out;
    size_t room;    /* columns left; SIZE_MAX: no limit */
    size_t padding; /* spaces to write before the next cell */
};

static void add_cell(struct line *line, const char *text, size_t max_width, const char *colour)
{
    size_t used;

    if (!*text || !line->room)
        return;
    if (line->padding >= line->room)
        line->padding = line->room;
    al_str_addf(line->out, "%*s%s", (int)line->padding, "", colour ? colour : "");
    line->room -= line->padding;
    line->padding = 0;
    used = add_truncated(line->out, text, max_width < line->room ? max_width : line->room);
    line->room -= used;
    al_str_adds(line->out, colour ? RESET : "");
}

static const char *colour_of(const char *outcome)
{
    if (al_shell_words_list(" ok - ", outcome))
        return NULL;
    return al_shell_words_list(" cancelled interrupted dry_run ", outcome) ? YELLOW : RED;
}

static bool is_hidden(const struct al_table *table, size_t column)
{
    switch (column) {
    case AL_COLUMN_PID:
        return !table->running;
    case AL_COLUMN_SEQ:
    case AL_COLUMN_DECISION:
    case AL_COLUMN_OUTCOME:
    case AL_COLUMN_MS:
        return table->running;
    case AL_COLUMN_AGENT:
        return !table->with_agents;
    case AL_COLUMN_REPOSITORY:
        return !table->common_dir && !table->running;
    default:
        return false;
    }
}

/* The columns left for the summary; 0: it gets a line of its own. */
static size_t room_for_summary(const struct al_table *table)
{
    size_t used = 0;

    for (size_t i = 0; i < AL_COLUMN_SUMMARY; i++)
        used += is_hidden(table, i) ? 0 : table->widths[i] + GAP;
    return table->width >= used + SUMMARY_MIN_WIDTH ? table->width - used : 0;
}

static void add_row(const struct al_table *table, char *const *cells, bool heading,
                    struct al_str *out)
{
    const size_t most = table->width ? table->width : SIZE_MAX;
    struct line line = { out, most, 0 };

    for (size_t i = 0; i < AL_COLUMN_SUMMARY; i++) {
        const char *colour = heading ? BOLD : colour_of(cells[AL_COLUMN_OUTCOME]);
        size_t width = text_columns(cells[i]), wanted = table->widths[i];

        if (is_hidden(table, i))
            continue;
        if (width > wanted)
            width = wanted;
        if (layout[i].right)
            line.padding += wanted - width;
        add_cell(&line, cells[i], wanted,
                 table->colours && (heading || i == AL_COLUMN_OUTCOME) ? colour : NULL);
        line.padding += GAP + (layout[i].right ? 0 : wanted - width);
    }
    if (!table->width || room_for_summary(table)) {
        add_cell(&line, cells[AL_COLUMN_SUMMARY], SIZE_MAX,
                 heading && table->colours ? BOLD : NULL);
    } else if (!heading && *cells[AL_COLUMN_SUMMARY]) {
        al_str_addc(out, '\n');
        line = (struct line){ out, most, SUMMARY_INDENT };
        add_cell(&line, cells[AL_COLUMN_SUMMARY], SIZE_MAX, NULL);
    }
    al_str_addc(out, '\n');
}

/* Leave out the directory that all repositories have in common; "/" alone is no help. */
static void shorten(const struct al_table *table, char *path)
{
    const size_t len = table->common_dir ? strlen(table->common_dir) : 0;

    if (len > 1 && path[0] == '/' && path[len])
        memmove(path, path + len, strlen(path + len) + 1);
}

static void widen(struct al_table *table, char *const *cells)
{
    for (size_t i = 0; i < AL_COLUMN_COUNT; i++) {
        const size_t max = layout[i].max_width, width = text_columns(cells[i]);
        const size_t wanted = max && width > max ? max : width;

        if (wanted > table->widths[i])
            table->widths[i] = wanted;
    }
}

void al_table_flush(struct al_table *table, struct al_str *out)
{
    char *titles[AL_COLUMN_COUNT];
    char **rows = table->cells.items;
    const size_t count = table->cells.count;

    for (size_t i = 0; i < AL_COLUMN_COUNT; i++)
        titles[i] = (char *)layout[i].title;
    if (table->width)
        widen(table, titles);
    for (size_t i = 0; i < count; i += AL_COLUMN_COUNT) {
        shorten(table, rows[i + AL_COLUMN_REPOSITORY]);
        widen(table, rows + i);
    }
    if (count && table->width && !table->has_heading)
        add_row(table, titles, true, out);
    table->has_heading |= count > 0;
    for (size_t i = 0; i < count; i += AL_COLUMN_COUNT)
        add_row(table, rows + i, false, out);
    al_strv_clear(&table->cells);
}

size_t al_table_terminal_width(void)
{
    struct winsize size = { .ws_col = 0 };

    if (!isatty(STDOUT_FILENO))
        return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}
