// SPDX-License-Identifier: Apache-2.0
/* Answers and whole texts: what was asked of a process, and what came back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard/text.h"
#include "review/door_private.h"
#include "review/message.h"
#include "util/clock.h"

static const char no_longer[] = "the question no longer waits: it was answered elsewhere, or its "
                                "call has ended";

void al_review_reply_clear(struct al_review_reply *reply)
{
    free(al_take(&reply->message));
}

static void add_reply(struct al_review_door *door, uint64_t ticket, const char *id,
                      enum al_review_outcome outcome, const char *message)
{
    struct al_door_reply *reply = al_calloc(1, sizeof(*reply)), **at = &door->replies;

    reply->reply.ticket = ticket;
    (void)snprintf(reply->reply.id, sizeof(reply->reply.id), "%s", id);
    reply->reply.outcome = outcome;
    reply->reply.message = message ? al_text_join_lines(message) : NULL;
    while (*at)
        at = &(*at)->next;
    *at = reply;
    door->changes |= AL_DOOR_REPLIES;
}

bool al_review_door_next_reply(struct al_review_door *door, struct al_review_reply *ret_reply)
{
    struct al_door_reply *first = door->replies;

    if (!first)
        return false;
    *ret_reply = first->reply;
    door->replies = first->next;
    free(first);
    return true;
}

/* The process that has a question; NULL: it does not wait. */
static struct al_review_process *find_process(const struct al_review_door *door, const char *id)
{
    const struct al_review_waiting *waiting = al_review_list_find(&door->questions, id);
    struct al_review_process *process = waiting ? door->processes : NULL;

    while (process && !(process->pid == waiting->pid && process->fd >= 0))
        process = process->next;
    return process;
}

static void add_request(struct al_review_door *door, struct al_review_process *process,
                        uint64_t ticket, const char *id, bool is_text)
{
    struct al_door_request *request = al_calloc(1, sizeof(*request)), **at = &door->requests;

    *request = (struct al_door_request){
        .ticket = ticket,
        .process = process,
        .is_text = is_text,
        .due_ms = al_clock_ms() + (is_text ? AL_DOOR_TEXT_MS : AL_DOOR_STALL_MS),
    };
    (void)snprintf(request->id, sizeof(request->id), "%s", id);
    while (*at)
        at = &(*at)->next;
    *at = request;
}

static void remove_request(struct al_review_door *door, struct al_door_request *request)
{
    struct al_door_request **at = &door->requests;

    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
    free(request);
}

uint64_t al_review_door_answer(struct al_review_door *door, const char *id, enum al_answer decision,
                               const char *reason)
{
    al_auto(al_approval_answer_clear) struct al_approval_answer cut = AL_APPROVAL_ANSWER_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    struct al_review_process *process = find_process(door, id);
    const uint64_t ticket = ++door->ntickets;

    if (reason)
        al_approval_answer_set_reason(&cut, reason);
    al_review_add_answer(id, decision, cut.reason, ticket, &line);
    if (!process)
        add_reply(door, ticket, id, AL_REVIEW_GONE, no_longer);
    else if (!al_review_process_send(process, &line))
        add_reply(door, ticket, id, AL_REVIEW_WRONG, "its process does not take the answer");
    else
        add_request(door, process, ticket, id, false);
    al_door_kick(door);
    return ticket;
}

/* --- Whole texts --- */

static struct al_door_text *find_text(const struct al_review_door *door, const char *id)
{
    struct al_door_text *text = door->texts;

    while (text && strcmp(text->id, id) != 0)
        text = text->next;
    return text;
}

const struct al_review_text *al_review_door_text(const struct al_review_door *door, const char *id)
{
    const struct al_door_text *text = find_text(door, id);

    return text ? &text->shown : NULL;
}

static void free_text(struct al_door_text *text)
{
    al_str_clear(&text->shown.text);
    free(text->shown.problem);
    free(text);
}

void al_door_forget_text(struct al_review_door *door, const char *id)
{
    for (struct al_door_text **at = &door->texts; *at;) {
        struct al_door_text *text = *at;

        if (id && strcmp(text->id, id) != 0) {
            at = &text->next;
            continue;
        }
        *at = text->next;
        free_text(text);
    }
}

/* The one asked for last stays, however long it is. */
static void make_room(struct al_review_door *door)
{
    struct al_door_text **at = &door->texts;
    size_t len = 0;

    while (*at) {
        struct al_door_text *text = *at;

        len += text->shown.text.len;
        if (len <= AL_DOOR_TEXTS_MAX_BYTES || at == &door->texts) {
            at = &text->next;
            continue;
        }
        *at = text->next;
        free_text(text);
    }
}

static void fail_text(struct al_review_door *door, const char *id, const char *problem)
{
    struct al_door_text *text = find_text(door, id);

    if (!text || text->shown.complete || text->shown.problem)
        return;
    text->shown.problem = al_text_join_lines(problem);
    door->changes |= AL_DOOR_TEXTS;
}

/* Whether a whole text of the process is on its way. */
static bool is_sending_text(const struct al_review_door *door,
                            const struct al_review_process *process)
{
    const struct al_door_request *request = door->requests;

    while (request && !(request->is_text && request->process == process))
        request = request->next;
    return request != NULL;
}

