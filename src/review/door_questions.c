// SPDX-License-Identifier: Apache-2.0
/* What a process says: questions, replies and whole texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "guard/text.h"
#include "review/door_private.h"

/* The lines of all questions together, in bytes. */
#define QUESTIONS_MAX_BYTES (64u << 20)

static const char no_longer[] = "the question no longer waits: it was answered elsewhere, or its "
                                "call has ended";

/* --- The list --- */

struct al_review_waiting *al_review_list_find(const struct al_review_list *list, const char *id)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(al_json_get_string(list->items[i].entry, "id"), id))
            return &list->items[i];
    return NULL;
}

static void forget_text(struct al_review_door *door)
{
    al_str_clear(&door->whole.text);
    free(al_take(&door->whole.problem));
    door->whole.complete = false;
    door->whole_of[0] = '\0';
    door->whole_ticket = 0;
}

/* Whether an entry has its members.  The process is one of this user, and may be of another
 * version. */
static bool is_entry(const json_t *entry)
{
    static const char *const members[] = { "id",      "time", "repository", "tool",    "operation",
                                           "summary", "risk", "text",       "deadline" };
    const char *id = al_json_get_string(entry, "id");

    for (size_t i = 0; i < AL_COUNT(members); i++)
        if (!al_json_get_string(entry, members[i]))
            return false;
    return strlen(id) == AL_REVIEW_ID_CHARS && !id[strspn(id, "0123456789abcdef")];
}

/* Oldest first; the times have equal lengths. */
static int compare(const json_t *one, const json_t *two)
{
    const int by_time = strcmp(al_json_get_string(one, "time"), al_json_get_string(two, "time"));

    return by_time ? by_time : strcmp(al_json_get_string(one, "id"), al_json_get_string(two, "id"));
}

/* Add the question of a line.  What is wrong with it; NULL: nothing. */
static const char *add_question(struct al_review_door *door, const struct al_door_process *process,
                                const json_t *line, size_t len)
{
    struct al_review_list *list = &door->questions;
    json_t *entry = json_object_get(line, "entry");
    size_t at = list->count, count = 0, bytes = len;

    for (size_t i = 0; i < list->count; i++) {
        count += list->items[i].pid == process->pid;
        bytes += list->items[i].len;
    }
    if (count >= AL_REVIEW_ENTRIES_MAX)
        return "has more questions than it may";
    if (bytes > QUESTIONS_MAX_BYTES)
        return "has longer questions than fit here";
    if (!is_entry(entry) || al_review_list_find(list, al_json_get_string(entry, "id")))
        return "has a question that cannot be shown; its version may be another one";
    list->items = al_grow(list->items, list->count, sizeof(*list->items));
    while (at > 0 && compare(list->items[at - 1].entry, entry) > 0)
        at--;
    memmove(&list->items[at + 1], &list->items[at], (list->count - at) * sizeof(*list->items));
    list->items[at] = (struct al_review_waiting){
        .pid = process->pid,
        .entry = json_incref(entry),
        .always = al_strdup(al_json_get_string(line, "always")),
        .len = len,
    };
    list->count++;
    door->changes |= AL_DOOR_QUESTIONS;
    return NULL;
}

/* Remove a question of a process; with NULL as its id, all of them. */
static void remove_questions(struct al_review_door *door, pid_t pid, const char *id)
{
    struct al_review_list *list = &door->questions;
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct al_review_waiting *item = &list->items[i];

        if (item->pid != pid || (id && strcmp(al_json_get_string(item->entry, "id"), id) != 0)) {
            list->items[kept++] = *item;
            continue;
        }
        if (!strcmp(door->whole_of, al_json_get_string(item->entry, "id")))
            forget_text(door);
        json_decref(item->entry);
        free(item->always);
        door->changes |= AL_DOOR_QUESTIONS;
    }
    list->count = kept;
}

/* --- Requests and replies --- */

void al_review_reply_clear(struct al_review_reply *reply)
{
    free(al_take(&reply->message));
}

