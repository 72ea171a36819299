// SPDX-License-Identifier: Apache-2.0
#include "cli/review/web/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/review/lines.h"
#include "cli/review/web/entry.h"
#include "cli/review/web/html.h"
#include "util/json.h"

/* The part of a text that is shown, and how much there is in all. */
struct part {
    struct al_str body;
    size_t first, last;  /* its lines, from 1 */
    size_t lines, files; /* of the whole text */
    size_t pages;
};

/* Where the text is while it is read. */
struct reader {
    size_t page, lines, bytes; /* the page, and what it has so far */
    size_t max_lines;
    bool open; /* the element of a line is */
};

static const char *class_of(enum al_review_line_kind kind)
{
    static const char *const names[] = {
        [AL_LINE_NOTE] = "note",       [AL_LINE_STAT] = "stat",   [AL_LINE_FILE] = "file",
        [AL_LINE_META] = "meta",       [AL_LINE_HUNK] = "hunk",   [AL_LINE_ADDED] = "added",
        [AL_LINE_REMOVED] = "removed", [AL_LINE_CONTEXT] = "same"
    };

    return names[kind];
}

static void end_line(struct reader *reader, struct al_str *body)
{
    if (reader->open)
        al_str_adds(body, "\n</span>");
    reader->open = false;
}

static void add_line(const struct al_review_line *line, struct reader *reader, struct al_str *body)
{
    if (!line->continues || !reader->open) {
        end_line(reader, body);
        al_str_addf(body, "<span class=\"%s\">", class_of(line->kind));
        reader->open = true;
    }
    al_html_add(line->text, line->len, body);
}

/* Go to the next page if the line does not fit on this one. */
static void turn(struct reader *reader, const struct al_review_line *line)
{
    if (reader->lines &&
        (reader->lines >= reader->max_lines || reader->bytes + line->len > AL_PAGE_BYTES_MAX)) {
        reader->page++;
        reader->lines = reader->bytes = 0;
    }
    reader->bytes += line->len;
    reader->lines += !line->continues || !reader->lines;
}

static void read_part(const struct al_page_text *text, size_t page, size_t max_lines,
                      struct part *ret)
{
    struct al_review_cutter cutter = AL_REVIEW_CUTTER_INIT(text->text, text->len);
    struct reader reader = { .max_lines = max_lines };
    struct al_review_line line;

    *ret = (struct part){ .body = AL_STR_INIT };
    while (al_review_cutter_next(&cutter, &line)) {
        turn(&reader, &line);
        ret->lines += !line.continues;
        ret->files += line.kind == AL_LINE_FILE && !line.continues;
        if (reader.page != page)
            continue;
        ret->first = ret->first ? ret->first : ret->lines;
        ret->last = ret->lines;
        add_line(&line, &reader, &ret->body);
    }
    end_line(&reader, &ret->body);
    ret->pages = reader.page + 1;
}

static void add_body(const struct al_page_text *text, const struct part *part, struct al_str *out)
{
    al_str_addf(out, "<pre class=\"text\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">",
                text->label);
    al_str_add(out, part->body.buf, part->body.len);
    al_str_adds(out, "</pre>\n");
}

static void add_link(const struct al_page_text *text, const char *rel, const char *words,
                     size_t page, bool there, struct al_str *out)
{
    if (there)
        al_str_addf(out, "<a%s href=\"%s?page=%zu\">%s</a>\n", rel, text->path, page + 1, words);
    else
        al_str_addf(out, "<span class=\"off\">%s</span>\n", words);
}

static void add_pages(const struct al_page_text *text, const struct part *part, size_t page,
                      struct al_str *out)
{
    if (part->pages == 1)
        return;
    al_str_addf(out,
                "<nav class=\"pages\" aria-label=\"Pages of the text\">\n"
                "<span>Lines %zu to %zu of %zu, %zu file%s in all. Page %zu of %zu:</span>\n",
                part->first, part->last, part->lines, part->files, part->files == 1 ? "" : "s",
                page + 1, part->pages);
    add_link(text, "", "first", 0, page > 0, out);
    add_link(text, " rel=\"prev\"", "previous", page - 1, page > 0, out);
    add_link(text, " rel=\"next\"", "next", page + 1, page + 1 < part->pages, out);
    add_link(text, "", "last", part->pages - 1, page + 1 < part->pages, out);
    al_str_adds(out, "</nav>\n");
}

