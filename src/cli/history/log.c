// SPDX-License-Identifier: Apache-2.0
/* airlock log: past executions, and whether the journal was tampered with. */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/history/query.h"
#include "cli/options.h"
#include "cli/pager.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "cli/table.h"
#include "cli/tty.h"
#include "history/journal.h"

#define FOLLOW_MS 250

/* Wait until it is time to look again.  False: a signal came, or the reader of stdout is gone. */
static bool wait_a_moment(int signal_fd)
{
    struct pollfd wait[] = {
        { .fd = signal_fd, .events = POLLIN },
        { .fd = STDOUT_FILENO, .events = 0 }, /* POLLERR is always reported */
    };

    return poll(wait, AL_COUNT(wait), FOLLOW_MS) == 0;
}

/* The running calls that the query selects. */
struct calls {
    const struct al_query *query;
    json_t *items;
};

/* Add a call without the members that are known only at its end. */
static void add(void *payload, long pid, const json_t *call)
{
    static const char *const ends[] = { "seq", "result", "outcome", "duration_ms", "prev" };
    struct calls *calls = payload;
    json_t *item;

    if (!al_query_matches_call(calls->query, call))
        return;
    item = json_pack("{s:I}", "pid", (json_int_t)pid);
    (void)json_object_update(item, (json_t *)call);
    for (size_t i = 0; i < AL_COUNT(ends); i++)
        (void)json_object_del(item, ends[i]);
    al_json_append(calls->items, item);
}

/* Compare by start time, oldest first. */
static int compare(const void *a, const void *b)
{
    const char *one = al_json_get_string(*(json_t *const *)a, "time");
    const char *two = al_json_get_string(*(json_t *const *)b, "time");

    return strcmp(one ? one : "", two ? two : "");
}

static void print(const json_t *items, bool json, struct al_str *out)
{
    size_t count = json_array_size(items);
    al_auto(al_freep) json_t **order = al_calloc(count + 1, sizeof(json_t *));
    struct al_table table = AL_TABLE_INIT(al_table_terminal_width(), al_tty_colours(STDOUT_FILENO));

    table.running = true;
    table.common_dir = al_strdup(""); /* show the column, with absolute paths */
    for (size_t i = 0; i < count; i++)
        order[i] = json_array_get(items, i);
    for (size_t i = 0; i < count; i++)
        table.with_agents |= al_json_get_string(order[i], "agent") != NULL;
    qsort(order, count, sizeof(json_t *), compare);
    for (size_t i = 0; i < count; i++) {
        if (json) {
            al_json_dump(order[i], true, out);
            al_str_addc(out, '\n');
        } else {
            al_table_add(&table, order[i]);
        }
    }
    al_table_flush(&table, out);
    al_table_clear(&table);
}

/* Show the running calls of every process that uses the journal.  Returns the exit code. */
static int show_running(const struct al_query *query, const char *journal_file)
{
    al_auto(al_json_decrefp) json_t *items = al_json_array();
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    struct calls calls = { query, items };
    int r = al_journal_running(journal_file, add, &calls);

    if (r < 0) {
        al_log_note("cannot read the running calls beside '%s': %s", journal_file,
                    strerrordesc_np(-r));
        return AL_EXIT_FAILED;
    }
    if (query->tool && !json_array_size(items) && !al_query_tool_exists(query->tool))
        return al_query_unknown_tool(query->tool);
    if (!json_array_size(items) && !query->json)
        al_str_adds(&out, "no calls are running\n");
    print(items, query->json, &out);
    (void)al_write_all(STDOUT_FILENO, out.buf, out.len);
    return AL_EXIT_OK;
}

/* What decides about the columns of a table. */
struct survey {
    size_t lines;
    char *common_dir; /* a directory above all repositories, ending in '/'; NULL: not several */
    bool has_several_agents; /* or lines of an agent beside lines of none */
    char *repository;        /* of the first line that has one */
    char *agent;             /* of the first line; "": none */
};

static void add_repository(struct survey *survey, const char *path)
{
    if (!path || path[0] != '/')
        return;
    if (!survey->repository)
        survey->repository = al_strdup(path);
    if (!strcmp(survey->repository, path))
        return;
    if (!survey->common_dir)
        survey->common_dir =
            al_strndup(survey->repository,
                       (size_t)(strrchr(survey->repository, '/') - survey->repository) + 1);
    while (!al_starts_with(path, survey->common_dir)) { /* it ends in '/' */
        *strrchr(survey->common_dir, '/') = '\0';
        strrchr(survey->common_dir, '/')[1] = '\0';
    }
}

/* Read the lines that the query selects, after so many of them.  What cannot be read is left out.
 */
static void survey_lines(const struct al_query *query, const char *file, size_t skip,
                         struct survey *survey)
{
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    const char *text;
    size_t len;
    int r = al_history_open(file, &history);

    while (r >= 0 && (r = al_history_next(&history, &text, &len)) > 0) {
        al_auto(al_json_decrefp) json_t *line = NULL;
        const char *agent;

        if (!al_query_matches(query, text, len) || survey->lines++ < skip)
            continue;
        line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
        add_repository(survey, al_json_get_string(line, "repository"));
        agent = al_json_get_string(line, "agent");
        if (!survey->agent)
            survey->agent = al_strdup(agent ? agent : "");
        survey->has_several_agents |= strcmp(survey->agent, agent ? agent : "") != 0;
    }
}

static void survey_clear(struct survey *survey)
{
    free(survey->repository);
    free(survey->common_dir);
    free(survey->agent);
}

#define FLUSH_BYTES   (64u << 10)
#define ROWS_TOGETHER 200u /* rows that are aligned with each other */

struct view {
    const struct al_query *query;
    struct al_history history;
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

static void show(struct view *view, const char *text, size_t len)
{
    al_auto(al_json_decrefp) json_t *line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);

