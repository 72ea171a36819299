// SPDX-License-Identifier: Apache-2.0
/* cli/review/web/page.h: what comes from elsewhere is text, long texts have pages that lack
 * nothing, and a form offers exactly the answers that there are. */
#include "cli/review/web/page.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/assert.h"
#include "util/json.h"

#define HOSTILE "</article></main><script>x()</script><img src=x onerror='y()'> & \"q\" \x1b[2J"

static const struct al_page_frame frame = { .csrf = "0123abcd" };

/* A question all of whose members are `text`, but for its id. */
static struct al_review_waiting make_question(const char *text, char *always)
{
    static const char *const members[] = { "time", "agent",     "client",  "repository",
                                           "tool", "operation", "summary", "risk",
                                           "why",  "text",      "deadline" };
    struct al_review_waiting question = { .pid = 1, .entry = al_json_object(), .always = always };

    al_json_set(question.entry, "id", al_json_string("3f2a9c10"));
    for (size_t i = 0; i < AL_COUNT(members); i++)
        al_json_set(question.entry, members[i], al_json_string(text));
    return question;
}

static size_t count(const char *text, const char *wanted)
{
    size_t found = 0;

    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at += strlen(wanted))
        found++;
    return found;
}

/* No element, attribute or control of the hostile text is one of the page's. */
static void assert_harmless(const struct al_str *page)
{
    assert_null(strstr(page->buf, "<script>"));
    assert_null(strstr(page->buf, "<img"));
    assert_null(strchr(page->buf, '\x1b'));
    assert_int_equal(strlen(page->buf), page->len);
    assert_int_equal(count(page->buf, "</main>"), 1);
    assert_int_equal(count(page->buf, "<article"), count(page->buf, "</article>"));
}

static void hostile_text_stays_text(void **state)
{
    char hostile[] = HOSTILE;
    struct al_review_waiting question = make_question(hostile, hostile);
    struct al_review_list waiting = { .items = &question, .count = 1 };
    struct al_overview_call call = { .seq = 7,
                                     .time = hostile,
                                     .agent = hostile,
                                     .tool = hostile,
                                     .operation = hostile,
                                     .repository = hostile,
                                     .summary = hostile,
                                     .outcome = hostile,
                                     .decision = hostile,
                                     .decided_by = hostile,
                                     .result = hostile,
                                     .checkpointed = true };
    struct al_overview_staged staged = {
        .id = hostile, .time = hostile, .title = hostile, .worker = hostile, .text = hostile
    };
    struct al_overview overview = { .running = &call,
                                    .nrunning = 1,
                                    .executions = &call,
                                    .nexecutions = 1,
                                    .staged = &staged,
                                    .nstaged = 1 };
    struct al_str printed = { .buf = hostile, .len = strlen(hostile) };
    struct al_page_job job = { .kind = AL_REVIEW_JOB_PREVIEW,
                               .text = &printed,
                               .ended = true,
                               .succeeded = true,
                               .newest = 7 };
    struct al_review_text text = { .text = printed, .complete = true };
    struct al_str page = AL_STR_INIT;

    (void)state;
    al_page_overview(&frame, &waiting, &overview, &page);
    assert_harmless(&page);
    assert_non_null(strstr(page.buf, "&lt;script&gt;"));
    assert_non_null(strstr(page.buf, "&lt;U+001B&gt;[2J"));
    al_str_reset(&page);
    al_page_question(&frame, &question, &text, 0, &page);
    assert_harmless(&page);
    al_str_reset(&page);
    al_page_execution(&frame, &call, &job, 0, &page);
    assert_harmless(&page);
    al_str_reset(&page);
    al_page_staged(&frame, &staged, &job, 0, &page);
    assert_harmless(&page);
    al_str_reset(&page);
    al_page_message(hostile, hostile, true, &page);
    assert_harmless(&page);
    al_str_clear(&page);
    json_decref(question.entry);
}

