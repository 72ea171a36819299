// SPDX-License-Identifier: Apache-2.0
#include "review/web/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "guard/text.h"
#include "review/lines.h"

/* --- Text in HTML --- */

/* Append a text of one or several lines, for an element or an attribute in double quotes. */
static void add_text(const char *text, size_t len, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;

    al_text_sanitize_shown(text, len, &safe);
    al_review_add_escaped(safe.buf, safe.len, out);
}

/* Append a text as one line between others, which are the program's own. */
static void add_line(const char *before, const char *text, const char *after, struct al_str *out)
{
    al_auto(al_freep) char *safe = al_text_join_shown_lines(text);

    al_str_adds(out, before);
    al_review_add_escaped(safe, strlen(safe), out);
    al_str_adds(out, after);
}

/* Append a time as a user reads it; the script keeps it true. */
static void add_time(const char *iso, const char *when, struct al_str *out)
{
    add_line("<time datetime=\"", iso, "\">", out);
    add_line("", when, "</time>", out);
}

/* --- The frame --- */

/* Append everything up to the contents of `body`. */
static void begin_page(const char *title, bool is_live, bool has_way_back, struct al_str *out)
{
    add_line("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
             title, "</title>\n<link rel=\"stylesheet\" href=\"/review/style.css\">\n", out);
    if (is_live)
        al_str_adds(out, "<script src=\"/review/script.js\" defer></script>\n");
    al_str_adds(out, "</head>\n<body>\n<header class=\"top\"><strong>airlock review</strong>");
    if (has_way_back)
        al_str_adds(out, " <a href=\"/review\">All that waits</a>");
    if (is_live)
        al_str_adds(out, " <span id=\"live\" role=\"status\"></span>");
    al_str_adds(out, "</header>\n");
}

static void add_notice(const char *before, const char *text, bool is_bad, struct al_str *out)
{
    al_str_addf(out, "<p class=\"notice%s\" role=\"%s\">%s", is_bad ? " bad" : "",
                is_bad ? "alert" : "status", before);
    add_line("", text, "</p>\n", out);
}

static void begin_main(const struct al_page_frame *frame, struct al_str *out)
{
    al_str_adds(out, "<main>\n");
    if (frame->notice)
        add_notice("", frame->notice, false, out);
    if (frame->problem)
        add_notice("", frame->problem, true, out);
}

/* Begin the page of one entry. */
static void begin(const struct al_page_frame *frame, const struct al_item *item, const char *data,
                  struct al_str *out)
{
    begin_page(al_item_title(item), false, true, out);
    begin_main(frame, out);
    al_str_addf(out, "<article class=\"alone\"%s", data);
    if (*data)
        add_line("=\"", item->key, "\"", out);
    add_line(">\n<h1>", al_item_title(item), "</h1>\n", out);
}

static void end(struct al_str *out)
{
    al_str_adds(out, "</article>\n</main>\n</body>\n</html>\n");
}

void al_page_message(const char *heading, const char *sentence, bool with_link, struct al_str *out)
{
    begin_page(heading, false, with_link, out);
    add_line("<main class=\"message\">\n<h1>", heading, "</h1>\n<p>", out);
    add_line("", sentence, "</p>\n</main>\n</body>\n</html>\n", out);
}

/* --- A text and its pages --- */

/* A text, and where it is shown.  Borrowed. */
struct shown {
    const char *text;
    size_t len;
    const char *path;  /* of the page, safe in HTML: "/review/3f2a9c10" */
    const char *label; /* what it is, for a screen reader */
};

static void add_lines(const struct al_review_line *lines, size_t count, const char *label,
                      struct al_str *out)
{
    static const char *const classes[] = {
        [AL_LINE_NOTE] = "note", [AL_LINE_FILE] = "file",   [AL_LINE_META] = "meta",
        [AL_LINE_HUNK] = "hunk", [AL_LINE_ADDED] = "added", [AL_LINE_REMOVED] = "removed",
    };