void al_door_send_text_requests(struct al_review_door *door)
{
    for (struct al_door_text *text = door->texts; text; text = text->next) {
        struct al_review_process *process = text->ticket ? NULL : find_process(door, text->id);
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

        if (text->ticket || text->shown.problem)
            continue;
        if (!process) {
            fail_text(door, text->id, no_longer);
            continue;
        }
        if (is_sending_text(door, process))
            continue;
        al_review_add_text_request(text->id, ++door->ntickets, &line);
        if (!al_review_process_send(process, &line))
            continue;
        add_request(door, process, door->ntickets, text->id, true);
        text->ticket = door->ntickets;
    }
}

void al_review_door_ask_text(struct al_review_door *door, const char *id)
{
    struct al_door_text *text = find_text(door, id);

    if (text && !text->shown.problem)
        return;
    if (text)
        al_door_forget_text(door, id);
    text = al_calloc(1, sizeof(*text));
    text->shown.text = AL_STR_INIT;
    (void)snprintf(text->id, sizeof(text->id), "%s", id);
    text->next = door->texts;
    door->texts = text;
    al_door_kick(door);
}

/* --- What comes back --- */

/* Add a piece of a text.  Whether further ones come. */
static bool serve_piece(struct al_review_door *door, struct al_door_request *request,
                        const json_t *line)
{
    struct al_door_text *text = find_text(door, request->id);
    const json_t *piece = json_object_get(line, "text");
    const bool more = json_is_true(json_object_get(line, "more"));

    request->due_ms = al_clock_ms() + AL_DOOR_TEXT_MS;
    /* A text that was forgotten is read to its end all the same. */
    if (!text || text->ticket != request->ticket || text->shown.problem)
        return more;
    if (text->shown.text.len + json_string_length(piece) > AL_REVIEW_WHOLE_MAX_BYTES) {
        fail_text(door, request->id, "the text is longer than it may be");
        return more;
    }
    al_str_add(&text->shown.text, json_string_value(piece), json_string_length(piece));
    text->shown.complete = !more;
    door->changes |= AL_DOOR_TEXTS;
    make_room(door);
    return more;
}

static void end_request(struct al_review_door *door, struct al_door_request *request,
                        enum al_review_outcome outcome, const char *message)
{
    if (request->is_text)
        fail_text(door, request->id, message ? message : "the process sent no text");
    else
        add_reply(door, request->ticket, request->id, outcome, message);
    remove_request(door, request);
}

static struct al_door_request *find_request(const struct al_review_door *door,
                                            const struct al_review_process *process,
                                            const json_t *line)
{
    const json_int_t ticket = json_integer_value(json_object_get(line, "ticket"));
    struct al_door_request *request = door->requests;

    while (request && !(request->process == process && (json_int_t)request->ticket == ticket))
        request = request->next;
    return request;
}

bool al_door_serve_answer(struct al_review_door *door, const struct al_review_process *process,
                          const json_t *line)
{
    struct al_door_request *request = find_request(door, process, line);
    const char *problem = al_json_get_string(line, "error");

    if (!json_is_integer(json_object_get(line, "ticket")))
        return false;
    if (!request)
        return true; /* it comes too late */
    if (request->is_text && json_is_string(json_object_get(line, "text"))) {
        if (!serve_piece(door, request, line))
            remove_request(door, request);
    } else if (json_is_true(json_object_get(line, "ok"))) {
        end_request(door, request, AL_REVIEW_TAKEN, NULL);
    } else {
        end_request(door, request, problem ? AL_REVIEW_WRONG : AL_REVIEW_GONE,
                    problem ? problem : no_longer);
    }
    return true;
}

void al_door_end_requests(struct al_review_door *door, const struct al_review_process *process,
                          const char *problem)
{
    struct al_door_request *next;

    for (struct al_door_request *at = door->requests; at; at = next) {
        next = at->next;
        if (at->process == process)
            end_request(door, at, problem ? AL_REVIEW_WRONG : AL_REVIEW_GONE,
                        problem ? problem : no_longer);
    }
}

int64_t al_door_end_late_requests(struct al_review_door *door, int64_t now_ms)
{
    int64_t next_ms = INT64_MAX;
    struct al_door_request *at = door->requests;

    while (at) {
        if (at->due_ms > now_ms) {
            next_ms = at->due_ms < next_ms ? at->due_ms : next_ms;
            at = at->next;
        } else if (at->is_text) {
            end_request(door, at, AL_REVIEW_WRONG, "its process does not send the text");
            at = door->requests;
        } else {
            al_auto(al_freep) char *why =
                al_asprintf("process %ld does not answer; what you decided may still count when it "
                            "goes on",
                            (long)at->process->pid);

            al_door_let_go(door, at->process, why);
            at = door->requests;
        }
    }
    return next_ms;
}

void al_door_clear_requests(struct al_review_door *door)
{
    struct al_review_reply reply;

    while (door->requests)
        remove_request(door, door->requests);
    while (al_review_door_next_reply(door, &reply))
        al_review_reply_clear(&reply);
    al_door_forget_text(door, NULL);
}
