// SPDX-License-Identifier: Apache-2.0
/* review/web/page.h: what comes from elsewhere is text, long texts have pages that lack
 * nothing, and a form offers exactly the answers that there are. */
#include "review/web/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tests/lib/assert.h"

#define HOSTILE "</article></main><script>x()</script><img src=x onerror='y()'> & \"q\" \x1b[2J"

static const struct al_page_frame frame = { .csrf = "0123abcd" };

/* An entry all of whose members are `text`. */
static struct al_item make_item(enum al_item_kind kind, const char *key, const char *text)
{
    static const char *const members[] = { "time",    "agent",   "client",   "repository", "tool",
                                           "summary", "risk",    "why",      "operation",  "text",
                                           "outcome", "message", "deadline", "decision" };
    struct al_item item = { .kind = kind, .record = al_json_object() };

    (void)snprintf(item.key, sizeof(item.key), "%s", key);
    for (size_t i = 0; i < AL_COUNT(members); i++)
        al_json_set(item.record, members[i], al_json_string(text));
    return item;
}

static struct al_item make_question(const char *text)
{
    return make_item(AL_ITEM_QUESTION, "3f2a9c10", text);
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
    struct al_item items[AL_ITEM_KINDS] = {
        [AL_ITEM_QUESTION] = make_question(hostile),
        [AL_ITEM_RUNNING] = make_item(AL_ITEM_RUNNING, hostile, hostile),
        [AL_ITEM_STAGED] = make_item(AL_ITEM_STAGED, hostile, hostile),
        [AL_ITEM_EXECUTION] = make_item(AL_ITEM_EXECUTION, "7", hostile),
    };
    struct al_model model = { .fd = -1 };
    const struct al_page_frame frame_of_it = { .csrf = hostile,
                                               .notice = hostile,
                                               .problem = hostile };
    struct al_str printed = { .buf = hostile, .len = strlen(hostile) };
    struct al_page_job job = {
        .kind = AL_REVIEW_JOB_PREVIEW, .text = &printed, .succeeded = true, .newest = 7
    };
    struct al_review_text text = { .text = printed, .complete = true };
    struct al_str page = AL_STR_INIT;

    (void)state;
    items[AL_ITEM_QUESTION].always = hostile;
    for (int kind = AL_ITEM_QUESTION; kind < AL_ITEM_KINDS; kind++)
        model.parts[kind] = (struct al_item_list){ &items[kind], 1 };
    al_page_overview(&frame_of_it, &model, false, &page);
    assert_harmless(&page);
    assert_non_null(strstr(page.buf, "&lt;script&gt;"));
    assert_non_null(strstr(page.buf, "&lt;U+001B&gt;[2J"));
    al_str_reset(&page);
    al_page_question(&frame_of_it, &items[AL_ITEM_QUESTION], &text, 0, &page);
    assert_harmless(&page);
    al_str_reset(&page);
    al_page_entry(&frame_of_it, &items[AL_ITEM_EXECUTION], &job, 0, &page);
    assert_harmless(&page);
    al_str_reset(&page);
    al_page_entry(&frame_of_it, &items[AL_ITEM_STAGED], &job, 0, &page);
    assert_harmless(&page);
    al_str_reset(&page);
    al_page_message(hostile, hostile, true, &page);
    assert_harmless(&page);
    al_str_clear(&page);
    for (int kind = AL_ITEM_QUESTION; kind < AL_ITEM_KINDS; kind++)
        json_decref(items[kind].record);
}

static void a_form_offers_the_answers_that_there_are(void **state)
{
    char covers[] = "all of git_add";
    struct al_item question = make_question("x");
    struct al_str page = AL_STR_INIT;

    (void)state;
    al_page_question(&frame, &question, NULL, 0, &page);
    assert_non_null(strstr(page.buf, "action=\"/review/3f2a9c10\""));
    assert_non_null(strstr(page.buf, "name=\"csrf\" value=\"0123abcd\""));
    assert_non_null(strstr(page.buf, "data-approval=\"3f2a9c10\""));
    assert_null(strstr(page.buf, "http-equiv")); /* not under the reader's hand */
    assert_non_null(strstr(page.buf, "on its way"));
    assert_null(strstr(page.buf, "value=\"always\""));
    assert_true(strstr(page.buf, "value=\"reject\"") < strstr(page.buf, "value=\"once\""));
    question.always = covers;
    al_str_reset(&page);
    al_page_question(&frame, &question,
                     &(struct al_review_text){ .text = AL_STR_INIT, .complete = true }, 0, &page);
    assert_non_null(strstr(page.buf, "value=\"always\""));
    assert_non_null(strstr(page.buf, "all of git_add"));
    assert_null(strstr(page.buf, "on its way"));
    al_str_clear(&page);
    json_decref(question.record);
}

/* The pages of a text of `lines` lines: all lines are there once. */
static void assert_pages(size_t lines, size_t pages)
{
    struct al_item question = make_question("x");
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
    json_decref(question.record);
}

static void a_long_text_has_pages(void **state)
{
    (void)state;
    assert_pages(AL_PAGE_LINES_MAX - 1, 1);
    assert_pages(AL_PAGE_LINES_MAX, 1);
    assert_pages(AL_PAGE_LINES_MAX + 1, 2);
    assert_pages(2 * AL_PAGE_LINES_MAX + 1, 3);
}

/* Count "aaaa", in one pass: strstr() under the address sanitizer measures what is left each time.
 */
static size_t count_fours(const char *text)
{
    size_t found = 0, run = 0;

    for (; *text; text++) {
        run = *text == 'a' ? run + 1 : 0;
        found += run && run % 4 == 0;
    }
    return found;
}

/* One line of 10 MB, with bytes that are no text. */
static void a_long_line_has_pages(void **state)
{
    const size_t len = 10u << 20;
    struct al_item question = make_question("x");
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
        assert_true(page.len < AL_PAGE_LINES_MAX * 1100u);
        shown += count_fours(page.buf);
        pages++;
    } while (strstr(page.buf, ">next</a>"));
    assert_int_equal(strlen(page.buf), page.len); /* NUL and the wrong byte are shown */
    assert_int_equal(shown, len / 4);
    assert_int_equal(pages, len / 1024 / AL_PAGE_LINES_MAX + 1);
    al_str_clear(&page);
    al_str_clear(&text.text);
    json_decref(question.record);
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