    al_str_addf(out, "<pre class=\"text\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">",
                label);
    for (size_t i = 0; i < count; i++) {
        if (!i || !lines[i].continues)
            al_str_addf(out, "%s<span class=\"%s\">", i ? "\n</span>" : "", classes[lines[i].kind]);
        add_text(lines[i].text, lines[i].len, out);
    }
    al_str_adds(out, count ? "\n</span></pre>\n" : "</pre>\n");
}

static void add_link(const struct shown *shown, const char *words, size_t page, bool there,
                     struct al_str *out)
{
    if (there)
        al_str_addf(out, "<a href=\"%s?page=%zu\">%s</a>\n", shown->path, page + 1, words);
    else
        al_str_addf(out, "<span class=\"off\">%s</span>\n", words);
}

static void add_pages(const struct shown *shown, size_t page, size_t pages, size_t nlines,
                      struct al_str *out)
{
    const size_t first = page * AL_PAGE_LINES_MAX, last = first + AL_PAGE_LINES_MAX;

    if (pages == 1)
        return;
    al_str_addf(out,
                "<nav class=\"pages\" aria-label=\"Pages of the text\">\n"
                "<span>Lines %zu to %zu of %zu. Page %zu of %zu:</span>\n",
                first + 1, last < nlines ? last : nlines, nlines, page + 1, pages);
    add_link(shown, "first", 0, page > 0, out);
    add_link(shown, "previous", page - 1, page > 0, out);
    add_link(shown, "next", page + 1, page + 1 < pages, out);
    add_link(shown, "last", pages - 1, page + 1 < pages, out);
    al_str_adds(out, "</nav>\n");
}

/* Append the page of a text; one that there is not is the last.  It says which part of the whole it
 * is, and links to the others. */
static void add_page(const struct shown *shown, size_t page, struct al_str *out)
{
    al_auto(al_freep) struct al_review_line *lines = NULL;
    const size_t count = al_review_cut(shown->text, shown->len, &lines);
    const size_t pages = count ? (count - 1) / AL_PAGE_LINES_MAX + 1 : 1;
    const size_t at = page < pages ? page : pages - 1, first = at * AL_PAGE_LINES_MAX;
    const size_t left = count - first;

    if (!count)
        return;
    add_pages(shown, at, pages, count, out);
    add_lines(lines + first, left < AL_PAGE_LINES_MAX ? left : AL_PAGE_LINES_MAX, shown->label,
              out);
    add_pages(shown, at, pages, count, out);
}

/* Append the beginning of a text, and a link to the rest. */
static void add_excerpt(const struct shown *shown, struct al_str *out)
{
    al_auto(al_freep) struct al_review_line *lines = NULL;
    const size_t count = al_review_cut(shown->text, shown->len, &lines);

    if (count)
        add_lines(lines, count < AL_PAGE_EXCERPT_LINES ? count : AL_PAGE_EXCERPT_LINES,
                  shown->label, out);
    if (count > AL_PAGE_EXCERPT_LINES)
        al_str_addf(out,
                    "<p class=\"more\">These are %d of %zu lines. "
                    "<a href=\"%s\">Read it in full</a> before you answer.</p>\n",
                    AL_PAGE_EXCERPT_LINES, count, shown->path);
}

/* --- A question --- */

/* The path of an entry's page, safe in HTML.  Caller frees. */
static char *path_of(const struct al_item *item)
{
    static const char *const places[AL_ITEM_KINDS] = {
        [AL_ITEM_QUESTION] = "/review/",
        [AL_ITEM_STAGED] = "/review/staged/",
        [AL_ITEM_EXECUTION] = "/review/execution/",
    };
    struct al_str path = AL_STR_INIT;

    add_line(places[item->kind], item->key, "", &path);
    return al_str_detach(&path);
}