static void a_form_offers_the_answers_that_there_are(void **state)
{
    char covers[] = "all of git_add";
    struct al_review_waiting question = make_question("x", NULL);
    struct al_str page = AL_STR_INIT;

    (void)state;
    al_page_question(&frame, &question, NULL, 0, &page);
    assert_non_null(strstr(page.buf, "action=\"/review/3f2a9c10\""));
    assert_non_null(strstr(page.buf, "name=\"csrf\" value=\"0123abcd\""));
    assert_non_null(strstr(page.buf, "data-approval=\"3f2a9c10\""));
    assert_non_null(strstr(page.buf, "http-equiv=\"refresh\""));
    assert_null(strstr(page.buf, "value=\"always\""));
    assert_true(strstr(page.buf, "value=\"reject\"") < strstr(page.buf, "value=\"once\""));
    question.always = covers;
    al_str_reset(&page);
    al_page_question(&frame, &question,
                     &(struct al_review_text){ .text = AL_STR_INIT, .complete = true }, 0, &page);
    assert_non_null(strstr(page.buf, "value=\"always\""));
    assert_non_null(strstr(page.buf, "all of git_add"));
    assert_null(strstr(page.buf, "http-equiv=\"refresh\""));
    al_str_clear(&page);
    json_decref(question.entry);
}

/* The pages of a text of `lines` lines: all lines are there once. */
static void assert_pages(size_t lines, size_t pages)
{
    struct al_review_waiting question = make_question("x", NULL);
    struct al_review_text text = { .text = AL_STR_INIT, .complete = true };
    struct al_str page = AL_STR_INIT;
    size_t shown = 0;

    for (size_t i = 0; i < lines; i++)
        al_str_adds(&text.text, "line\n");
    for (size_t i = 0; i < pages; i++) {
        al_str_reset(&page);
        al_page_question(&frame, &question, &text, i, &page);
        shown += count(page.buf, "<span class=\"note\">line\n</span>");
        assert_int_equal(count(page.buf, "Page ") > 0, pages > 1);
    }
    assert_int_equal(shown, lines);
    al_str_reset(&page); /* one that there is not is the last */
    al_page_question(&frame, &question, &text, pages + 5, &page);
    assert_true(count(page.buf, "<span class=\"note\">line\n</span>") > 0);
    al_str_clear(&page);
    al_str_clear(&text.text);
    json_decref(question.entry);
}

static void a_long_text_has_pages(void **state)
{
    (void)state;
    assert_pages(AL_PAGE_LINES_MAX - 1, 1);
    assert_pages(AL_PAGE_LINES_MAX, 1);
    assert_pages(AL_PAGE_LINES_MAX + 1, 2);
    assert_pages(2 * AL_PAGE_LINES_MAX + 1, 3);
}

/* One line of 10 MB, with bytes that are no text. */
static void a_long_line_has_pages(void **state)
{
    const size_t len = 10u << 20;
    struct al_review_waiting question = make_question("x", NULL);
    struct al_review_text text = { .text = AL_STR_INIT, .complete = true };
    struct al_str page = AL_STR_INIT;
    size_t shown = 0, pages = 0;

    (void)state;
    al_str_reserve(&text.text, len + 2);
    memset(text.text.buf, 'a', len);
    text.text.buf[len] = '\xff';
    text.text.buf[len + 1] = '\0';
    text.text.len = len + 2;
    do {
        al_str_reset(&page);
        al_page_question(&frame, &question, &text, pages, &page);
        assert_true(page.len < 2u * AL_PAGE_BYTES_MAX);
        shown += count(page.buf, "aaaa");
        pages++;
    } while (strstr(page.buf, ">next</a>"));
    assert_int_equal(strlen(page.buf), page.len); /* NUL and the wrong byte are shown */
    assert_in_range(shown, len / 4 - pages * 4096, len / 4);
    assert_true(pages >= len / AL_PAGE_BYTES_MAX);
    al_str_clear(&page);
    al_str_clear(&text.text);
    json_decref(question.entry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_text_stays_text),
        cmocka_unit_test(a_form_offers_the_answers_that_there_are),
        cmocka_unit_test(a_long_text_has_pages),
        cmocka_unit_test(a_long_line_has_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