static void add_reply(struct al_review_door *door, int64_t ticket, const char *id,
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
static struct al_door_process *find_process(const struct al_review_door *door, const char *id)
{
    const struct al_review_waiting *waiting = al_review_list_find(&door->questions, id);
    struct al_door_process *process = waiting ? door->processes : NULL;

    while (process && !(process->pid == waiting->pid && process->fd >= 0))
        process = process->next;
    return process;
}

/* Send a request with the next ticket.  False: the process takes nothing. */
static bool send_request(struct al_review_door *door, struct al_door_process *process,
                         struct al_review_request *request)
{
    struct al_door_request *sent, **at = &door->requests;

    request->ticket = ++door->ntickets;
    if (!al_door_send(process, request))
        return false;
    sent = al_calloc(1, sizeof(*sent));
    *sent = (struct al_door_request){
        .process = process,
        .verb = request->verb,
        .ticket = request->ticket,
        .due_ms =
            al_clock_ms() + (request->verb == AL_REVIEW_WHOLE ? AL_DOOR_TEXT_MS : AL_DOOR_STALL_MS),
    };
    (void)snprintf(sent->id, sizeof(sent->id), "%s", request->id ? request->id : "");
    while (*at)
        at = &(*at)->next;
    *at = sent;
    al_door_kick(door); /* it has a time */
    return true;
}

static void remove_request(struct al_review_door *door, struct al_door_request *request)
{
    struct al_door_request **at = &door->requests;

    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
    free(request);
}

int64_t al_review_door_answer(struct al_review_door *door, const char *id, enum al_answer decision,
                              const char *reason)
{
    al_auto(al_approval_answer_clear) struct al_approval_answer cut = AL_APPROVAL_ANSWER_INIT;
    struct al_door_process *process = find_process(door, id);
    struct al_review_request request = { .verb = AL_REVIEW_ANSWER, .id = id, .decision = decision };

    if (reason)
        al_approval_answer_set_reason(&cut, reason);
    request.reason = cut.reason;
    if (process && send_request(door, process, &request))
        return request.ticket;
    add_reply(door, ++door->ntickets, id, process ? AL_REVIEW_WRONG : AL_REVIEW_GONE,
              process ? "its process does not take the answer" : no_longer);
    al_door_kick(door);
    return door->ntickets;
}

size_t al_review_door_ask_links(struct al_review_door *door)
{
    size_t count = 0;

    for (struct al_door_process *at = door->processes; at; at = at->next)
        count += at->fd >= 0 && at->listed &&
                 send_request(door, at, &(struct al_review_request){ .verb = AL_REVIEW_LINK });
    return count;
}

/* --- Whole texts --- */

const struct al_review_text *al_review_door_text(const struct al_review_door *door, const char *id)
{
    return *id && !strcmp(door->whole_of, id) ? &door->whole : NULL;
}

void al_review_door_ask_text(struct al_review_door *door, const char *id)
{
    const struct al_review_text *text = al_review_door_text(door, id);

    if (!al_review_list_find(&door->questions, id) || (text && !text->problem))
        return;
    forget_text(door);
    (void)snprintf(door->whole_of, sizeof(door->whole_of), "%s", id);
    al_door_kick(door);
}

void al_door_send_text_request(struct al_review_door *door)
{
    struct al_review_request request = { .verb = AL_REVIEW_WHOLE, .id = door->whole_of };
    struct al_door_process *process = find_process(door, door->whole_of);
    const struct al_door_request *sent = door->requests;

    while (sent && !(sent->verb == AL_REVIEW_WHOLE && sent->process == process))
        sent = sent->next;
    if (!sent && !door->whole_ticket && process && send_request(door, process, &request))
        door->whole_ticket = request.ticket;
}

/* Whether a request is for the text that is wanted, as far as that can be shown. */
static bool is_wanted(const struct al_review_door *door, const struct al_door_request *request)
{
    return door->whole_ticket == request->ticket && !door->whole.problem;
}

static void fail_text(struct al_review_door *door, const struct al_door_request *request,
                      const char *problem)
{
    if (!is_wanted(door, request) || door->whole.complete)
        return;
    door->whole.problem = al_text_join_lines(problem);
    door->changes |= AL_DOOR_TEXTS;
}

/* Add a piece of a text, or drop that of one that is no longer wanted.  Whether further ones come.
 */
static bool serve_piece(struct al_review_door *door, struct al_door_request *request,
                        const json_t *line)
{
    const json_t *piece = json_object_get(line, "text");
    const bool more = json_is_true(json_object_get(line, "more"));

    request->due_ms = al_clock_ms() + AL_DOOR_TEXT_MS;
    if (!is_wanted(door, request))
        return more;
    if (door->whole.text.len + json_string_length(piece) > AL_REVIEW_WHOLE_MAX_BYTES) {
        fail_text(door, request, "the text is longer than it may be");
        return more;
    }
    al_str_add(&door->whole.text, json_string_value(piece), json_string_length(piece));
    door->whole.complete = !more;
    door->changes |= AL_DOOR_TEXTS;
    return more;
}

/* --- What comes --- */

static void end_request(struct al_review_door *door, struct al_door_request *request,
                        enum al_review_outcome outcome, const char *message)
{
    if (request->verb == AL_REVIEW_WHOLE)
        fail_text(door, request, message ? message : "the process sent no text");
    else
        add_reply(door, request->ticket, request->id, outcome, message);
    remove_request(door, request);
}

/* Serve a line that answers a request, unless it comes too late. */
static void serve_answer(struct al_review_door *door, const struct al_door_process *process,
                         const json_t *line)
{
    const json_int_t ticket = json_integer_value(json_object_get(line, "ticket"));
    const char *problem = al_json_get_string(line, "error"),
               *link = al_json_get_string(line, "link");
    struct al_door_request *request = door->requests;

    while (request && !(request->process == process && request->ticket == ticket))
        request = request->next;
    if (!request)
        return;
    if (request->verb == AL_REVIEW_WHOLE && json_is_string(json_object_get(line, "text"))) {
        if (!serve_piece(door, request, line))
            remove_request(door, request);
    } else if (json_is_true(json_object_get(line, "ok")) || link) {
        end_request(door, request, AL_REVIEW_TAKEN, link);
    } else {
        end_request(door, request, problem ? AL_REVIEW_WRONG : AL_REVIEW_GONE,
                    problem ? problem : no_longer);
    }
}

char *al_door_serve(struct al_review_door *door, struct al_door_process *process,
                    const json_t *line, size_t len)
{
    const char *gone = al_json_get_string(line, "gone"), *why = al_json_get_string(line, "error");

    if (json_is_integer(json_object_get(line, "ticket"))) {
        serve_answer(door, process, line);
    } else if (why) {
        return al_asprintf("refuses: %s", why);
    } else if (json_object_get(line, "entry")) {
        return al_strdup(add_question(door, process, line, len));
    } else if (gone) {
        remove_questions(door, process->pid, gone);
    } else if (json_is_true(json_object_get(line, "end"))) {
        process->listed = true;
        free(al_take(&process->problem));
    } else {
        return al_strdup("says what airlock review does not know; its version may be another one");
    }
    return NULL;
}

void al_door_forget(struct al_review_door *door, const struct al_door_process *process,
                    const char *problem)
{
    struct al_door_request *next;

    for (struct al_door_request *at = door->requests; at; at = next) {
        next = at->next;
        if (at->process == process)
            end_request(door, at, problem ? AL_REVIEW_WRONG : AL_REVIEW_GONE,
                        problem ? problem : no_longer);
    }
    remove_questions(door, process->pid, NULL);
}

void al_door_end_late_requests(struct al_review_door *door, int64_t now_ms)
{
    struct al_door_request *at = door->requests;

    while (at) {
        if (at->due_ms > now_ms) {
            at = at->next;
        } else if (at->verb == AL_REVIEW_WHOLE) {
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
}

void al_door_clear(struct al_review_door *door)
{
    struct al_review_reply reply;

    while (door->requests)
        remove_request(door, door->requests);
    while (al_review_door_next_reply(door, &reply))
        al_review_reply_clear(&reply);
    while (door->questions.count)
        remove_questions(door, door->questions.items[0].pid, NULL);
    free(al_take(&door->questions.items));
    forget_text(door);
}