static void add_fact(void *payload, const char *label, const char *value, const char *iso)
{
    al_str_addf(payload, "<div><dt>%s</dt><dd>", label);
    if (iso)
        add_time(iso, value, payload);
    else
        add_line("", value, "", payload);
    al_str_adds(payload, "</dd></div>\n");
}

static void add_facts(const struct al_item *item, struct al_str *out)
{
    al_str_adds(out, "<dl class=\"facts\">\n");
    al_item_facts(item, add_fact, out);
    al_str_adds(out, "</dl>\n");
}

/* The facts that a question is decided by, beside its text. */
static void add_risk(const struct al_item *question, struct al_str *out)
{
    const char *risk = al_item_get(question, "risk");

    al_str_addf(out, "<p class=\"risk%s\">", !strcmp(risk, "high") ? " high" : "");
    add_line("risk ", risk, "; ", out);
    add_line("", al_item_get(question, "why"), "</p>\n", out);
}

static void add_csrf(const struct al_page_frame *frame, struct al_str *out)
{
    add_line("<input type=\"hidden\" name=\"csrf\" value=\"", frame->csrf, "\">\n", out);
}

static void add_answers(const struct al_page_frame *frame, const struct al_item *question,
                        const char *path, struct al_str *out)
{
    al_str_addf(out,
                "<form method=\"post\" action=\"%s\" autocomplete=\"off\">\n"
                "<div class=\"no\"><label>Reason, if you reject it\n"
                "<input name=\"reason\"></label>\n",
                path);
    add_csrf(frame, out);
    al_str_adds(out, "<button name=\"decision\" value=\"reject\">Reject</button>\n"
                     "</div>\n<div class=\"yes\">\n"
                     "<button name=\"decision\" value=\"once\">Approve once</button>\n");
    if (question->always)
        add_line("<button class=\"less\" name=\"decision\" value=\"always\">Approve always: ",
                 question->always, "</button>\n", out);
    al_str_adds(out, "</div>\n</form>\n");
}

static void add_question(const struct al_page_frame *frame, const struct al_item *question,
                         struct al_str *out)
{
    al_auto(al_freep) char *path = path_of(question);
    const char *text = al_item_get(question, "text"), *id = path + strlen("/review/");

    al_str_addf(out,
                "<article class=\"question\" data-approval=\"%s\" aria-labelledby=\"q-%s\">\n"
                "<h3 id=\"q-%s\"><a href=\"%s\">",
                id, id, id, path);
    add_line("", al_item_title(question), "</a></h3>\n", out);
    add_risk(question, out);
    add_excerpt(&(struct shown){ text, strlen(text), path, "What it would do" }, out);
    add_answers(frame, question, path, out);
    add_facts(question, out);
    al_str_adds(out, "</article>\n");
}

void al_page_question(const struct al_page_frame *frame, const struct al_item *question,
                      const struct al_review_text *text, size_t page, struct al_str *out)
{
    al_auto(al_freep) char *path = path_of(question);
    const bool is_whole = text && text->complete;
    const char *excerpt = al_item_get(question, "text");

    begin(frame, question, " data-approval", out);
    add_risk(question, out);
    if (text && text->problem)
        add_notice("Only an excerpt is shown: ", text->problem, true, out);
    else if (!is_whole)
        al_str_addf(out,
                    "<p class=\"notice\" role=\"status\">This is an excerpt. The whole text is on "
                    "its way: <a href=\"%s\">load it</a>.</p>\n",
                    path);
    add_page(&(struct shown){ is_whole ? text->text.buf : excerpt,
                              is_whole ? text->text.len : strlen(excerpt), path,
                              "What it would do" },
             page, out);
    add_answers(frame, question, path, out);
    add_facts(question, out);
    end(out);
}

/* --- An execution, a staged commit --- */

