// SPDX-License-Identifier: Apache-2.0
/* review/queue.h: a question is answered once, by whoever is first; at most AL_REVIEW_ENTRIES_MAX
 * wait, and a text of AL_REVIEW_TEXT_MAX_BYTES is sent whole. */
#include "review/queue.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/json.h"
#include "proc/cancel.h"
#include "review/message.h"
#include "tests/lib/assert.h"

static struct al_approval_request request = {
    .tool = "git_add",
    .operation = "add",
    .summary = "Stage 1 file(s): a.txt",
    .detail = "+two\n",
    .repository = "/r",
    .risk = "medium",
    .state = "",
    .always_covers = "every git_add",
};

static bool is_readable(int fd)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };

    return poll(&ready, 1, 0) == 1;
}

/* The first question as JSON; the caller owns it. */
static json_t *first(struct al_review_queue *queue)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    char id[AL_REVIEW_ID_CHARS + 1];
    uint64_t serial;
    json_t *object;

    assert_true(al_review_next(queue, 0, &line, &serial, id));
    assert_int_equal(line.buf[line.len - 1], '\n');
    assert_true(line.len <= AL_REVIEW_LINE_MAX_BYTES);
    object = json_loadb(line.buf, line.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(object);
    return object;
}

static void an_answer_of_another_door_withdraws_the_question(void **state)
{
    struct al_review_queue *queue = al_review_queue_new(600);
    struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    struct al_review_entry entry;

    (void)state;
    assert_true(al_review_begin(queue, &request, NULL, NULL, &entry));
    assert_false(al_cancel_fired(entry.withdrawn));
    assert_int_equal(al_review_answer(queue, entry.id, AL_ANSWER_REJECT, " not\nnow ", NULL), 0);
    assert_true(al_cancel_fired(entry.withdrawn));
    assert_true(is_readable(al_cancel_fd(entry.withdrawn)));
    assert_int_equal(al_review_answer(queue, entry.id, AL_ANSWER_ONCE, NULL, NULL),
                     AL_ERR_NOT_FOUND);
    assert_int_equal(al_review_end(queue, &entry, &answer), AL_REVIEW_ANSWERED);
    assert_int_equal(answer.decision, AL_ANSWER_REJECT);
    assert_string_equal(answer.reason, "not now");
    al_approval_answer_clear(&answer);
    al_review_queue_free(queue);
}

static void the_own_door_is_first_until_another_one_answers(void **state)
{
    struct al_review_queue *queue = al_review_queue_new(600);
    struct al_approval_answer answer = { .decision = AL_ANSWER_ONCE };
    struct al_review_entry entry;

    (void)state;
    assert_true(al_review_begin(queue, &request, NULL, NULL, &entry));
    assert_true(al_review_has(queue, entry.id));
    assert_int_equal(al_review_end(queue, &entry, &answer), AL_REVIEW_WAITS);
    assert_int_equal(answer.decision, AL_ANSWER_ONCE);
    assert_false(al_review_has(queue, entry.id));
    assert_int_equal(al_review_answer(queue, entry.id, AL_ANSWER_REJECT, NULL, NULL),
                     AL_ERR_NOT_FOUND);
    al_review_queue_free(queue);
}

static void a_cancelled_call_has_no_answer(void **state)
{
    struct al_review_queue *queue = al_review_queue_new(600);
    struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    struct al_cancel *cancel = al_cancel_new();
    struct al_review_entry entry;

    (void)state;
    assert_true(al_review_begin(queue, &request, NULL, cancel, &entry));
    al_cancel_fire(cancel);
    al_review_await(queue, &entry, NULL);
    assert_int_equal(al_review_end(queue, &entry, &answer), AL_REVIEW_CANCELLED);
    assert_int_equal(answer.decision, AL_ANSWER_NONE);
    al_cancel_unref(cancel);
    al_review_queue_free(queue);
}

