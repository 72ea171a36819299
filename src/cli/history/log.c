// SPDX-License-Identifier: Apache-2.0
/* airlock log: past executions, and whether the journal was tampered with. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/history/query.h"
#include "cli/pager.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "cli/signals.h"
#include "cli/tty.h"
#include "guard/text.h"
#include "history/journal.h"
#include "tools/words.h"

/* --- Lines of the journal as a table --- */

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

/** The columns from left to right. */
enum column {
    COLUMN_TIME,
    COLUMN_NUMBER, /* of the execution; of a running call, which has none, its process */
    COLUMN_TOOL,
    COLUMN_OPERATION,
    COLUMN_DECISION,
    COLUMN_OUTCOME,
    COLUMN_MS,
    COLUMN_AGENT,      /* only where there are several; of running calls, where there is one */
    COLUMN_REPOSITORY, /* the same; of running calls always */
    COLUMN_SUMMARY,
    COLUMN_COUNT,
};

/**
 * A table that is written in parts.
 *
 * Rows are collected until table_flush(), so that the columns fit their content.  A column never
 * gets narrower, since the rows above are already written.
 */
struct table {
    size_t width; /**< columns of the terminal; 0: not a terminal, so no limit and no heading */
    bool colours;
    bool running; /**< the rows are running calls and have a member "pid" */
    bool with_agents, has_heading;
    char *agent;      /* of the first row; "-": none */
    char *repository; /* of the first row that has one */
    char *common_dir; /* a directory above all of several, ending in '/', which is omitted from
                         their paths; NULL: there are not several */
    size_t widths[COLUMN_COUNT];
    struct al_strv cells; /* COLUMN_COUNT cells for each row */
};

static const struct {
    const char *title;
    size_t max_width; /* 0: no limit */
    bool right;
} layout[COLUMN_COUNT] = {
    [COLUMN_TIME] = { "TIME", 0, false },
    [COLUMN_NUMBER] = { "SEQ", 0, true },
    [COLUMN_TOOL] = { "TOOL", TOOL_MAX_WIDTH, false },
    [COLUMN_OPERATION] = { "OPERATION", OPERATION_MAX_WIDTH, false },
    [COLUMN_DECISION] = { "DECISION", OPERATION_MAX_WIDTH, false },
    [COLUMN_OUTCOME] = { "OUTCOME", OPERATION_MAX_WIDTH, false },
    [COLUMN_MS] = { "MS", 0, true },
    [COLUMN_AGENT] = { "AGENT", AGENT_MAX_WIDTH, false },
    [COLUMN_REPOSITORY] = { "REPOSITORY", REPOSITORY_MAX_WIDTH, false },
    [COLUMN_SUMMARY] = { "SUMMARY", 0, false },
};

/* --- The width of text --- */

/* The columns that a text takes on a terminal. */
static size_t text_columns(const char *text)
{
    size_t columns;

    (void)al_columns_cut(text, strlen(text), SIZE_MAX, &columns);
    return columns;
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
static void add_repository(struct table *table, const char *path)
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

static void add_cut(struct al_str *out, const char *text, size_t most)
{
    al_auto(al_freep) char *safe = al_text_join_lines(text);
    const size_t len = strlen(safe) > most ? al_utf8_floor(safe, most) : strlen(safe);

    al_str_addf(out, "%.*s%s", (int)len, safe, safe[len] ? "..." : "");
}

/* The summary, or the error of a call without one, but not the advice below it, which is the
 * caller's.  The end of a long command is worth more than its last words.  Caller frees. */
static char *summary_of(const json_t *line, bool limited)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT, end = AL_STR_INIT;
    const char *summary = al_json_get_string(line, "summary");
    const char *error = al_json_get_string(json_object_get(line, "result"), "error");
    const size_t most = limited ? SUMMARY_MAX_BYTES : INT_MAX;
    struct al_str out = AL_STR_INIT;
    size_t begins;

    if (summary) {
        al_str_adds(&text, summary);
        add_input(line, summary, &text);
        add_changes(line, &end);
    } else if (error) {
        al_str_add(&text, error, strcspn(error, "\n"));
    }
    begins = most - (end.len < most / 2 ? end.len : most / 2);
    add_cut(&out, text.buf, begins);
    add_cut(&out, end.buf, most - (text.len < begins ? text.len : begins));
    return al_str_detach(&out);
}