static void add_roll_back_form(const struct al_page_frame *frame, const struct al_page_job *job,
                               const char *path, struct al_str *out)
{
    al_str_addf(out,
                "<form method=\"post\" action=\"%s/rollback\">\n"
                "<input type=\"hidden\" name=\"newest\" value=\"%" PRIu64 "\">\n",
                path, job->newest);
    add_csrf(frame, out);
    al_str_adds(out, "<div class=\"yes\"><button name=\"decision\" value=\"rollback\">"
                     "Roll back</button></div>\n</form>\n");
}

/* The subject of the job, and its outcome. */
static const char *heading_of(const struct al_page_job *job)
{
    static const char *const headings[][2] = {
        [AL_REVIEW_JOB_CHANGES] = { "What it changed", "What it changed" },
        [AL_REVIEW_JOB_PREVIEW] = { "It cannot be rolled back", "What a rollback would change" },
        [AL_REVIEW_JOB_ROLL_BACK] = { "It was not rolled back", "It was rolled back" },
        [AL_REVIEW_JOB_STAGED] = { "What it would change", "What it would change" },
    };

    return headings[job->kind][job->succeeded];
}

static void add_job(const struct al_page_frame *frame, const struct al_page_job *job,
                    const char *path, size_t page, struct al_str *out)
{
    const bool looks = job->kind == AL_REVIEW_JOB_CHANGES || job->kind == AL_REVIEW_JOB_STAGED;
    al_auto(al_freep) char *own_path = al_asprintf("%s%s", path, looks ? "" : "/rollback");

    if (job->kind == AL_REVIEW_JOB_CHANGES)
        al_str_addf(out,
                    "<p><a class=\"action\" href=\"%s/rollback\">Show what a rollback would "
                    "change</a></p>\n",
                    path);
    al_str_addf(out, "<h2>%s</h2>\n", heading_of(job));
    if (!job->text->len)
        add_notice("Nothing.", "", false, out);
    add_page(&(struct shown){ job->text->buf, job->text->len, own_path, heading_of(job) }, page,
             out);
    if (job->kind == AL_REVIEW_JOB_PREVIEW && job->succeeded)
        add_roll_back_form(frame, job, path, out);
}

void al_page_entry(const struct al_page_frame *frame, const struct al_item *item,
                   const struct al_page_job *job, size_t page, struct al_str *out)
{
    const bool is_staged = item->kind == AL_ITEM_STAGED;
    al_auto(al_freep) char *path = path_of(item);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    begin(frame, item, is_staged ? "" : " data-execution", out);
    if (!job)
        add_notice("It has no checkpoint, so there is nothing to roll back.", "", false, out);
    al_item_add_text(item, &text);
    if (text.len) {
        al_str_addf(out, "<details%s><summary>%s</summary>\n<pre class=\"text\">",
                    is_staged ? " open" : "",
                    is_staged ? "Message and files" : "What the agent got as its answer");
        add_text(text.buf, text.len, out);
        al_str_adds(out, "</pre></details>\n");
    }
    if (job)
        add_job(frame, job, path, page, out);
    add_facts(item, out);
    end(out);
}

/* --- /review --- */

static void add_entry(const struct al_item *item, struct al_str *out)
{
    const char *outcome = al_item_get(item, "outcome");
    const char *agent = al_item_get(item, "agent"), *where = al_item_get(item, "repository");
    al_auto(al_freep) char *when = al_review_when(al_item_get(item, "time"));

    if (item->kind == AL_ITEM_RUNNING) {
        add_line("<article>\n<h3>", al_item_title(item), "</h3>\n", out);
    } else {
        al_auto(al_freep) char *path = path_of(item);
        const bool is_done = item->kind == AL_ITEM_EXECUTION;

        al_str_addf(out, "<article%s%s%s>\n<h3>", is_done ? " data-execution=\"" : "",
                    is_done ? item->key : "", is_done ? "\"" : "");
        if (is_done)
            al_str_addf(out, "<span class=\"number\">%s</span> ", item->key);
        al_str_addf(out, "<a href=\"%s\">", path);
        add_line("", al_item_title(item), "</a>", out);
        if (is_done) {
            al_str_addf(out, " <span class=\"outcome%s\">",
                        !strcmp(outcome, "ok") || !strcmp(outcome, "dry_run") ? "" : " bad");
            add_line("", outcome, "</span>", out);
        }
        al_str_adds(out, "</h3>\n");
    }
    al_str_adds(out, "<p class=\"origin\">");
    add_time(al_item_get(item, "time"), when, out);
    add_line(*agent ? " by " : "", agent, "", out);
    add_line(*where ? " in " : "", where, "</p>\n</article>\n", out);
}

