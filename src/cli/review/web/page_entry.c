// SPDX-License-Identifier: Apache-2.0
/* The page of one entry: a question, an execution, a staged commit. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/review/web/entry.h"
#include "cli/review/web/frame.h"
#include "cli/review/web/html.h"
#include "cli/review/web/page.h"
#include "cli/review/web/page_text.h"
#include "util/json.h"

/* How soon a page whose text is on its way loads itself again. */
#define REFRESH_S 2

static void begin(const struct al_page_frame *frame, const char *title, bool refreshes,
                  struct al_str *out)
{
    al_page_begin(&(struct al_page_head){ .title = title,
                                          .refresh_s = refreshes ? REFRESH_S : 0,
                                          .has_way_back = true },
                  out);
    al_str_adds(out, "<main>\n");
    al_page_add_notices(frame, out);
}

static void end(struct al_str *out)
{
    al_str_adds(out, "</main>\n");
    al_page_end(out);
}

static void add_heading(const char *title, struct al_str *out)
{
    al_str_adds(out, "<h1>");
    al_html_add_line(title, out);
    al_str_adds(out, "</h1>\n");
}

/* A sentence of the program's own. */
static void add_sentence(const char *sentence, struct al_str *out)
{
    al_str_addf(out, "<p class=\"notice\" role=\"status\">%s</p>\n", sentence);
}

/* --- A question --- */

/* The text and what is to be said about it. */
static void add_question_text(const struct al_review_waiting *question,
                              const struct al_review_text *text, const char *path, size_t page,
                              struct al_str *out)
{
    const char *excerpt = al_json_get_string(question->entry, "text");
    const bool is_whole = text && text->complete && !text->problem;
    struct al_page_text shown = { .path = path, .page = page, .label = "What it would do" };

    if (text && text->problem) {
        al_str_adds(out, "<p class=\"notice bad\" role=\"alert\">Only an excerpt is shown: ");
        al_html_add_line(text->problem, out);
        al_str_adds(out, "</p>\n");
    } else if (!is_whole) {
        add_sentence("This is an excerpt. The whole text is on its way.", out);
    }
    shown.text = is_whole ? text->text.buf : excerpt ? excerpt : "";
    shown.len = is_whole ? text->text.len : strlen(shown.text);
    if (shown.len)
        al_page_add_text(&shown, out);
}

void al_page_question(const struct al_page_frame *frame, const struct al_review_waiting *question,
                      const struct al_review_text *text, size_t page, struct al_str *out)
{
    al_auto(al_freep) char *path = al_page_question_path(question);
    const char *summary = al_json_get_string(question->entry, "summary");
    const bool is_coming = !text || (!text->complete && !text->problem);

    begin(frame, summary ? summary : "", is_coming, out);
    al_str_addf(out, "<article class=\"question\" data-approval=\"%s\">\n",
                path + strlen("/review/"));
    add_heading(summary, out);
    al_page_add_question_facts(question, out);
    add_question_text(question, text, path, page, out);
    al_str_adds(out, "<h2>");
    al_html_add_line(summary, out);
    al_str_adds(out, "</h2>\n");
    al_page_add_answers(frame, question, out);
    al_str_adds(out, "</article>\n");
    end(out);
}

/* --- An execution --- */

static void add_roll_back_form(const struct al_page_frame *frame, const struct al_page_job *job,
                               uint64_t seq, struct al_str *out)
{
    al_str_addf(out,
                "<form method=\"post\" action=\"/review/execution/%" PRIu64 "/rollback\">\n"
                "<input type=\"hidden\" name=\"newest\" value=\"%" PRIu64 "\">\n",
                seq, job->newest);
    al_page_add_csrf(frame, out);
    al_str_adds(out, "<div class=\"yes\"><button name=\"decision\" value=\"rollback\">"
                     "Roll back</button></div>\n</form>\n");
}

/* What the job is about, and what can be done after it. */
static const char *heading_of(const struct al_page_job *job)
{
    switch (job->kind) {
    case AL_REVIEW_JOB_PREVIEW:
        return job->succeeded ? "What a rollback would change" : "It cannot be rolled back";
    case AL_REVIEW_JOB_ROLL_BACK:
        return job->succeeded ? "It was rolled back" : "It was not rolled back";
    case AL_REVIEW_JOB_CHANGES:
    case AL_REVIEW_JOB_STAGED:
        break;
    }
    return job->kind == AL_REVIEW_JOB_STAGED ? "What it would change" : "What it changed";
}

static void add_job(const struct al_page_job *job, const char *path, size_t page,
                    struct al_str *out)
{
    al_str_addf(out, "<h2>%s</h2>\n", heading_of(job));
    if (!job->ended)
        add_sentence("It is being looked up.", out);
    else if (!job->text->len)
        add_sentence("Nothing.", out);
    else
        al_page_add_text(
            &(struct al_page_text){
                .text = job->text->buf,
                .len = job->text->len,
                .path = path,
                .page = page,
                .label = heading_of(job),
            },
            out);
}

static void add_result(const struct al_overview_call *call, struct al_str *out)
{
    if (!*call->result)
        return;
    al_str_adds(out, "<details><summary>What the agent got as its answer</summary>\n"
                     "<pre class=\"text\">");
    al_html_add(call->result, strlen(call->result), out);
    al_str_adds(out, "</pre></details>\n");
}

void al_page_execution(const struct al_page_frame *frame, const struct al_overview_call *call,
                       const struct al_page_job *job, size_t page, struct al_str *out)
{
    const bool is_changes = job && job->kind == AL_REVIEW_JOB_CHANGES;
    al_auto(al_freep) char *path =
        al_asprintf("/review/execution/%" PRIu64 "%s", call->seq, is_changes ? "" : "/rollback");

    begin(frame, al_page_call_title(call), false, out);
    al_str_addf(out, "<article data-execution=\"%" PRIu64 "\">\n", call->seq);
    add_heading(al_page_call_title(call), out);
    al_page_add_call_facts(call, out);
    if (!job)
        add_sentence("It has no checkpoint, so there is nothing to roll back.", out);
    if (is_changes)
        al_str_addf(out,
                    "<p><a class=\"action\" href=\"/review/execution/%" PRIu64 "/rollback\">"
                    "Show what a rollback would change</a></p>\n",
                    call->seq);
    if (job)
        add_job(job, path, page, out);
    if (job && job->kind == AL_REVIEW_JOB_PREVIEW && job->ended && job->succeeded)
        add_roll_back_form(frame, job, call->seq, out);
    add_result(call, out);
    al_str_adds(out, "</article>\n");
    end(out);
}

/* --- A staged commit --- */

void al_page_staged(const struct al_page_frame *frame, const struct al_overview_staged *staged,
                    const struct al_page_job *job, size_t page, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str path = AL_STR_INIT;

    al_str_adds(&path, "/review/staged/");
    al_html_add_line(staged->id, &path);
    begin(frame, staged->title, false, out);
    al_str_adds(out, "<article>\n");
    add_heading(staged->title, out);
    al_str_adds(out, "<dl class=\"facts\">\n");
    al_html_add_fact("staged commit", staged->id, out);
    al_html_add_fact("worker", staged->worker, out);
    al_html_add_time_fact("staged", staged->time, out);
    al_str_adds(out, "</dl>\n<pre class=\"text\">");
    al_html_add(staged->text, strlen(staged->text), out);
    al_str_adds(out, "</pre>\n");
    if (job)
        add_job(job, path.buf, page, out);
    al_str_adds(out, "</article>\n");
    end(out);
}