static void table_add(struct table *table, const json_t *line)
{
    bool with_year = !table->width || table->width >= DATE_MIN_WIDTH;
    char *cells[COLUMN_COUNT] = {
        [COLUMN_TIME] = local_time(line, with_year),
        [COLUMN_NUMBER] = number_of(line, table->running ? "pid" : "seq"),
        [COLUMN_TOOL] = text_of(line, "tool"),
        [COLUMN_OPERATION] = text_of(line, "operation"),
        [COLUMN_DECISION] = text_of(line, "decision"),
        [COLUMN_OUTCOME] = text_of(line, "outcome"),
        [COLUMN_MS] = number_of(line, "duration_ms"),
        [COLUMN_AGENT] = text_of(line, "agent"),
        [COLUMN_REPOSITORY] = repository_of(line),
        [COLUMN_SUMMARY] = summary_of(line, !table->width),
    };

    add_repository(table, cells[COLUMN_REPOSITORY]);
    if (!table->agent)
        table->agent = al_strdup(table->running ? "-" : cells[COLUMN_AGENT]);
    table->with_agents |= strcmp(table->agent, cells[COLUMN_AGENT]) != 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        al_strv_take(&table->cells, cells[i]);
}

static void table_clear(struct table *table)
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

/* Append a text in at most so many columns, with an ellipsis if it is cut. */
static void add_cell(struct line *line, const char *text, size_t max_width, const char *colour)
{
    size_t room, used, bytes;
    bool is_cut;

    if (!*text || !line->room)
        return;
    if (line->padding > line->room)
        line->padding = line->room;
    al_str_addf(line->out, "%*s%s", (int)line->padding, "", colour ? colour : "");
    line->room -= line->padding;
    line->padding = 0;
    room = max_width < line->room ? max_width : line->room;
    is_cut = room && text_columns(text) > room;
    bytes = al_columns_cut(text, strlen(text), room - is_cut, &used);
    al_str_add(line->out, text, bytes);
    al_str_addf(line->out, "%s%s", is_cut ? "\u2026" : "", colour ? RESET : "");
    line->room -= used + is_cut;
}

static const char *colour_of(const char *outcome)
{
    if (al_shell_words_list(" ok - ", outcome))
        return NULL;
    return al_shell_words_list(" cancelled interrupted dry_run ", outcome) ? YELLOW : RED;
}

/* A running call has no decision, no outcome and no duration yet. */
static bool is_hidden(const struct table *table, size_t column)
{
    if (column == COLUMN_AGENT)
        return !table->with_agents;
    if (column == COLUMN_REPOSITORY)
        return !table->common_dir && !table->running;
    return table->running &&
           (column == COLUMN_DECISION || column == COLUMN_OUTCOME || column == COLUMN_MS);
}

/* The columns left for the summary; 0: it gets a line of its own. */
static size_t room_for_summary(const struct table *table)
{
    size_t used = 0;

    for (size_t i = 0; i < COLUMN_SUMMARY; i++)
        used += is_hidden(table, i) ? 0 : table->widths[i] + GAP;
    return table->width >= used + SUMMARY_MIN_WIDTH ? table->width - used : 0;
}

static void add_row(const struct table *table, char *const *cells, bool heading, struct al_str *out)
{
    const size_t most = table->width ? table->width : SIZE_MAX;
    struct line line = { out, most, 0 };

    for (size_t i = 0; i < COLUMN_SUMMARY; i++) {
        const char *colour = heading ? BOLD : colour_of(cells[COLUMN_OUTCOME]);
        size_t width = text_columns(cells[i]), wanted = table->widths[i];

        if (is_hidden(table, i))
            continue;
        if (width > wanted)
            width = wanted;
        if (layout[i].right)
            line.padding += wanted - width;
        add_cell(&line, cells[i], wanted,
                 table->colours && (heading || i == COLUMN_OUTCOME) ? colour : NULL);
        line.padding += GAP + (layout[i].right ? 0 : wanted - width);
    }
    if (!table->width || room_for_summary(table)) {
        add_cell(&line, cells[COLUMN_SUMMARY], SIZE_MAX, heading && table->colours ? BOLD : NULL);
    } else if (!heading && *cells[COLUMN_SUMMARY]) {
        al_str_addc(out, '\n');
        line = (struct line){ out, most, SUMMARY_INDENT };
        add_cell(&line, cells[COLUMN_SUMMARY], SIZE_MAX, NULL);
    }
    al_str_addc(out, '\n');
}

