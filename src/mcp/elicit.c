// SPDX-License-Identifier: Apache-2.0
#include "mcp/elicit.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "mcp/jsonrpc.h"
#include "mcp/out.h"
#include "proc/cancel.h"

struct al_question {
    struct al_question *next;
    char *id;     /* canonical JSON, like any id */
    int event_fd; /* readable once answered */
    bool answered;
    enum al_answer answer;
};

void al_elicit_init(struct al_elicit *elicit, struct al_out *out)
{
    *elicit = (struct al_elicit){ .out = out };
    (void)pthread_mutex_init(&elicit->lock, NULL);
}

void al_elicit_clear(struct al_elicit *elicit)
{
    (void)pthread_mutex_destroy(&elicit->lock);
}

static void send_question(struct al_elicit *elicit, enum al_form form, const char *id,
                          const struct al_approval_request *request)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    al_auto(al_json_decrefp) json_t *params = al_form_params(form, request);

    al_str_addf(&line,
                "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"elicitation/create\",\"params\":", id);
    al_json_dump(params, false, &line);
    al_rpc_end(&line);
    al_out_send(elicit->out, &line);
}

static void withdraw_question(struct al_elicit *elicit, const char *id)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                "\"params\":{\"requestId\":%s,\"reason\":\"the call was cancelled\"}}",
                id);
    al_out_send(elicit->out, &line);
}

static void open_question(struct al_elicit *elicit, struct al_question *question)
{
    (void)pthread_mutex_lock(&elicit->lock);
    question->id = al_asprintf("\"airlock-%lu\"", ++elicit->asked);
    question->next = elicit->open;
    elicit->open = question;
    (void)pthread_mutex_unlock(&elicit->lock);
}

/* Returns whether it was answered; from here on it cannot be. */
static bool close_question(struct al_elicit *elicit, struct al_question *question)
{
    struct al_question **at;
    bool answered;

    (void)pthread_mutex_lock(&elicit->lock);
    for (at = &elicit->open; *at != question; at = &(*at)->next)
        ;
    *at = question->next;
    answered = question->answered;
    (void)pthread_mutex_unlock(&elicit->lock);
    return answered;
}

static void wait_for_answer(const struct al_question *question, struct al_cancel *cancel)
{
    struct pollfd fds[] = {
        { .fd = question->event_fd, .events = POLLIN },
        { .fd = al_cancel_fd(cancel), .events = POLLIN },
    };

    while (poll(fds, AL_COUNT(fds), -1) < 0 && errno == EINTR)
        ;
}

int al_elicit_ask(struct al_elicit *elicit, enum al_form form,
                  const struct al_approval_request *request, struct al_cancel *cancel,
                  enum al_answer *ret_answer, struct al_error *err)
{
    al_auto(al_closep) int event_fd = -1;
    struct al_question question = { .answer = AL_ANSWER_NONE };
    bool answered;

    if (form == AL_FORM_NONE) {
        *ret_answer = AL_ANSWER_NONE;
        return 0;
    }
    event_fd = eventfd(0, EFD_CLOEXEC);
    if (event_fd < 0)
        return al_error_errno(err, errno, "cannot create an event descriptor");
    question.event_fd = event_fd;
    open_question(elicit, &question);
    al_auto(al_freep) char *id = question.id;

    send_question(elicit, form, id, request);
    wait_for_answer(&question, cancel);
    answered = close_question(elicit, &question);
    if (!answered)
        withdraw_question(elicit, id);
    if (!answered || al_cancel_fired(cancel))
        return al_error_set(err, AL_ERR_CANCELLED, "cancelled while waiting for approval");
    *ret_answer = question.answer;
    return 0;
}

/* Only an error says that nobody was asked. */
static enum al_answer read_answer(const json_t *body)
{
    if (json_object_get(body, "error"))
        return AL_ANSWER_NONE;
    return al_form_answer(json_object_get(body, "result"));
}

void al_elicit_answer(struct al_elicit *elicit, const struct al_rpc_message *message)
{
    const uint64_t one = 1;
    struct al_question *question;

    if (!message->id)
        return;
    (void)pthread_mutex_lock(&elicit->lock);
    for (question = elicit->open; question; question = question->next)
        if (!question->answered && !strcmp(question->id, message->id))
            break;
    if (question) {
        question->answer = read_answer(message->body);
        question->answered = true;
        (void)!write(question->event_fd, &one, sizeof(one));
    }
    (void)pthread_mutex_unlock(&elicit->lock);
}
