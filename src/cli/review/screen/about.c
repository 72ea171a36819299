// SPDX-License-Identifier: Apache-2.0
#include "cli/review/screen/about.h"

#include <inttypes.h>
#include <string.h>

#include "util/json.h"

/* "label     value", unless there is no value. */
static void add(struct al_strv *lines, const char *label, const char *value)
{
    if (value && *value)
        al_strv_addf(lines, "%-11s%s", label, value);
}

static void about_question(const struct al_review_waiting *question, struct al_strv *lines)
{
    static const char *const labels[][2] = {
        { "repository", "repository" },
        { "tool", "tool" },
        { "operation", "operation" },
        { "risk", "risk" },
        { "why", "why" },
        { "agent", "agent" },
        { "client", "client" },
        { "asked", "time" },
        { "until", "deadline" },
    };

    add(lines, "id", al_json_get_string(question->entry, "id"));
    for (size_t i = 0; i < AL_COUNT(labels); i++)
        add(lines, labels[i][0], al_json_get_string(question->entry, labels[i][1]));
    add(lines, "always", question->always);
}

static void about_call(const struct al_overview_call *call, struct al_strv *lines)
{
    al_auto(al_freep) char *seq = call->seq ? al_asprintf("%" PRIu64, call->seq) : NULL;
    al_auto(al_freep) char *process = call->pid ? al_asprintf("%ld", call->pid) : NULL;
    al_auto(al_freep) char *tool =
        al_asprintf("%s%s%s", call->tool, *call->operation ? ", " : "", call->operation);
    al_auto(al_freep) char *took =
        call->seq ? al_asprintf("%" PRId64 " ms", call->duration_ms) : NULL;
    al_auto(al_freep) char *decided =
        al_asprintf("%s%s%s", call->decision, *call->decided_by ? ", by " : "", call->decided_by);

    add(lines, "number", seq);
    add(lines, "process", process);
    add(lines, "repository", call->repository);
    add(lines, "tool", tool);
    add(lines, "agent", call->agent);
    add(lines, "began", call->time);
    if (!call->seq)
        return;
    add(lines, "took", took);
    add(lines, "decision", decided);
    add(lines, "outcome", call->outcome);
}

void al_screen_about(const struct al_screen_row *row, struct al_strv *lines)
{
    al_strv_add(lines, row->text ? row->text : "");
    if (row->question)
        about_question(row->question, lines);
    else if (row->call)
        about_call(row->call, lines);
    else if (row->staged)
        add(lines, "id", row->staged->id);
    if (row->staged) {
        add(lines, "staged", row->staged->time);
        add(lines, "worker", row->staged->worker);
    }
    al_strv_add(lines, "");
}

void al_screen_first_text(const struct al_screen_row *row, struct al_str *text)
{
    const char *excerpt;

    if (row->call) {
        al_str_adds(text, row->call->result);
    } else if (row->staged) {
        al_str_adds(text, row->staged->text);
    } else if (row->question) {
        excerpt = al_json_get_string(row->question->entry, "text");
        al_str_adds(text, excerpt ? excerpt : "");
    }
}