/* Leave out the directory that all repositories have in common; "/" alone is no help. */
static void shorten(const struct table *table, char *path)
{
    const size_t len = table->common_dir ? strlen(table->common_dir) : 0;

    if (len > 1 && path[0] == '/' && path[len])
        memmove(path, path + len, strlen(path + len) + 1);
}

static void widen(struct table *table, char *const *cells)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const size_t max = layout[i].max_width, width = text_columns(cells[i]);
        const size_t wanted = max && width > max ? max : width;

        if (wanted > table->widths[i])
            table->widths[i] = wanted;
    }
}

static void table_flush(struct table *table, struct al_str *out)
{
    char *titles[COLUMN_COUNT];
    char **rows = table->cells.items;
    const size_t count = table->cells.count;

    for (size_t i = 0; i < COLUMN_COUNT; i++)
        titles[i] = (char *)layout[i].title;
    if (table->running)
        titles[COLUMN_NUMBER] = (char *)"PID";
    if (table->width)
        widen(table, titles);
    for (size_t i = 0; i < count; i += COLUMN_COUNT) {
        shorten(table, rows[i + COLUMN_REPOSITORY]);
        widen(table, rows + i);
    }
    if (count && table->width && !table->has_heading)
        add_row(table, titles, true, out);
    table->has_heading |= count > 0;
    for (size_t i = 0; i < count; i += COLUMN_COUNT)
        add_row(table, rows + i, false, out);
    al_strv_clear(&table->cells);
}

