// SPDX-License-Identifier: Apache-2.0
/* airlock log: past executions, and whether the journal was tampered with. */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

struct view {
    const struct al_query *query;
    struct al_history history;
    struct al_table table;
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
            al_table_add(&view->table, line);
        view->shown_any |= line != NULL;
    }
    al_strv_clear(&view->lines);
    al_table_flush(&view->table, out);
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
    while (r == 0 && wait_a_moment(signal_fd)) {
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

/* Show the recorded lines, oldest first. */
static int show_recorded(struct view *view, const char *file)
{
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
        (void)fputs("nothing recorded yet\n", query->json ? stderr : stdout);
    else if (r == 0 && !view->shown_any && !query->follow &&
             ((query->tool && al_query_tool_exists(query->tool)) || query->agent ||
              query->session || query->top || query->since_ms))
        al_log_note("nothing matches; airlock log --all without --tool, --agent, --session and "
                    "--since shows everything");
    (void)fflush(stdout);
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

static int run(const struct al_query *query, const char *journal_file)
{
    struct view view = {
        .query = query,
        .last = query->last,
        .history = AL_HISTORY_INIT,
        .table = AL_TABLE_INIT(al_table_terminal_width(), al_tty_colours(STDOUT_FILENO)),
    };
    int code;

    (void)signal(SIGPIPE, SIG_IGN); /* a reader may stop early */
    if (query->verify)              /* which looks at the journal as it is */
        return verify(journal_file, query->json);
    if (!query->running)
        record_interrupted(journal_file);
    code = query->running ? show_running(&view, journal_file) : show_log(&view, journal_file);
    al_history_clear(&view.history);
    al_table_clear(&view.table);
    al_strv_clear(&view.lines);
    return code;
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