/* Append the page of a text.  It says which part of the whole it is, and links to the others. */
static void page_add_text(const struct al_page_text *text, struct al_str *out)
{
    size_t page = text->page;
    struct part part;

    read_part(text, page, AL_PAGE_LINES_MAX, &part);
    if (page >= part.pages) {
        page = part.pages - 1;
        al_str_clear(&part.body);
        read_part(text, page, AL_PAGE_LINES_MAX, &part);
    }
    add_pages(text, &part, page, out);
    add_body(text, &part, out);
    add_pages(text, &part, page, out);
    al_str_clear(&part.body);
}

void al_page_add_excerpt(const struct al_page_text *text, size_t max_lines, struct al_str *out)
{
    struct part part;

    read_part(text, 0, max_lines, &part);
    add_body(text, &part, out);
    if (part.pages > 1)
        al_str_addf(out,
                    "<p class=\"more\">These are %zu of %zu lines. "
                    "<a href=\"%s\">Read it in full</a> before you answer.</p>\n",
                    part.last, part.lines, text->path);
    al_str_clear(&part.body);
}

/* The page of one entry: a question, an execution, a staged commit. */

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
        page_add_text(&shown, out);
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
        page_add_text(
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

/* --- /review --- */

static void begin_section(const char *id, const char *heading, struct al_str *out)
{
    al_str_addf(out, "<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">%s</h2>\n", id,
                id, id, heading);
}

static void add_waiting(const struct al_page_frame *frame, const struct al_review_list *waiting,
                        struct al_str *out)
{
    begin_section("waiting", "Waiting for an answer", out);
    if (!waiting->count)
        al_str_adds(out, "<p class=\"none\">Nothing waits for an answer.</p>\n");
    for (size_t i = 0; i < waiting->count; i++)
        al_page_add_question(frame, &waiting->items[i], out);
    al_str_adds(out, "</section>\n");
}

static void add_running(const struct al_overview *overview, struct al_str *out)
{
    size_t count = 0;

    begin_section("running", "Running", out);
    for (size_t i = 0; i < overview->nrunning; i++) {
        if (overview->running[i].waits)
            continue;
        al_page_add_running(&overview->running[i], out);
        count++;
    }
    if (!count)
        al_str_adds(out, "<p class=\"none\">No call runs.</p>\n");
    al_str_adds(out, "</section>\n");
}

static void add_staged(const struct al_overview *overview, struct al_str *out)
{
    if (!overview->nstaged)
        return;
    begin_section("staged", "Staged commits", out);
    for (size_t i = 0; i < overview->nstaged; i++)
        al_page_add_staged(&overview->staged[i], out);
    al_str_adds(out, "</section>\n");
}

static void add_executions(const struct al_overview *overview, struct al_str *out)
{
    const bool has_more = overview->nexecutions > AL_PAGE_EXECUTIONS_MAX || overview->has_older;

    begin_section("executions", "What happened", out);
    if (!overview->nexecutions)
        al_str_adds(out, "<p class=\"none\">Nothing is in the journal yet.</p>\n");
    for (size_t i = 0; i < overview->nexecutions && i < AL_PAGE_EXECUTIONS_MAX; i++)
        al_page_add_execution(&overview->executions[i], out);
    if (has_more)
        al_str_addf(out, "<p class=\"more\">These are the newest. "
                         "<code>airlock log</code> lists all of them.</p>\n");
    al_str_adds(out, "</section>\n");
}

void al_page_overview_main(const struct al_page_frame *frame, const struct al_review_list *waiting,
                           const struct al_overview *overview, struct al_str *out)
{
    al_str_adds(out, "<main>\n<h1 class=\"hidden\">Calls that wait for an answer</h1>\n");
    al_page_add_notices(frame, out);
    add_waiting(frame, waiting, out);
    add_running(overview, out);
    add_staged(overview, out);
    add_executions(overview, out);
    al_str_adds(out, "</main>\n");
}

void al_page_overview(const struct al_page_frame *frame, const struct al_review_list *waiting,
                      const struct al_overview *overview, struct al_str *out)
{
    al_auto(al_freep) char *title =
        waiting->count ? al_asprintf("(%zu) airlock review", waiting->count) : NULL;

    al_page_begin(
        &(struct al_page_head){ .title = title ? title : "airlock review", .is_live = true }, out);
    al_str_adds(out, "<noscript><p class=\"notice\">Without a script this page does not change by "
                     "itself. <a href=\"/review\">Load it again</a> to see what is new.</p>"
                     "</noscript>\n");
    al_page_overview_main(frame, waiting, overview, out);
    al_page_end(out);
}
