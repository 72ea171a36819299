// SPDX-License-Identifier: Apache-2.0
/* serve/upstream/private.h: each limit just below it, at it and above. */
#include <fcntl.h>

#include "serve/upstream/private.h"
#include "tests/unit/serve/upstream/lib.h"

static void texts_are_cut_at_a_character(void **state)
{
    static const char *const units[] = { "x", "é", "漢" };

    (void)state;
    for (size_t i = 0; i < COUNT(units); i++) {
        const size_t unit = strlen(units[i]);
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

        while (text.len + unit <= 30)
            al_str_adds(&text, units[i]);
        for (size_t max = text.len - 1; max <= text.len + 1; max++) {
            al_auto(al_freep) char *line = al_upstream_line(text.buf, max);
            al_auto(al_freep) char *lines = al_upstream_text(text.buf, max);

            assert_string_equal(line, lines);
            if (max >= text.len) {
                assert_string_equal(line, text.buf);
                continue;
            }
            assert_true(strlen(line) <= max && strlen(line) > max - 3 - unit);
            assert_string_equal(line + strlen(line) - 3, "...");
            assert_int_equal((strlen(line) - 3) % unit, 0);
        }
    }
}

static void blank_texts_are_none(void **state)
{
    (void)state;
    assert_null(al_upstream_line(NULL, 10));
    assert_null(al_upstream_line("", 10));
    assert_null(al_upstream_line(" \n\t ", 10));
    assert_null(al_upstream_text("\x1b[2J\n", 10));
    al_auto(al_freep) char *line = al_upstream_line("  a\nb ", 10);
    assert_string_equal(line, "a b");
}

/* A list of so many pages; `r` is what reading it gives. */
static int read_pages(const char *start, size_t *ret_count)
{
    struct world world = world_new("legacy", start);
    json_t *tools = NULL;
    int r = start_fake(&world, NULL);

    *ret_count = 0;
    if (r == 0) {
        assert_int_equal(al_upstream_tools(world.server, 0, NULL, &tools, NULL), 0);
        *ret_count = json_array_size(tools);
        json_decref(tools);
    }
    world_clear(&world);
    return r;
}

static void pages_are_counted(void **state)
{
    size_t count;

    (void)state;
    for (unsigned pages = AL_UPSTREAM_PAGES_MAX - 1; pages <= AL_UPSTREAM_PAGES_MAX + 1; pages++) {
        al_auto(al_freep) char *start = al_asprintf("pages=%u", pages);
        const bool fits = pages <= AL_UPSTREAM_PAGES_MAX;

        assert_int_equal(read_pages(start, &count), fits ? 0 : AL_ERR_EXECUTION);
        assert_int_equal(count, fits ? pages : 0);
    }
}

static void tools_are_counted(void **state)
{
    size_t count;

    (void)state;
    for (unsigned tools = AL_UPSTREAM_TOOLS_MAX - 1; tools <= AL_UPSTREAM_TOOLS_MAX + 1; tools++) {
        al_auto(al_freep) char *start = al_asprintf("tools=%u", tools);

        assert_int_equal(read_pages(start, &count), 0);
        assert_int_equal(count, tools < AL_UPSTREAM_TOOLS_MAX ? tools : AL_UPSTREAM_TOOLS_MAX);
    }
}

/* The bytes of all pages together. */
static void bytes_of_a_list_are_counted(void **state)
{
    size_t count;

    (void)state;
    assert_int_equal(read_pages("bytes=-1", &count), 0);
    assert_int_equal(read_pages("bytes=0", &count), 0);
    assert_int_equal(read_pages("bytes=1", &count), AL_ERR_EXECUTION);
}

