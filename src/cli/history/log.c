// SPDX-License-Identifier: Apache-2.0
/* airlock log: past executions, and whether the journal was tampered with. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fail.h"
#include "cli/help.h"
#include "cli/history/follow.h"
#include "cli/history/query.h"
#include "cli/history/running.h"
#include "cli/history/survey.h"
#include "cli/options.h"
#include "cli/pager.h"
#include "cli/setup.h"
#include "cli/table.h"
#include "cli/tty.h"
#include "history/journal.h"
#include "util/fs.h"
#include "util/log.h"

#define FLUSH_BYTES   (64u << 10)
#define ROWS_TOGETHER 200u /* rows that are aligned with each other */

struct view {
    const struct al_query *query;
    struct al_tail tail;
    struct al_table table;
    struct al_str out;
    bool shown_any;     /* a line was shown */
    bool output_closed; /* stdout cannot be written any more */
};

static void flush(struct view *view)
{
    int r;

    al_table_flush(&view->table, &view->out);
    r = view->output_closed ? 0 : al_write_all(STDOUT_FILENO, view->out.buf, view->out.len);
    if (r < 0)
        view->output_closed = true;
    if (r < 0 && r != -EPIPE)
        al_log_note("cannot write: %s", strerrordesc_np(-r));
    al_str_reset(&view->out);
}

static bool is_printable(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    return true;
}

/* Add the line unchanged.  A line with control characters is escaped: they could control the
 * terminal. */
static void add_json(struct view *view, const json_t *line, const char *text, size_t len)
{
    if (is_printable(text, len))
        al_str_add(&view->out, text, len);
    else
        al_json_dump(line, true, &view->out);
    al_str_addc(&view->out, '\n');
}

static void show(struct view *view, const char *text, size_t len)
{
    al_auto(al_json_decrefp) json_t *line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);

    if (!json_is_object(line))
        al_log_note("a line of the journal cannot be read; see airlock log --verify");
    else if (view->query->json)
        add_json(view, line, text, len);
    else
        al_table_add(&view->table, line);
    view->shown_any |= line != NULL;
    if (view->out.len >= FLUSH_BYTES || al_table_pending(&view->table) >= ROWS_TOGETHER)
        flush(view);
}

/* --- Where to begin --- */

static int count_matches(const struct al_query *query, const struct al_history *history,
                         size_t index, size_t *ret_count)
{
    al_auto(al_closep) int fd = al_history_file(history, index);
    al_auto(al_lines_clear) struct al_lines lines = AL_LINES_INIT(fd, 0);
    const char *text;
    size_t len;
    int r;

    if (fd < 0)
        return fd;
    if (index == history->rotated.count)
        lines.limit = history->size;
    while ((r = al_lines_next(&lines, &text, &len)) > 0)
        *ret_count += al_query_matches(query, text, len);
    return r;
}

/* Find the first of the last query->last matching lines: the index of its file, and the number of
 * matching lines before it there.  The search begins with the newest file, so that older ones are
 * not read. */
static int find_start(const struct al_query *query, const struct al_history *history,
                      size_t *ret_index, size_t *ret_skip)
{
    size_t found = 0;

    *ret_index = 0;
    *ret_skip = 0;
    for (size_t i = al_history_count(history); query->last && i > 0; i--) {
        int r = count_matches(query, history, i - 1, &found);

        if (r < 0)
            return r;
        if (found < query->last)
            continue;
        *ret_index = i - 1;
        *ret_skip = found - query->last;
        break;
    }
    return 0;
}

/* Show the lines up to the end: skip the first `skip` matches, then show at most `most`.  Returns 0
 * or -errno. */
static int show_to_end(struct view *view, size_t skip, size_t most)
{
    const char *text;
    size_t len;
    int r = 0;

    while (!view->output_closed && most && (r = al_tail_next(&view->tail, &text, &len)) > 0) {
        if (!al_query_matches(view->query, text, len))
            continue;
        if (skip) {
            skip--;
            continue;
        }
        show(view, text, len);
        most--;
    }
    flush(view);
    return r < 0 ? r : 0;
}

static int show_more(void *payload)
{
    struct view *view = payload;
    int r = show_to_end(view, 0, SIZE_MAX);

    return r == 0 && view->output_closed ? -EPIPE : r;
}

/* --- The command --- */

static int fail(const char *file, int r)
{
    al_log_note("cannot read the journal '%s': %s", file, strerrordesc_np(-r));
    return AL_EXIT_FAILED;
}

static int verify(const char *file, bool json)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_verdict verdict = { .lines = 0 };

    if (al_journal_verify(file, &verdict, &err) < 0) {
        al_log_note("%s", err.message);
        return AL_EXIT_FAILED;
    }
    if (json)
        (void)printf("{\"intact\":%s,\"lines\":%" PRIu64 ",\"bad_line\":%" PRIu64
                     ",\"problem\":%s%s%s}\n",
                     verdict.problem ? "false" : "true", verdict.lines, verdict.bad_line,
                     verdict.problem ? "\"" : "", verdict.problem ? verdict.problem : "null",
                     verdict.problem ? "\"" : "");
    else if (verdict.problem)
        (void)printf("The journal was tampered with: %s. Lines in order before that: %" PRIu64
                     ".\n",
                     verdict.problem, verdict.lines);
    else
        (void)printf("%" PRIu64 " line%s, chain intact\n", verdict.lines,
                     verdict.lines == 1 ? "" : "s");
    free(verdict.problem);
    return verdict.bad_line ? AL_EXIT_FAILED : AL_EXIT_OK;
}

