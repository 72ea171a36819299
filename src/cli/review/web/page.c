// SPDX-License-Identifier: Apache-2.0
#include "cli/review/web/page.h"

#include <stdlib.h>
#include <string.h>

#include "cli/review/web/entry.h"
#include "cli/review/web/frame.h"
#include "cli/review/web/html.h"

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