static void add_part(const struct al_page_frame *frame, const struct al_model *model,
                     enum al_item_kind kind, struct al_str *out)
{
    static const struct {
        const char *id, *heading, *none;
    } parts[AL_ITEM_KINDS] = {
        [AL_ITEM_QUESTION] = { "waiting", "Waiting for an answer", "Nothing waits for an answer." },
        [AL_ITEM_RUNNING] = { "running", "Running", "No call runs." },
        [AL_ITEM_STAGED] = { "staged", "Staged commits", NULL },
        [AL_ITEM_EXECUTION] = { "executions", "What happened", "There is nothing." },
    };
    const size_t count = model->parts[kind].count;
    size_t shown = 0;

    if (!count && !parts[kind].none)
        return;
    al_str_addf(out, "<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">%s</h2>\n",
                parts[kind].id, parts[kind].id, parts[kind].id, parts[kind].heading);
    for (size_t i = 0; i < count; i++) {
        const struct al_item *item = al_model_item(model, kind, i);

        if (kind == AL_ITEM_QUESTION)
            add_question(frame, item, out);
        else if (!al_item_matches(item, frame->filter ? frame->filter : "", frame->only_changes))
            continue;
        else if (shown < AL_PAGE_ENTRIES_MAX)
            add_entry(item, out);
        shown++;
    }
    if (!shown && parts[kind].none)
        al_str_addf(out, "<p class=\"none\">%s</p>\n", parts[kind].none);
    if (kind == AL_ITEM_EXECUTION && (shown > AL_PAGE_ENTRIES_MAX || model->has_older))
        al_str_adds(out, "<p class=\"more\">These are the newest. "
                         "<code>airlock log</code> lists all of them.</p>\n");
    al_str_adds(out, "</section>\n");
}

static void add_filter(const struct al_page_frame *frame, struct al_str *out)
{
    add_line("<form method=\"get\" action=\"/review\" class=\"filter\" role=\"search\">\n"
             "<label>Show what has <input name=\"q\" value=\"",
             frame->filter ? frame->filter : "", "\"></label>\n", out);
    al_str_addf(out,
                "<label><input type=\"checkbox\" name=\"changes\" value=\"1\"%s> and changed "
                "something</label>\n<button>Filter</button>\n</form>\n",
                frame->only_changes ? " checked" : "");
}

void al_page_overview(const struct al_page_frame *frame, const struct al_model *model,
                      bool only_main, struct al_str *out)
{
    const size_t count = model->parts[AL_ITEM_QUESTION].count;
    al_auto(al_freep) char *title = count ? al_asprintf("(%zu) airlock review", count) : NULL;

    if (!only_main) {
        begin_page(title ? title : "airlock review", true, false, out);
        al_str_adds(out,
                    "<noscript><p class=\"notice\">Without a script this page does not change by "
                    "itself. <a href=\"/review\">Load it again</a> to see what is new.</p>"
                    "</noscript>\n");
    }
    begin_main(frame, out);
    al_str_adds(out, "<h1 class=\"hidden\">Calls that wait for an answer</h1>\n");
    add_part(frame, model, AL_ITEM_QUESTION, out);
    add_filter(frame, out);
    for (enum al_item_kind kind = AL_ITEM_RUNNING; kind < AL_ITEM_KINDS; kind++)
        add_part(frame, model, kind, out);
    al_str_adds(out, only_main ? "</main>\n" : "</main>\n</body>\n</html>\n");
}