static void calls_in_flight_are_counted(void **state)
{
    struct world world = world_new("legacy", "well");
    struct al_upstream_wait waits[AL_UPSTREAM_CALLS_MAX];

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    for (unsigned i = 0; i < AL_UPSTREAM_CALLS_MAX; i++)
        assert_int_equal(al_upstream_wait_begin(world.server, &waits[i], NULL), 0);
    for (unsigned others = AL_UPSTREAM_CALLS_MAX - 2; others <= AL_UPSTREAM_CALLS_MAX; others++) {
        for (unsigned i = 0; i < AL_UPSTREAM_CALLS_MAX; i++)
            waits[i].id = i < others ? 1000 + i : 0; /* nothing answers these */
        if (others < AL_UPSTREAM_CALLS_MAX)
            assert_gives(&world, "echo", "{}", "{}");
        else
            assert_fails(&world, "echo", "{}", AL_ERR_EXECUTION,
                         "MCP server 'fake' has too many calls in flight; wait for some to finish");
    }
    for (unsigned i = 0; i < AL_UPSTREAM_CALLS_MAX; i++) {
        waits[i].id = 0;
        al_upstream_wait_end(world.server, &waits[i], "");
    }
    world_clear(&world);
}

/* Questions in the result of a modern server. */
static int answer(void *payload, const char *method, const json_t *params, struct al_cancel *cancel,
                  json_t **ret_result, struct al_error *err)
{
    unsigned *nasked = payload;

    (void)method, (void)params, (void)cancel, (void)err;
    ++*nasked;
    *ret_result = al_json_object();
    return 0;
}

static void questions_in_a_result_are_counted(void **state)
{
    struct world world = world_new("modern", "well");

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    for (unsigned count = AL_UPSTREAM_QUESTIONS_MAX - 1; count <= AL_UPSTREAM_QUESTIONS_MAX + 1;
         count++) {
        al_auto(al_freep) char *arguments = al_asprintf("{\"count\":%u}", count);
        unsigned nasked = 0;
        struct al_upstream_call call = { .timeout_ms = LONG_MS, .ask = answer, .payload = &nasked };
        json_t *result = NULL;
        int r = call_with(&world, &call, "ask_many", arguments, &result, NULL);

        json_decref(result);
        assert_int_equal(r, count <= AL_UPSTREAM_QUESTIONS_MAX ? 0 : AL_ERR_EXECUTION);
        assert_int_equal(nasked, r == 0 ? count : 0);
    }
    world_clear(&world);
}

/* Questions of a legacy server that wait, without a process: lines are fed to the link. */
static void questions_that_wait_are_counted(void **state)
{
    struct world world = world_new("legacy", "well");
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct al_upstream_link link = { .revision = al_revision_find("2025-11-25") };
    struct al_upstream_wait first, second;

    (void)state;
    world_make(&world);
    link.server = world.server;
    assert_int_equal(al_message_writer_init(&world.server->out, fd, NULL), 0);
    world.server->is_open = true;
    assert_int_equal(al_upstream_wait_begin(world.server, &first, NULL), 0);
    assert_int_equal(al_upstream_wait_begin(world.server, &second, NULL), 0);
    first.id = 1;
    second.id = 2;
    first.asks = second.asks = true;
    for (unsigned i = 0; i <= AL_UPSTREAM_QUESTIONS_MAX; i++) {
        al_auto(al_freep) char *line = al_asprintf(
            "{\"jsonrpc\":\"2.0\",\"id\":\"q%u\",\"method\":\"elicitation/create\",\"params\":{}}",
            i);

        assert_int_equal(first.nquestions, i);
        al_upstream_take_line(&link, line, strlen(line));
    }
    assert_int_equal(first.nquestions, AL_UPSTREAM_QUESTIONS_MAX);
    assert_int_equal(second.nquestions, 1); /* the oldest call with room gets it */
    first.id = second.id = 0;
    al_upstream_wait_end(world.server, &first, "");
    al_upstream_wait_end(world.server, &second, "");
    world.server->is_open = false;
    al_message_writer_clear(&world.server->out);
    al_close(fd);
    world_clear(&world);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_cut_at_a_character),
        cmocka_unit_test(blank_texts_are_none),
        cmocka_unit_test(pages_are_counted),
        cmocka_unit_test(tools_are_counted),
        cmocka_unit_test(bytes_of_a_list_are_counted),
        cmocka_unit_test(calls_in_flight_are_counted),
        cmocka_unit_test(questions_in_a_result_are_counted),
        cmocka_unit_test(questions_that_wait_are_counted),
    };

    return cmocka_run_group_tests_name("upstream/limits", tests, set_up_proc, NULL);
}