/* Whether a table of this many lines is longer than the terminal. */
static bool exceeds_terminal(size_t lines)
{
    struct winsize size = { .ws_row = 0 };

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && lines >= size.ws_row;
}

/* Decide which columns the table needs, and count its lines. */
static void survey(struct view *view, const struct al_history *history, size_t index,
                   size_t *ret_count)
{
    al_auto(al_survey_clear) struct al_survey found = AL_SURVEY_INIT;

    al_survey_lines(view->query, history, index, &found);
    view->table.common_dir = al_take(&found.common_dir);
    view->table.with_agents = found.has_several_agents;
    *ret_count = found.lines;
}

/* Show the recorded lines, oldest first.  A pager begins at the newest. */
/* Whether all may be left out because of what was asked for. */
static bool filters(const struct al_query *query)
{
    return (query->tool && al_query_tool_exists(query->tool)) || query->agent || *query->since;
}

static int show_recorded(struct view *view, const char *file, struct al_pager *pager)
{
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    const struct al_query *query = view->query;
    size_t index = 0, skip = 0, count = 0;
    int r = al_history_open(file, &history);

    if (r == 0)
        r = find_start(query, &history, &index, &skip);
    if (r == 0 && !query->json)
        survey(view, &history, index, &count);
    if (!query->follow)
        al_pager_start(pager,
                       exceeds_terminal(query->last && query->last < count ? query->last : count));
    if (r == 0)
        r = al_tail_start(&view->tail, file, &history, index);
    if (r == 0)
        r = show_to_end(view, skip, query->last && !query->follow ? query->last : SIZE_MAX);
    if (r == 0 && !view->shown_any && al_history_is_empty(&history))
        (void)fputs("nothing recorded yet\n", query->json ? stderr : stdout);
    else if (r == 0 && !view->shown_any && !query->follow && filters(query))
        al_log_note("nothing matches; airlock log without --tool, --agent and --since shows all");
    (void)fflush(stdout);
    return r;
}

static int show_log(const struct al_query *query, const char *file)
{
    al_auto(al_closep) int watch_fd = query->follow ? al_follow_watch(file) : -1;
    struct al_pager pager = AL_PAGER_INIT;
    struct view view = {
        .query = query,
        .tail = { .lines = AL_LINES_INIT(-1, 0), .fd = -1 },
        .table = AL_TABLE_INIT(al_table_terminal_width(), al_tty_colours(STDOUT_FILENO)),
        .out = AL_STR_INIT,
    };
    int r;

    r = show_recorded(&view, file, &pager);
    if (r == 0 && query->follow && !view.output_closed && watch_fd != -ENOENT)
        r = watch_fd < 0 ? watch_fd : al_follow(watch_fd, show_more, &view);
    al_tail_clear(&view.tail);
    al_table_clear(&view.table);
    al_str_clear(&view.out);
    al_pager_end(&pager);
    if (r == 0 && query->tool && !view.shown_any && !query->follow &&
        !al_query_tool_exists(query->tool))
        return al_query_unknown_tool(query->tool);
    return r < 0 && r != -EPIPE ? fail(file, r) : AL_EXIT_OK;
}

static int run(const char *journal_file, int argc, char **argv)
{
    struct al_query query = { .tool = NULL };
    int code = al_query_parse(&query, argc, argv);

    if (code != AL_EXIT_OK)
        return code;
    (void)signal(SIGPIPE, SIG_IGN); /* a reader may stop early */
    if (query.running)
        return al_show_running(&query, journal_file);
    return query.verify ? verify(journal_file, query.json) : show_log(&query, journal_file);
}

int al_cmd_log(int argc, char **argv)
{
    al_auto(al_options_clear) struct al_options options = { .json = false };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_setup setup;
    char *word[2] = { NULL };
    int r = 0, code;

    if (argc > 0 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h")))
        return al_help_command("log");
    /* --audit and --config come first; the other words are options of this command. */
    while (r == 0 && argc > 0 &&
           (al_starts_with(argv[0], "--audit") || al_starts_with(argv[0], "--config"))) {
        int words = strchr(argv[0], '=') || argc < 2 ? 1 : 2, left = words;
        char **at = word;

        memcpy(word, argv, (size_t)words * sizeof(*word));
        r = al_options_read(&options, false, &left, &at, &err);
        argc -= words;
        argv += words;
    }
    if (r < 0)
        return al_cli_fail(&err);
    r = al_setup_config(&setup, &options, &err);
    code = r < 0 ? al_cli_fail(&err) : run(setup.journal_file, argc, argv);
    al_setup_clear(&setup);
    return code;
}
