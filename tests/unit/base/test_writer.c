// SPDX-License-Identifier: Apache-2.0
/* base/writer.h: whole lines in order, and memory for what is queued now only. */
#include "base/writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/assert.h"

#define LINE_BYTES  50000u
#define SMALL_BYTES 32768 /* of a pipe: less than a line */
#define USUAL_BYTES 65536

struct client {
    struct al_message_writer out;
    int ends[2]; /* of a pipe: the client's first */
    size_t next; /* letter of the line that comes next */
    size_t got;  /* bytes of it that came */
};

static int setup(void **state)
{
    struct client *client = al_calloc(1, sizeof(*client));

    assert_int_equal(pipe2(client->ends, O_CLOEXEC), 0);
    assert_in_range(fcntl(client->ends[1], F_SETPIPE_SZ, SMALL_BYTES), SMALL_BYTES,
                    USUAL_BYTES - 1);
    assert_int_equal(al_message_writer_init(&client->out, client->ends[1], NULL), 0);
    *state = client;
    return 0;
}

static int teardown(void **state)
{
    struct client *client = *state;

    al_message_writer_clear(&client->out);
    close(client->ends[0]);
    close(client->ends[1]);
    free(client);
    return 0;
}

static char letter(size_t number)
{
    return (char)('a' + number % 26);
}

static void send_line(struct client *client, size_t number)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    for (size_t i = 0; i + 1 < LINE_BYTES; i++)
        al_str_addc(&line, letter(number));
    al_message_writer_send(&client->out, &line);
}

/* Takes at most `bytes`, which must be those that were sent. */
static size_t take(struct client *client, size_t bytes)
{
    al_auto(al_freep) char *data = al_malloc(bytes);
    ssize_t n = read(client->ends[0], data, bytes);

    assert_true(n > 0);
    for (ssize_t i = 0; i < n; i++) {
        bool last = ++client->got == LINE_BYTES;

        assert_int_equal(data[i], last ? '\n' : letter(client->next));
        if (last) {
            client->got = 0;
            client->next++;
        }
    }
    return (size_t)n;
}

static void keeps_no_room_for_what_a_slow_client_has_taken(void **state)
{
    struct client *client = *state;
    size_t sent = 0, taken = 0;

    /* The queue is never empty: ten lines are sent before the first is read. */
    for (size_t i = 0; i < 10; i++, sent += LINE_BYTES)
        send_line(client, i);
    for (size_t i = 10; i < 200; i++, sent += LINE_BYTES) {
        send_line(client, i);
        for (size_t want = LINE_BYTES; want;) {
            size_t n = take(client, want);

            want -= n;
            taken += n;
            assert_true(al_message_writer_flush(&client->out));
        }
        /* Ten lines are queued, so at most twice that is kept. */
        assert_in_range(client->out.queue.len, 1, 20 * LINE_BYTES);
    }
    while (taken < sent) {
        taken += take(client, LINE_BYTES);
        (void)al_message_writer_flush(&client->out);
    }
    assert_int_equal(client->got, 0);
    assert_false(al_message_writer_flush(&client->out));
    assert_int_equal(client->out.queue.len, 0);
}

#define DRAINED_LINES 20

static void *take_byte_by_byte(void *payload)
{
    struct client *client = payload;

    while (client->next < DRAINED_LINES)
        (void)take(client, 1);
    return NULL;
}

/* A million reads take longer than that. */
static void a_slow_client_gets_all_of_it(void **state)
{
    struct client *client = *state;
    pthread_t thread;

    for (size_t i = 0; i < DRAINED_LINES; i++)
        send_line(client, i);
    assert_int_equal(pthread_create(&thread, NULL, take_byte_by_byte, client), 0);
    al_message_writer_drain(&client->out, 250);
    assert_false(al_message_writer_flush(&client->out));
    assert_int_equal(client->out.queue.len, 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void one_that_takes_nothing_is_given_up(void **state)
{
    struct client *client = *state;

    for (size_t i = 0; i < DRAINED_LINES; i++)
        send_line(client, i);
    al_message_writer_drain(&client->out, 1);
    assert_true(al_message_writer_flush(&client->out));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keeps_no_room_for_what_a_slow_client_has_taken, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_slow_client_gets_all_of_it, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_takes_nothing_is_given_up, setup, teardown),
    };

    return cmocka_run_group_tests_name("wire/writer", tests, NULL, NULL);
}
