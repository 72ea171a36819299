// SPDX-License-Identifier: Apache-2.0
#include "cli/review/web/entry.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/review/web/html.h"
#include "util/json.h"

static const char *member(const struct al_review_waiting *question, const char *name)
{
    const char *text = al_json_get_string(question->entry, name);

    return text ? text : "";
}

/* --- A question --- */

char *al_page_question_path(const struct al_review_waiting *question)
{
    struct al_str path = AL_STR_INIT;

    al_str_adds(&path, "/review/");
    al_html_add_line(member(question, "id"), &path);
    return al_str_detach(&path);
}

static void add_risk(const char *risk, struct al_str *out)
{
    if (!*risk)
        return;
    al_str_addf(out, "<div><dt>risk</dt><dd><span class=\"%s\">",
                !strcmp(risk, "high") ? "risk high" : "risk");
    al_html_add_line(risk, out);
    al_str_adds(out, "</span></dd></div>\n");
}

/* "git_push (push)" */
static char *tool_of(const char *tool, const char *operation)
{
    if (!*operation)
        return al_strdup(tool);
    return al_asprintf("%s (%s)", tool, operation);
}

void al_page_add_question_facts(const struct al_review_waiting *question, struct al_str *out)
{
    al_auto(al_freep) char *tool = tool_of(member(question, "tool"), member(question, "operation"));

    al_str_adds(out, "<dl class=\"facts\">\n");
    al_html_add_fact("repository", member(question, "repository"), out);
    al_html_add_fact("tool", tool, out);
    add_risk(member(question, "risk"), out);
    al_html_add_fact("why", member(question, "why"), out);
    al_html_add_fact("agent", member(question, "agent"), out);
    al_html_add_fact("client", member(question, "client"), out);
    al_html_add_time_fact("asked", member(question, "time"), out);
    al_html_add_time_fact("until", member(question, "deadline"), out);
    al_str_adds(out, "</dl>\n");
}

static void add_button(const char *decision, const char *words, const char *covers,
                       struct al_str *out)
{
    al_str_addf(out, "<button name=\"decision\" value=\"%s\">%s", decision, words);
    al_html_add_line(covers, out);
    al_str_adds(out, "</button>\n");
}

void al_page_add_answers(const struct al_page_frame *frame,
                         const struct al_review_waiting *question, struct al_str *out)
{
    al_auto(al_freep) char *path = al_page_question_path(question);

    al_str_addf(out,
                "<form method=\"post\" action=\"%s\" autocomplete=\"off\">\n"
                "<div class=\"no\"><label>Reason, if you reject it\n"
                "<input name=\"reason\"></label>\n",
                path);
    al_page_add_csrf(frame, out);
    add_button("reject", "Reject", NULL, out);
    al_str_adds(out, "</div>\n<div class=\"yes\">\n");
    add_button("once", "Approve once", NULL, out);
    if (question->always)
        add_button("always", "Approve always: ", question->always, out);
    al_str_adds(out, "</div>\n</form>\n");
}

void al_page_add_question(const struct al_page_frame *frame,
                          const struct al_review_waiting *question, struct al_str *out)
{
    al_auto(al_freep) char *path = al_page_question_path(question);
    const char *text = member(question, "text"), *id = path + strlen("/review/");

    al_str_addf(out,
                "<article class=\"question\" data-approval=\"%s\" aria-labelledby=\"q-%s\">\n"
                "<h3 id=\"q-%s\"><a href=\"%s\">",
                id, id, id, path);
    al_html_add_line(member(question, "summary"), out);
    al_str_adds(out, "</a></h3>\n");
    al_page_add_question_facts(question, out);
    if (*text)
        al_page_add_excerpt(
            &(struct al_page_text){
                .text = text, .len = strlen(text), .path = path, .label = "What it would do" },
            AL_PAGE_EXCERPT_LINES, out);
    al_page_add_answers(frame, question, out);
    al_str_adds(out, "</article>\n");
}

/* --- A call --- */

const char *al_page_call_title(const struct al_overview_call *call)
{
    return *call->summary ? call->summary : call->tool;
}

void al_page_add_call_facts(const struct al_overview_call *call, struct al_str *out)
{
    al_auto(al_freep) char *tool = tool_of(call->tool, call->operation);
    al_auto(al_freep) char *process = call->pid ? al_asprintf("%ld", call->pid) : NULL;
    al_auto(al_freep) char *took =
        call->seq ? al_asprintf("%" PRId64 " ms", call->duration_ms) : NULL;
    al_auto(al_freep) char *decided =
        al_asprintf("%s%s%s", call->decision, *call->decided_by ? ", by " : "", call->decided_by);

    al_str_adds(out, "<dl class=\"facts\">\n");
    al_html_add_fact("repository", call->repository, out);
    al_html_add_fact("tool", tool, out);
    al_html_add_fact("agent", call->agent, out);
    al_html_add_fact("process", process, out);
    al_html_add_time_fact("began", call->time, out);
    if (call->seq) {
        al_html_add_fact("took", took, out);
        al_html_add_fact("decision", decided, out);
        al_html_add_fact("outcome", call->outcome, out);
    }
    al_str_adds(out, "</dl>\n");
}

/* Where and by whom, in one line. */
static void add_origin(const char *repository, const char *agent, const char *time,
                       struct al_str *out)
{
    al_str_adds(out, "<p class=\"origin\">");
    al_html_add_time(time, out);
    al_str_adds(out, *agent ? " by " : "");
    al_html_add_line(agent, out);
    al_str_adds(out, *repository ? " in " : "");
    al_html_add_line(repository, out);
    al_str_adds(out, "</p>\n");
}

void al_page_add_running(const struct al_overview_call *call, struct al_str *out)
{
    al_str_adds(out, "<article>\n<h3>");
    al_html_add_line(al_page_call_title(call), out);
    al_str_adds(out, "</h3>\n");
    add_origin(call->repository, call->agent, call->time, out);
    al_str_adds(out, "</article>\n");
}

void al_page_add_execution(const struct al_overview_call *call, struct al_str *out)
{
    const bool is_ok = !strcmp(call->outcome, "ok") || !strcmp(call->outcome, "dry_run");

    al_str_addf(out,
                "<article data-execution=\"%" PRIu64 "\">\n"
                "<h3><span class=\"number\">%" PRIu64 "</span> "
                "<a href=\"/review/execution/%" PRIu64 "\">",
                call->seq, call->seq, call->seq);
    al_html_add_line(al_page_call_title(call), out);
    al_str_addf(out, "</a> <span class=\"outcome%s\">", is_ok ? "" : " bad");
    al_html_add_line(call->outcome, out);
    al_str_adds(out, "</span></h3>\n");
    add_origin(call->repository, call->agent, call->time, out);
    al_str_adds(out, "</article>\n");
}

void al_page_add_staged(const struct al_overview_staged *staged, struct al_str *out)
{
    al_str_adds(out, "<article>\n<h3><a href=\"/review/staged/");
    al_html_add_line(staged->id, out);
    al_str_adds(out, "\">");
    al_html_add_line(staged->title, out);
    al_str_adds(out, "</a></h3>\n");
    add_origin("", staged->worker, staged->time, out);
    al_str_adds(out, "</article>\n");
}