    if (!json_is_object(line))
        al_log_note("a line of the journal cannot be read; see airlock log --verify");
    else if (view->query->json && is_printable(text, len))
        al_str_addf(&view->out, "%.*s\n", (int)len, text);
    else if (view->query->json) { /* its characters could control the terminal */
        al_json_dump(line, true, &view->out);
        al_str_addc(&view->out, '\n');
    } else
        al_table_add(&view->table, line);
    view->shown_any |= line != NULL;
    if (view->out.len >= FLUSH_BYTES || al_table_pending(&view->table) >= ROWS_TOGETHER)
        flush(view);
}

/* Show the lines up to the end: skip the first `skip` matches, then show at most `most`.  Returns 0
 * or -errno. */
static int show_to_end(struct view *view, size_t skip, size_t most)
{
    const char *text;
    size_t len;
    int r = 0;

    while (!view->output_closed && most && (r = al_history_next(&view->history, &text, &len)) > 0) {
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

/* Show new lines until SIGINT, SIGTERM or until the reader of stdout is gone.  0 or -errno. */
static int follow(struct view *view)
{
    al_auto(al_closep) int signal_fd = -1;
    sigset_t signals;
    int r = 0;

    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL); /* for the rest of the process */
    signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    if (signal_fd < 0)
        return -errno;
    while (r == 0 && !view->output_closed && wait_a_moment(signal_fd))
        r = show_to_end(view, 0, SIZE_MAX);
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

/* Count the lines that the query selects, and decide which columns the table needs for the last
 * ones.
 */
static size_t survey(struct view *view, const char *file)
{
    al_auto(survey_clear) struct survey all = { .lines = 0 }, shown = { .lines = 0 };
    const struct al_query *query = view->query;

    if (query->last)
        survey_lines(query, file, SIZE_MAX, &all);
    survey_lines(query, file, all.lines > query->last ? all.lines - query->last : 0, &shown);
    view->table.common_dir = al_take(&shown.common_dir);
    view->table.with_agents = shown.has_several_agents;
    return shown.lines;
}

/* Show the recorded lines, oldest first.  A pager begins at the newest. */
static int show_recorded(struct view *view, const char *file, struct al_pager *pager)
{
    const struct al_query *query = view->query;
    const size_t count = survey(view, file);
    const size_t skip = query->last && count > query->last ? count - query->last : 0;
    struct winsize size = { .ws_row = 0 };
    int r = al_history_open(file, &view->history);

    view->history.follow = query->follow;
    if (!query->follow)
        al_pager_start(pager, ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row &&
                                  count - skip >= size.ws_row);
    if (r == 0)
        r = show_to_end(view, skip, query->last && !query->follow ? query->last : SIZE_MAX);
    if (r == 0 && !view->shown_any && !view->history.last && !view->history.size)
        (void)fputs("nothing recorded yet\n", query->json ? stderr : stdout);
    else if (r == 0 && !view->shown_any && !query->follow &&
             ((query->tool && al_query_tool_exists(query->tool)) || query->agent ||
              query->session || query->top || query->since_ms))
        al_log_note("nothing matches; airlock log --all without --tool, --agent, --session and "
                    "--since shows everything");
    (void)fflush(stdout);
    return r;
}

static int show_log(const struct al_query *query, const char *file)
{
    struct al_pager pager = AL_PAGER_INIT;
    struct view view = {
        .query = query,
        .history = AL_HISTORY_INIT,
        .table = AL_TABLE_INIT(al_table_terminal_width(), al_tty_colours(STDOUT_FILENO)),
        .out = AL_STR_INIT,
    };
    int r;

    r = show_recorded(&view, file, &pager);
    if (r == 0 && query->follow)
        r = follow(&view);
    al_history_clear(&view.history);
    al_table_clear(&view.table);
    al_str_clear(&view.out);
    al_pager_end(&pager);
    if (r == 0 && query->tool && !view.shown_any && !query->follow &&
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

static int run(const struct al_query *query, const char *journal_file)
{
    (void)signal(SIGPIPE, SIG_IGN); /* a reader may stop early */
    if (query->running)
        return show_running(query, journal_file);
    if (query->verify) /* which looks at the journal as it is */
        return verify(journal_file, query->json);
    record_interrupted(journal_file);
    return show_log(query, journal_file);
}

int al_cmd_log(int argc, char **argv)
{
    struct al_query query = { .tool = NULL };
    al_auto(al_freep) char *cwd = getcwd(NULL, 0);
    const char *since = NULL;
    bool all = false;
    const struct al_own_option own[] = {
        { "--all", &all, NULL },
        { "--json", &query.json, NULL },
        { "--verify", &query.verify, NULL },
        { "--follow", &query.follow, NULL },
        { "--running", &query.running, NULL },
        { "--tool", NULL, &query.tool },
        { "--agent", NULL, &query.agent },
        { "--since", NULL, &since },
        { "--session", NULL, &query.session },
        { NULL, NULL, NULL },
    };
    al_auto(al_options_clear) struct al_options options = { .json = false };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_setup setup;
    int r, code;

    if (!al_options_take(&options, "log", own, &argc, argv, &code))
        return code;
    code = al_query_check(&query, since, argc, argv);
    if (code != AL_EXIT_OK)
        return code;
    query.top = all || query.verify || !cwd ? NULL : al_environment_repository(cwd);
    (void)setlocale(LC_CTYPE, "C.UTF-8"); /* wcwidth(3) needs one in which text is UTF-8 */
    r = al_setup_config(&setup, &options, &err);
    code = r < 0 ? al_cli_fail(&err) : run(&query, setup.journal_file);
    al_setup_clear(&setup);
    free(query.top);
    return code;
}