/* The columns of the terminal on standard output; 0: it is not a terminal. */
static size_t terminal_width(void)
{
    struct winsize size = { .ws_col = 0 };

    if (!isatty(STDOUT_FILENO))
        return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* --- What is shown --- */

#define FOLLOW_MS 250

/* Wait until it is time to look again.  False: a signal came, or the reader of stdout is gone. */
static bool wait_a_moment(const struct al_cancel *cancel)
{
    struct pollfd wait[] = {
        { .fd = al_cancel_fd(cancel), .events = POLLIN },
        { .fd = STDOUT_FILENO, .events = 0 }, /* POLLERR is always reported */
    };

    return poll(wait, AL_COUNT(wait), FOLLOW_MS) == 0;
}

struct view {
    const struct al_query *query;
    const struct al_setup *setup;
    struct al_history history;
    struct table table;
    struct al_strv lines; /* that the query selects, and that are not shown yet */
    size_t last;          /* so many of them are wanted; 0: all */
    bool shown_any;       /* a line was shown */
};

static bool is_printable(const char *text)
{
    while (*text >= 0x20 && *text <= 0x7e)
        text++;
    return !*text;
}

/* Append the lines. */
static void show(struct view *view, struct al_str *out)
{
    for (size_t i = 0; i < view->lines.count; i++) {
        const char *text = view->lines.items[i];
        al_auto(al_json_decrefp) json_t *line = json_loads(text, JSON_ALLOW_NUL, NULL);

        if (!json_is_object(line))
            al_log_note("a line of the journal cannot be read; see airlock log --verify");
        else if (view->query->json && is_printable(text))
            al_str_addf(out, "%s\n", text);
        else if (view->query->json) { /* its characters could control the terminal */
            al_json_dump(line, true, out);
            al_str_addc(out, '\n');
        } else
            table_add(&view->table, line);
        view->shown_any |= line != NULL;
    }
    al_strv_clear(&view->lines);
    table_flush(&view->table, out);
}

/* --- Running calls --- */

/* Add a call without the members that are known only at its end. */
static void add(void *payload, long pid, const json_t *call)
{
    static const char *const ends[] = { "seq", "result", "outcome", "duration_ms", "prev" };
    struct view *view = payload;
    const char *time = al_json_get_string(call, "time");
    al_auto(al_json_decrefp) json_t *item = NULL;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (!al_query_matches_call(view->query, call))
        return;
    /* The time comes first: the lines are sorted by it. */
    item = json_pack("{s:s, s:I}", "time", time ? time : "", "pid", (json_int_t)pid);
    (void)json_object_update(item, (json_t *)call);
    for (size_t i = 0; i < AL_COUNT(ends); i++)
        (void)json_object_del(item, ends[i]);
    al_json_dump(item, true, &text);
    al_strv_add(&view->lines, text.buf);
}

/* Show the running calls of every process that uses the journal.  Returns the exit code. */
static int show_running(struct view *view, const char *journal_file)
{
    const struct al_query *query = view->query;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    int r = al_journal_running(journal_file, add, view);

    if (r < 0) {
        al_log_note("cannot read the running calls beside '%s': %s", journal_file,
                    strerrordesc_np(-r));
        return AL_EXIT_FAILED;
    }
    if (query->tool && !view->lines.count && !al_query_tool_exists(query->tool))
        return al_query_unknown_tool(query->tool);
    if (!view->lines.count && !query->json)
        al_str_adds(&out, "no calls are running\n");
    al_strv_sort(&view->lines);
    view->table.running = true;
    show(view, &out);
    al_cli_print(STDOUT_FILENO, &out);
    return AL_EXIT_OK;
}

/* --- Recorded lines --- */

/* Forget all but the last ones. */
static void keep_last(struct al_strv *lines, size_t most)
{
    const size_t gone = lines->count > most ? lines->count - most : 0;

    for (size_t i = 0; i < gone; i++)
        free(lines->items[i]);
    if (gone)
        memmove(lines->items, lines->items + gone, (most + 1) * sizeof(*lines->items));
    lines->count -= gone;
}

/* Read on to the end.  0 or -errno. */
static int take_lines(struct view *view)
{
    const char *text;
    size_t len;
    int r;

    while ((r = al_history_next(&view->history, &text, &len)) > 0) {
        if (!al_query_matches(view->query, text, len))
            continue;
        al_strv_take(&view->lines, al_strndup(text, len));
        if (view->last && view->lines.count / 2 == view->last) /* not at each line */
            keep_last(&view->lines, view->last);
    }
    if (view->last)
        keep_last(&view->lines, view->last);
    view->last = 0;
    return r;
}

/* Show new lines until a signal ends that, or until the reader of stdout is gone.  0 or -errno. */
static int follow(struct view *view)
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
    int r = 0;

    al_signals_handle(view->setup, al_cancel_ref(cancel));
    while (r == 0 && wait_a_moment(cancel)) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        r = take_lines(view);
        show(view, &out);
        if (r == 0)
            r = al_write_all(STDOUT_FILENO, out.buf, out.len);
    }
    return r;
}

/* --- The command --- */

static int verify(const char *file, bool json)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_verdict verdict = { .lines = 0 };

    if (al_journal_verify(file, &verdict, &err) < 0) {
        al_log_note("%s", err.message);
        return AL_EXIT_FAILED;
    }
    if (json)
        al_cli_print_json(json_pack("{s:b, s:I, s:I, s:s?}", "intact", !verdict.problem, "lines",
                                    (json_int_t)verdict.lines, "bad_line",
                                    (json_int_t)verdict.bad_line, "problem", verdict.problem));
    else if (verdict.problem)
        al_cli_say("The journal was tampered with: %s. Lines in order before that: %" PRIu64 ".\n",
                   verdict.problem, verdict.lines);
    else
        al_cli_say("%" PRIu64 " line%s, chain intact\n", verdict.lines,
                   verdict.lines == 1 ? "" : "s");
    free(verdict.problem);
    return verdict.bad_line ? AL_EXIT_FAILED : AL_EXIT_OK;
}

