// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_executions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "history/journal.h"

static void add(struct al_executions *executions, const json_t *line)
{
    const char *tool = al_json_get_string(line, "tool");
    const char *before = al_json_get_string(line, "git_commit");
    const char *outcome = al_json_get_string(line, "outcome");
    struct al_execution *item;

    if (!tool || !outcome || strlen(before) >= AL_OID_TEXT)
        return;
    /* The capacity doubles at powers of two. */
    if ((executions->count & (executions->count - 1)) == 0)
        executions->items =
            al_reallocarray(executions->items, executions->count ? 2 * executions->count : 1,
                            sizeof(*executions->items));
    item = &executions->items[executions->count++];
    *item = (struct al_execution){
        .seq = (uint64_t)json_integer_value(json_object_get(line, "seq")),
        .tool = al_strdup(tool),
        .session = al_strdup(al_json_get_string(line, "conversation_id")),
        .agent = al_strdup(al_json_get_string(line, "agent")),
        .summary = al_strdup(al_json_get_string(line, "summary")),
        .interrupted = !strcmp(outcome, "interrupted"),
    };
    (void)snprintf(item->before, sizeof(item->before), "%s", before);
    if (!strcmp(tool, "rollback"))
        item->input = json_incref(json_object_get(line, "input"));
    item->redo = json_is_true(json_object_get(item->input, "redo"));
}

static void add_line(struct al_executions *executions, const char *text, size_t len,
                     const char *top)
{
    static const char taken[] = "\"git_commit\":\"";
    al_auto(al_json_decrefp) json_t *line = NULL;

    if (!memmem(text, len, taken, strlen(taken)))
        return;
    line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    if (al_journal_is_about(line, top) && al_json_get_string(line, "git_commit"))
        add(executions, line);
}

static int read_file(const struct al_history *history, size_t index, const char *top,
                     struct al_executions *executions)
{
    al_auto(al_closep) int fd = al_history_file(history, index);
    al_auto(al_lines_clear) struct al_lines lines = AL_LINES_INIT(fd, 0);
    const char *text;
    size_t len;
    int r;

    if (fd < 0)
        return fd;
    while ((r = al_lines_next(&lines, &text, &len)) > 0)
        add_line(executions, text, len, top);
    return r;
}

int al_executions_read(const char *file, const char *top, struct al_executions *ret_executions,
                       struct al_error *err)
{
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    struct al_executions executions = { .items = NULL };
    int r = al_history_open(file, &history);

    for (size_t i = 0; r == 0 && i < al_history_count(&history); i++)
        r = read_file(&history, i, top, &executions);
    if (r < 0) {
        al_executions_clear(&executions);
        return al_error_errno(err, -r, "cannot read the journal '%s'", file);
    }
    *ret_executions = executions;
    return 0;
}

static void clear(struct al_execution *execution)
{
    free(execution->tool);
    free(execution->session);
    free(execution->agent);
    free(execution->summary);
    json_decref(execution->input);
}

/* Keep those whose agent, or session, has this name. */
static void keep(struct al_executions *executions, const char *agent, const char *session)
{
    size_t kept = 0;

    for (size_t i = 0; i < executions->count; i++) {
        struct al_execution *item = &executions->items[i];
        const char *name = agent ? item->agent : item->session;

        if (name && !strcmp(name, agent ? agent : session))
            executions->items[kept++] = *item;
        else
            clear(item);
    }
    executions->count = kept;
}

void al_executions_keep_agent(struct al_executions *executions, const char *agent)
{
    keep(executions, agent, NULL);
}

void al_executions_keep_session(struct al_executions *executions, const char *session)
{
    keep(executions, NULL, session);
}

void al_executions_clear(struct al_executions *executions)
{
    for (size_t i = 0; i < executions->count; i++)
        clear(&executions->items[i]);
    free(executions->items);
    *executions = (struct al_executions){ .items = NULL };
}
