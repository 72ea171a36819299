// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/client_request.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/jsonrpc.h"
#include "base/lock.h"
#include "base/sink.h"
#include "guard/approval.h"
#include "proc/cancel.h"

void al_client_requests_init(struct al_client_requests *requests)
{
    *requests = (struct al_client_requests){ .pending = NULL };
    (void)pthread_mutex_init(&requests->lock, NULL);
}

static void send_request(struct al_message_sink *sink, const char *id, const char *method,
                         const json_t *params)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":", id, method);
    al_json_dump(params, false, &line);
    al_rpc_end(&line);
    al_sink_send(sink, &line);
}

static void cancel_request(struct al_message_sink *sink, const char *id, const char *reason)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                "\"params\":{\"requestId\":%s,\"reason\":\"%s\"}}",
                id, reason);
    al_sink_send(sink, &line);
}

int al_client_request_begin(struct al_client_requests *requests, struct al_client_request *request,
                            char *id, struct al_error *err)
{
    const int event_fd = eventfd(0, EFD_CLOEXEC);
    int r = event_fd < 0 ? al_error_errno(err, errno, "cannot create an event descriptor") : 0;

    *request = (struct al_client_request){ .id = id, .event_fd = event_fd };
    al_hold(&requests->lock);
    if (r == 0 && requests->npending == AL_CLIENT_QUESTIONS_MAX)
        r = AL_ERR_AGAIN;
    if (r < 0) {
        free(id);
        al_close(event_fd);
        return r;
    }
    request->next = requests->pending;
    requests->pending = request;
    requests->npending++;
    return 0;
}

/* Whether the request was answered.  A later response is ignored. */
static bool remove_pending(struct al_client_requests *requests, struct al_client_request *request)
{
    struct al_client_request **at;

    al_hold(&requests->lock);
    for (at = &requests->pending; *at != request; at = &(*at)->next)
        ;
    *at = request->next;
    requests->npending--;
    al_close(request->event_fd);
    return request->answered;
}

/* What is done meanwhile does not count as an answer. */
bool al_client_request_await(struct al_client_requests *requests, struct al_client_request *request,
                             int timeout_ms, const struct al_meanwhile *meanwhile,
                             struct al_cancel *cancel)
{
    struct pollfd fds[] = {
        { .fd = request->event_fd, .events = POLLIN },
        { .fd = al_cancel_fd(cancel), .events = POLLIN },
        { .fd = meanwhile ? meanwhile->fd : -1, .events = POLLIN },
    };
    const int64_t deadline = al_clock_ms() + timeout_ms;
    bool waits = true;

    while (waits) {
        const int64_t left = deadline - al_clock_ms();
        const int n = poll(fds, AL_COUNT(fds), !timeout_ms ? -1 : left > 0 ? (int)left : 0);

        waits = (n < 0 && errno == EINTR) || (n > 0 && !fds[0].revents && !fds[1].revents);
        if (waits && n > 0)
            meanwhile->run(meanwhile->payload);
    }
    return remove_pending(requests, request);
}

static char *next_id(struct al_client_requests *requests)
{
    al_hold(&requests->lock);
    return al_asprintf("\"airlock-%lu\"", ++requests->nsent);
}

int al_client_requests_ask(struct al_client_requests *requests, struct al_message_sink *sink,
                           const struct al_client_question *question, struct al_cancel *cancel,
                           json_t **ret_result, struct al_error *err)
{
    struct al_client_request request;
    bool answered;
    int r = al_client_request_begin(requests, &request, next_id(requests), err);

    if (r < 0)
        return r;
    al_auto(al_freep) char *id = request.id;

    send_request(sink, id, question->method, question->params);
    answered = al_client_request_await(requests, &request, question->timeout_ms,
                                       question->meanwhile, cancel);
    if (!answered)
        cancel_request(sink, id,
                       al_cancel_fired(cancel) ? "the call was cancelled" : "no answer in time");
    if (al_cancel_fired(cancel) || (!answered && !question->timeout_ms)) {
        json_decref(request.result);
        return al_error_set(err, AL_ERR_CANCELLED, "cancelled while waiting for the client");
    }
    *ret_result = request.result;
    return 0;
}

bool al_client_request_settle(struct al_client_requests *requests, const char *id, json_t *result)
{
    struct al_client_request *request;

    al_hold(&requests->lock);
    request = requests->pending;
    while (request && (request->answered || strcmp(request->id, id) != 0))
        request = request->next;
    if (!request) {
        json_decref(result);
        return false;
    }
    request->result = result;
    request->answered = true;
    (void)eventfd_write(request->event_fd, 1);
    return true;
}

/* The result of a response: a copy, because the message belongs to the reader.  A response with
 * duplicate names counts as an empty result: unlike an error, it says that the user was asked. */
static json_t *result_of(const struct al_rpc_message *message)
{
    if (message->has_duplicates)
        return al_json_object();
    return json_object_get(message->body, "error")
               ? NULL
               : json_deep_copy(json_object_get(message->body, "result"));
}

void al_client_requests_answer(struct al_client_requests *requests,
                               const struct al_rpc_message *message)
{
    if (message->id)
        (void)al_client_request_settle(requests, message->id, result_of(message));
}