static void always_has_to_be_offered(void **state)
{
    struct al_review_queue *queue = al_review_queue_new(600);
    struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    const struct al_approval_request one_call = {
        .tool = "t", .operation = "o", .summary = "s", .repository = "/r", .risk = "low"
    };
    al_auto(al_json_decrefp) json_t *line = NULL;
    struct al_review_entry entry;

    (void)state;
    assert_true(al_review_begin(queue, &one_call, NULL, NULL, &entry));
    assert_int_equal(al_review_answer(queue, entry.id, AL_ANSWER_ALWAYS, NULL, NULL),
                     AL_ERR_BAD_ARGS);
    assert_false(al_cancel_fired(entry.withdrawn));
    line = first(queue);
    assert_null(json_object_get(line, "always"));
    assert_true(json_is_null(json_object_get(json_object_get(line, "entry"), "agent")));
    assert_string_equal(al_json_get_string(json_object_get(line, "entry"), "text"), "");
    assert_int_equal(al_review_answer(queue, entry.id, AL_ANSWER_ONCE, "no reason", NULL), 0);
    assert_int_equal(al_review_end(queue, &entry, &answer), AL_REVIEW_ANSWERED);
    assert_int_equal(answer.decision, AL_ANSWER_ONCE);
    assert_null(answer.reason);
    al_review_queue_free(queue);
}

static void as_many_wait_as_there_is_room_for(void **state)
{
    static struct al_review_entry entries[AL_REVIEW_ENTRIES_MAX + 1];
    struct al_review_queue *queue = al_review_queue_new(600);
    struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;

    (void)state;
    for (size_t i = 0; i < AL_REVIEW_ENTRIES_MAX; i++)
        assert_true(al_review_begin(queue, &request, NULL, NULL, &entries[i]));
    assert_false(al_review_begin(queue, &request, NULL, NULL, &entries[AL_REVIEW_ENTRIES_MAX]));
    for (size_t i = 0; i < AL_REVIEW_ENTRIES_MAX; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(entries[i].id, entries[k].id);
    assert_int_equal(al_review_end(queue, &entries[7], &answer), AL_REVIEW_WAITS);
    assert_true(al_review_begin(queue, &request, NULL, NULL, &entries[7]));
    assert_false(al_review_begin(queue, &request, NULL, NULL, &entries[AL_REVIEW_ENTRIES_MAX]));
    for (size_t i = 0; i < AL_REVIEW_ENTRIES_MAX; i++)
        assert_int_equal(al_review_end(queue, &entries[i], &answer), AL_REVIEW_WAITS);
    al_review_queue_free(queue);
}

static void a_long_text_is_cut(void **state)
{
    static const size_t lengths[] = { AL_REVIEW_TEXT_MAX_BYTES - 1, AL_REVIEW_TEXT_MAX_BYTES,
                                      AL_REVIEW_TEXT_MAX_BYTES + 1 };
    struct al_review_queue *queue = al_review_queue_new(600);
    struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT(lengths); i++) {
        al_auto(al_freep) char *text = al_calloc(lengths[i] + 1, 1);
        struct al_approval_request large = request;
        al_auto(al_json_decrefp) json_t *line = NULL;
        const json_t *sent;
        struct al_review_entry entry;

        memset(text, i ? '\n' : '"', lengths[i]); /* escaped, each has two bytes */
        large.detail = text;
        assert_true(al_review_begin(queue, &large, NULL, NULL, &entry));
        line = first(queue);
        sent = json_object_get(json_object_get(line, "entry"), "text");
        assert_true(json_string_length(sent) <= AL_REVIEW_TEXT_MAX_BYTES);
        assert_int_equal(strstr(json_string_value(sent), "[output truncated]") != NULL, i == 2);
        assert_int_equal(al_review_end(queue, &entry, &answer), AL_REVIEW_WAITS);
    }
    al_review_queue_free(queue);
}

static void a_question_ends_at_its_deadline(void **state)
{
    struct al_review_queue *queue = al_review_queue_new(0);
    struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    struct al_review_entry entry;

    (void)state;
    assert_true(al_review_begin(queue, &request, NULL, NULL, &entry));
    al_review_await(queue, &entry, NULL);
    assert_true(al_cancel_fired(entry.withdrawn));
    assert_int_equal(al_review_answer(queue, entry.id, AL_ANSWER_ONCE, NULL, NULL),
                     AL_ERR_NOT_FOUND);
    assert_int_equal(al_review_end(queue, &entry, &answer), AL_REVIEW_OVER);
    al_review_queue_free(queue);
}

