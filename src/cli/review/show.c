// SPDX-License-Identifier: Apache-2.0
#include "cli/review/show.h"

#include <stdlib.h>
#include <string.h>

#include "cli/review/match.h"
#include "guard/text.h"
#include "history/journal.h"

/* A member as one line that does nothing to a terminal; "-" when there is none.  Caller frees. */
static char *line_of(const json_t *object, const char *name)
{
    const char *text = al_json_get_string(object, name);

    return al_text_join_shown_lines(text ? text : "-");
}

static void add_line(const char *label, const json_t *object, const char *name, struct al_str *out)
{
    al_auto(al_freep) char *line = line_of(object, name);

    if (al_json_get_string(object, name))
        al_str_addf(out, "%-12s%s\n", label, line);
}

void al_review_add_json(const struct al_review_list *waiting, struct al_str *out)
{
    al_auto(al_json_decrefp) json_t *array = al_json_array();

    for (size_t i = 0; i < waiting->count; i++)
        al_json_append(array, json_incref(waiting->items[i].entry));
    al_json_dump(array, true, out);
    al_str_addc(out, '\n');
}

static void add_waiting(const struct al_review_waiting *question, struct al_str *out)
{
    const json_t *entry = question->entry;
    al_auto(al_freep) char *id = line_of(entry, "id"), *tool = line_of(entry, "tool"),
                           *operation = line_of(entry, "operation"),
                           *repository = line_of(entry, "repository"),
                           *summary = line_of(entry, "summary"), *risk = line_of(entry, "risk"),
                           *time = line_of(entry, "time"), *agent = line_of(entry, "agent"),
                           *deadline = line_of(entry, "deadline");

    al_str_addf(out, "%s  %s\n", id, summary);
    al_str_addf(out, "          %s (%s), risk %s, in %s\n", tool, operation, risk, repository);
    al_str_addf(out, "          asked %s by %s, until %s\n", time, agent, deadline);
}

/* The calls that run, without those that wait. */
struct running {
    struct al_review_match match;
    struct al_str *out;
    size_t count;
};

static void add_running(void *payload, long pid, const json_t *call)
{
    struct running *running = payload;
    al_auto(al_freep) char *time = line_of(call, "time"), *tool = line_of(call, "tool"),
                           *summary = line_of(call, "summary"), *agent = line_of(call, "agent"),
                           *repository = line_of(call, "repository");

    if (al_review_match_take(&running->match, pid, call))
        return;
    al_str_addf(running->out, "%s%8ld  %s\n          %s in %s, since %s by %s\n",
                running->count++ ? "" : "\nRunning:\n", pid, summary, tool, repository, time,
                agent);
}

void al_review_add_list(const struct al_review_list *waiting, const char *journal_file,
                        struct al_str *out)
{
    struct running running = { .match = al_review_match_begin(waiting), .out = out };

    al_str_adds(out,
                waiting->count ? "Waiting for an answer:\n" : "Nothing waits for an answer.\n");
    for (size_t i = 0; i < waiting->count; i++)
        add_waiting(&waiting->items[i], out);
    (void)al_journal_running(journal_file, add_running, &running);
    al_review_match_clear(&running.match);
}

static void add_indented(const char *text, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;

    al_text_sanitize_shown(text, strlen(text), &safe);
    for (const char *at = safe.buf; *at;) {
        const size_t len = strcspn(at, "\n");

        al_str_addf(out, "  %.*s\n", (int)len, at);
        at += len + (at[len] == '\n');
    }
}

void al_review_add_question(const struct al_review_waiting *question, const char *text,
                            struct al_str *out)
{
    static const char *const lines[][2] = {
        { "summary", "summary" }, { "repository", "repository" },
        { "tool", "tool" },       { "operation", "operation" },
        { "risk", "risk" },       { "why", "why" },
        { "agent", "agent" },     { "client", "client" },
        { "asked", "time" },      { "until", "deadline" },
    };

    if (!text)
        text = al_json_get_string(question->entry, "text");
    for (size_t i = 0; i < AL_COUNT(lines); i++)
        add_line(lines[i][0], question->entry, lines[i][1], out);
    if (question->always) {
        al_auto(al_freep) char *covers = al_text_join_shown_lines(question->always);

        al_str_addf(out, "%-12s%s\n", "--always", covers);
    }
    if (text && *text) {
        al_str_addc(out, '\n');
        add_indented(text, out);
    }
}