/* Show the recorded lines, oldest first. */
static int show_recorded(struct view *view, const char *file)
{
    static const char nothing[] = "nothing recorded yet\n";
    const struct al_query *query = view->query;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    int r = al_history_open(file, &view->history);

    view->history.follow = query->follow;
    if (r == 0)
        r = take_lines(view);
    show(view, &out);
    if (query->follow)
        al_cli_print(STDOUT_FILENO, &out);
    else
        al_pager_print(&out, true);
    if (r == 0 && !view->shown_any && !view->history.last && !view->history.size)
        (void)al_write_all(query->json ? STDERR_FILENO : STDOUT_FILENO, nothing, strlen(nothing));
    else if (r == 0 && !view->shown_any && !query->follow &&
             ((query->tool && al_query_tool_exists(query->tool)) || query->agent ||
              query->session || query->top || query->since_ms))
        al_log_note("nothing matches; airlock log --all without --tool, --agent, --session and "
                    "--since shows everything");
    return r;
}

static int show_log(struct view *view, const char *file)
{
    const struct al_query *query = view->query;
    int r = show_recorded(view, file);

    if (r == 0 && query->follow)
        r = follow(view);
    if (r == 0 && query->tool && !view->shown_any && !query->follow &&
        !al_query_tool_exists(query->tool))
        return al_query_unknown_tool(query->tool);
    if (r == 0 || r == -EPIPE)
        return AL_EXIT_OK;
    al_log_note("cannot read the journal '%s': %s", file, strerrordesc_np(-r));
    return AL_EXIT_FAILED;
}

/* A call whose process died gets its line when the journal is opened. */
static void record_interrupted(const char *file)
{
    const size_t len = strlen(file) - (al_ends_with(file, ".jsonl") ? strlen(".jsonl") : 0);
    al_auto(al_freep) char *key = al_asprintf("%.*s.key", (int)len, file);
    struct al_journal *journal;

    if (access(key, W_OK) == 0 && al_journal_open(file, &journal, NULL) == 0)
        al_journal_free(journal);
}

static int run(const struct al_query *query, const struct al_setup *setup)
{
    const char *journal_file = setup->journal_file;
    struct view view = {
        .query = query,
        .setup = setup,
        .last = query->last,
        .history = AL_HISTORY_INIT,
        .table = { .width = terminal_width(), .colours = al_tty_colours(STDOUT_FILENO) },
    };
    int code;

    (void)signal(SIGPIPE, SIG_IGN); /* a reader may stop early */
    if (query->verify)              /* which looks at the journal as it is */
        return verify(journal_file, query->json);
    if (!query->running)
        record_interrupted(journal_file);
    code = query->running ? show_running(&view, journal_file) : show_log(&view, journal_file);
    al_history_clear(&view.history);
    table_clear(&view.table);
    al_strv_clear(&view.lines);
    return code;
}

int al_cmd_log(struct al_options *options, int argc, char **argv)
{
    struct al_query query = {
        .json = al_option(options, "--json"),
        .verify = al_option(options, "--verify"),
        .follow = al_option(options, "--follow"),
        .running = al_option(options, "--running"),
        .tool = al_option(options, "--tool"),
        .agent = al_option(options, "--agent"),
        .session = al_option(options, "--session"),
    };
    static const char *const files[] = { "--audit", "--config" };
    al_auto(al_options_clear) struct al_options rest = AL_OPTIONS_INIT;
    const bool all = al_option(options, "--all") || query.verify;
    al_auto(al_freep) char *cwd = getcwd(NULL, 0);
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_setup setup;
    int r, code;

    code = al_query_check(&query, al_option(options, "--since"), argc, argv);
    if (code != AL_EXIT_OK)
        return code;
    query.top = all || !cwd ? NULL : al_environment_repository(cwd);
    for (size_t i = 0; i < AL_COUNT(files); i++) /* --tool and --agent mean something else here */
        if (al_option(options, files[i]))
            al_option_set(&rest, files[i], al_option(options, files[i]));
    (void)setlocale(LC_CTYPE, "C.UTF-8"); /* wcwidth(3) needs one in which text is UTF-8 */
    r = al_setup_config(&setup, &rest, &err);
    code = r < 0 ? al_cli_fail(&err) : run(&query, &setup);
    al_setup_clear(&setup);
    free(query.top);
    return code;
}