static void the_next_deadline_is_the_oldest_ones(void **state)
{
    struct al_review_queue *queue = al_review_queue_new(86400);
    struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    struct al_review_entry entries[2];

    (void)state;
    assert_true(al_review_expire(queue) == INT64_MAX);
    for (size_t i = 0; i < COUNT(entries); i++)
        assert_true(al_review_begin(queue, &request, NULL, NULL, &entries[i]));
    assert_true(al_review_expire(queue) == entries[0].deadline_ms);
    assert_int_equal(strlen(entries[0].deadline), 24);
    assert_string_equal(entries[0].deadline + 10, entries[0].time + 10); /* a day later */
    assert_int_equal(al_review_end(queue, &entries[0], &answer), AL_REVIEW_WAITS);
    assert_true(al_review_expire(queue) == entries[1].deadline_ms);
    assert_int_equal(al_review_end(queue, &entries[1], &answer), AL_REVIEW_WAITS);
    al_review_queue_free(queue);
}

struct rival {
    struct al_review_queue *queue;
    const char *id;
    enum al_answer decision;
    bool won;
};

static void *compete(void *payload)
{
    struct rival *rival = payload;

    rival->won = al_review_answer(rival->queue, rival->id, rival->decision, NULL, NULL) == 0;
    return NULL;
}

static void of_two_answers_one_counts(void **state)
{
    struct al_review_queue *queue = al_review_queue_new(600);

    (void)state;
    for (int i = 0; i < 200; i++) {
        struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
        struct al_review_entry entry;
        struct rival rivals[2] = { { queue, entry.id, AL_ANSWER_ONCE, false },
                                   { queue, entry.id, AL_ANSWER_REJECT, false } };
        enum al_review_state ended;
        pthread_t threads[2];

        assert_true(al_review_begin(queue, &request, NULL, NULL, &entry));
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(pthread_create(&threads[k], NULL, compete, &rivals[k]), 0);
        if (i % 2)
            al_review_await(queue, &entry, NULL);
        ended = al_review_end(queue, &entry, &answer);
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(pthread_join(threads[k], NULL), 0);
        if (ended == AL_REVIEW_ANSWERED)
            assert_true(rivals[answer.decision == AL_ANSWER_REJECT].won);
        assert_int_equal(rivals[0].won + rivals[1].won, ended == AL_REVIEW_ANSWERED);
    }
    al_review_queue_free(queue);
}

static void doors_attach_and_hear_of_changes(void **state)
{
    struct al_review_queue *queue = al_review_queue_new(600);
    struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    struct al_review_entry entry;
    eventfd_t changes = 0;

    (void)state;
    assert_false(al_review_is_attached(queue));
    al_review_attach(queue);
    al_review_attach(queue);
    al_review_detach(queue);
    assert_true(al_review_is_attached(queue));
    al_review_detach(queue);
    assert_false(al_review_is_attached(queue));
    assert_true(al_review_begin(queue, &request, NULL, NULL, &entry));
    assert_int_equal(al_review_end(queue, &entry, &answer), AL_REVIEW_WAITS);
    assert_int_equal(eventfd_read(al_review_change_fd(queue), &changes), 0);
    assert_int_equal(changes, 2);
    al_review_queue_free(queue);
    al_review_queue_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_of_another_door_withdraws_the_question),
        cmocka_unit_test(the_own_door_is_first_until_another_one_answers),
        cmocka_unit_test(a_cancelled_call_has_no_answer),
        cmocka_unit_test(always_has_to_be_offered),
        cmocka_unit_test(as_many_wait_as_there_is_room_for),
        cmocka_unit_test(a_long_text_is_cut),
        cmocka_unit_test(a_question_ends_at_its_deadline),
        cmocka_unit_test(the_next_deadline_is_the_oldest_ones),
        cmocka_unit_test(of_two_answers_one_counts),
        cmocka_unit_test(doors_attach_and_hear_of_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
