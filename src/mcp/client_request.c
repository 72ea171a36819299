// SPDX-License-Identifier: Apache-2.0
#include "mcp/client_request.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "mcp/jsonrpc.h"
#include "mcp/writer.h"
#include "proc/cancel.h"
#include "util/clock.h"

struct al_client_request {
    struct al_client_request *next;
    char *id;     /* canonical JSON, like any id */
    int event_fd; /* readable once answered */
    bool answered;
    json_t *result; /* NULL: the answer is an error */
};

void al_client_requests_init(struct al_client_requests *questions, struct al_message_writer *out)
{
    *questions = (struct al_client_requests){ .out = out };
    (void)pthread_mutex_init(&questions->lock, NULL);
}

void al_client_requests_clear(struct al_client_requests *questions)
{
    (void)pthread_mutex_destroy(&questions->lock);
}

bool al_client_requests_reserve(struct al_client_requests *questions)
{
    bool free_place;

    (void)pthread_mutex_lock(&questions->lock);
    free_place = questions->nreserved < AL_QUESTIONS_USER_MAX;
    questions->nreserved += free_place;
    (void)pthread_mutex_unlock(&questions->lock);
    return free_place;
}

void al_client_requests_release(struct al_client_requests *questions)
{
    (void)pthread_mutex_lock(&questions->lock);
    questions->nreserved--;
    (void)pthread_mutex_unlock(&questions->lock);
}

static void send_question(struct al_client_requests *questions, const char *id, const char *method,
                          const json_t *params)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":", id, method);
    al_json_dump(params, false, &line);
    al_rpc_end(&line);
    al_message_writer_send(questions->out, &line);
}

static void withdraw_question(struct al_client_requests *questions, const char *id,
                              const char *reason)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                "\"params\":{\"requestId\":%s,\"reason\":\"%s\"}}",
                id, reason);
    al_message_writer_send(questions->out, &line);
}

static void open_question(struct al_client_requests *questions, struct al_client_request *question)
{
    (void)pthread_mutex_lock(&questions->lock);
    question->id = al_asprintf("\"airlock-%lu\"", ++questions->asked);
    question->next = questions->open;
    questions->open = question;
    (void)pthread_mutex_unlock(&questions->lock);
}

/* Returns whether it was answered; from here on it cannot be. */
static bool close_question(struct al_client_requests *questions, struct al_client_request *question)
{
    struct al_client_request **at;
    bool answered;

    (void)pthread_mutex_lock(&questions->lock);
    for (at = &questions->open; *at != question; at = &(*at)->next)
        ;
    *at = question->next;
    answered = question->answered;
    (void)pthread_mutex_unlock(&questions->lock);
    return answered;
}

static void wait_for_answer(const struct al_client_request *question, int timeout_ms,
                            struct al_cancel *cancel)
{
    struct pollfd fds[] = {
        { .fd = question->event_fd, .events = POLLIN },
        { .fd = al_cancel_fd(cancel), .events = POLLIN },
    };
    int64_t deadline = al_clock_ms() + timeout_ms;
    int left = timeout_ms ? timeout_ms : -1;

    while (poll(fds, AL_COUNT(fds), left) < 0 && errno == EINTR) {
        int64_t now = al_clock_ms();

        if (timeout_ms)
            left = now < deadline ? (int)(deadline - now) : 0;
    }
}

int al_client_requests_ask(struct al_client_requests *questions, const char *method,
                           const json_t *params, int timeout_ms, struct al_cancel *cancel,
                           json_t **ret_result, struct al_error *err)
{
    al_auto(al_closep) int event_fd = eventfd(0, EFD_CLOEXEC);
    struct al_client_request question = { .event_fd = event_fd };
    bool answered;

    if (event_fd < 0)
        return al_error_errno(err, errno, "cannot create an event descriptor");
    open_question(questions, &question);
    al_auto(al_freep) char *id = question.id;

    send_question(questions, id, method, params);
    wait_for_answer(&question, timeout_ms, cancel);
    answered = close_question(questions, &question);
    if (!answered)
        withdraw_question(questions, id,
                          al_cancel_fired(cancel) ? "the call was cancelled" : "no answer in time");
    if (al_cancel_fired(cancel) || (!answered && !timeout_ms)) {
        json_decref(question.result);
        return al_error_set(err, AL_ERR_CANCELLED, "cancelled while waiting for the client");
    }
    *ret_result = question.result;
    return 0;
}

void al_client_requests_answer(struct al_client_requests *questions,
                               const struct al_rpc_message *message)
{
    const uint64_t one = 1;
    struct al_client_request *question;

    if (!message->id)
        return;
    (void)pthread_mutex_lock(&questions->lock);
    for (question = questions->open; question; question = question->next)
        if (!question->answered && !strcmp(question->id, message->id))
            break;
    if (question) {
        /* A copy: the message stays the reader's.  Only an error says that nobody was asked; an
         * answer that says one thing twice says nothing. */
        if (message->spoiled)
            question->result = al_json_object();
        else if (!json_object_get(message->body, "error"))
            question->result = json_deep_copy(json_object_get(message->body, "result"));
        question->answered = true;
        (void)!write(question->event_fd, &one, sizeof(one));
    }
    (void)pthread_mutex_unlock(&questions->lock);
}
