// SPDX-License-Identifier: Apache-2.0
/* serve/mcp/calls.h: when a call begins.  So many read-only calls run at once, and calls that
 * change something one after the other. */
#include "base/fs.h"
#include "base/jsonrpc.h"
#include "serve/mcp/calls.h"
#include "tests/unit/serve/mcp/server_lib.h"

#define CANCEL                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d}}"

/* Send `count` calls at once, with ids from `first` on. */
static void send_looks(struct client *client, int first, int count)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (int id = first; id < first + count; id++)
        al_str_addf(&text, CALL "\n", id, "look");
    assert_int_equal(al_write_all(client->to_server, text.buf, text.len), 0);
}

/* Let one call end, which must be this one. */
static void expect_through(struct client *client, int id)
{
    al_auto(al_freep) char *text = al_asprintf("%d", id);

    fake_open_gate(1);
    client_expect_text(client, text, "through");
}

#define READS AL_READS_MAX

/* The rest begin one by one. */
static void so_many_read_at_once(void **state)
{
    struct client *client = client_start(fake_session(), false);

    (void)state;
    send_looks(client, 1, READS + 5);
    client_expect_alive(client); /* all calls were read */
    for (unsigned ended = 0; ended < READS + 5; ended++) {
        const unsigned begun = ended < 5 ? READS + ended : READS + 5;

        fake_wait_at_gate(begun);
        client_expect_alive(client);
        assert_int_equal(fake_calls(), begun);
        fake_open_gate(1);
        al_auto(al_json_decrefp) json_t *message = client_read(client);

        assert_non_null(json_object_get(message, "result"));
    }
    client_finish(client);
}

static void what_does_more_than_read_does_not_wait(void **state)
{
    struct client *client = client_start(fake_session(), false);

    (void)state;
    send_looks(client, 1, READS + 2);
    for (int id = 101; id < 109; id++)
        client_send(client, CALL, id, "gate");
    fake_wait_at_gate(READS + 8);
    assert_int_equal(fake_calls(), READS + 8);
    client_abandon(client);
}

static void changes_begin_in_their_order(void **state)
{
    struct client *client = client_start(fake_session(), false);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    (void)state;
    for (int id = 1; id <= 20; id++)
        al_str_addf(&text, CALL "\n" CALL "\n", id, "change", 100 + id, "echo");
    assert_int_equal(al_write_all(client->to_server, text.buf, text.len), 0);
    for (int i = 1; i <= 20; i++) /* what reads goes on */
        json_decref(client_read(client));
    for (int id = 1; id <= 20; id++) {
        if (id == 11)
            continue;
        fake_wait_at_gate((unsigned)id);
        client_expect_alive(client);
        assert_int_equal(fake_calls(), 20 + (unsigned)id);
        if (id == 10)
            client_send(client, CANCEL, 11); /* it goes at once */
        if (id == 10)
            fake_wait_cancelled(1);
        expect_through(client, id);
    }
    client_finish(client);
}

/* Read the elicitation.  Returns its id as JSON. */
static char *read_question(struct client *client)
{
    al_auto(al_json_decrefp) json_t *message = client_read(client);

    assert_string_equal(al_json_get_string(message, "method"), "elicitation/create");
    return al_asprintf("\"%s\"", al_json_get_string(message, "id"));
}

static void answer(struct client *client, const char *id)
{
    client_send(client,
                "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"action\":\"accept\","
                "\"content\":{\"decision\":\"once\"}}}",
                id);
}

static void others_go_on_while_the_user_is_asked(void **state)
{
    struct client *client = client_start(fake_session(), false);

    (void)state;
    client_initialize(client, "2025-11-25", "{\"elicitation\":{}}");
    send_looks(client, 1, READS - 1);
    client_send(client, CALL, 100, "ask");
    send_looks(client, 101, 2);
    al_auto(al_freep) char *question = read_question(client);

    fake_wait_at_gate(READS); /* the call behind it */
    client_expect_alive(client);
    assert_int_equal(fake_calls(), READS + 1);
    answer(client, question);
    client_expect_text(client, "100", "once");
    fake_open_gate(1);
    json_decref(client_read(client));
    fake_wait_at_gate(READS + 1);
    client_abandon(client);
}

static void one_that_is_cancelled_waits_no_longer(void **state)
{
    struct client *client = client_start(fake_session(), false);

    (void)state;
    send_looks(client, 1, READS + 3);
    client_expect_alive(client);
    fake_wait_at_gate(READS);
    client_send(client, CANCEL, READS + 2);
    fake_wait_cancelled(1);
    client_expect_alive(client);
    assert_int_equal(fake_calls(), READS + 1);
    client_abandon(client);
}

/* A cancelled call that does not end blocks no other. */
static void those_that_are_cancelled_hold_up_no_other(void **state)
{
    struct client *client = client_start(fake_session(), false);

    (void)state;
    for (int id = 1; id <= READS; id++)
        client_send(client, CALL, id, "stuck");
    fake_wait_at_gate(READS);
    for (int id = 1; id <= READS; id++)
        client_send(client, CANCEL, id);
    send_looks(client, 101, READS);
    fake_wait_at_gate(2 * READS);
    for (int id = 1; id <= READS; id++)
        fake_free_stuck();
    client_abandon(client);
}

static void the_end_cancels_those_that_were_not_begun(void **state)
{
    struct client *client = client_start(fake_session(), false);

    (void)state;
    send_looks(client, 1, 40);
    client_expect_alive(client);
    client_finish(client); /* nothing more is said */
    fake_wait_cancelled(40);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_read_at_once),
        cmocka_unit_test(what_does_more_than_read_does_not_wait),
        cmocka_unit_test(changes_begin_in_their_order),
        cmocka_unit_test(others_go_on_while_the_user_is_asked),
        cmocka_unit_test(one_that_is_cancelled_waits_no_longer),
        cmocka_unit_test(those_that_are_cancelled_hold_up_no_other),
        cmocka_unit_test(the_end_cancels_those_that_were_not_begun),
    };

    return cmocka_run_group_tests_name("mcp/begin", tests, NULL, NULL);
}
