// SPDX-License-Identifier: Apache-2.0
#include "review/message.h"

#include <string.h>

#include "guard/text.h"
#include "review/queue.h"

static json_t *text_or_null(const char *text)
{
    return text ? al_json_string(text) : json_null();
}

static json_t *text_of(const struct al_approval_request *request)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_adds(&text, request->detail ? request->detail : "");
    (void)al_text_truncate(&text, AL_REVIEW_TEXT_MAX_BYTES);
    return al_json_stringn(text.buf, text.len);
}

static void add_object(json_t *object, struct al_str *out)
{
    al_json_dump(object, false, out);
    al_str_addc(out, '\n');
    json_decref(object);
}

void al_review_add_entry(const struct al_review_entry *entry, struct al_str *out)
{
    const struct al_approval_request *request = entry->request;
    al_auto(al_freep) char *repository = al_text_sanitize_shown_line(request->repository);
    json_t *object = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "id", entry->id, "time",
        entry->time, "agent", text_or_null(request->agent), "client", text_or_null(entry->client),
        "repository", al_json_string(repository), "tool", al_json_string(request->tool),
        "operation", al_json_string(request->operation), "summary",
        al_json_string(request->summary), "risk", al_json_string(request->risk), "why",
        text_or_null(request->why), "text", text_of(request), "deadline", entry->deadline);

    add_object(json_pack("{s:o, s:o*}", "entry", object, "always",
                         request->always_covers ? al_json_string(request->always_covers) : NULL),
               out);
}

void al_review_request_clear(struct al_review_request *request)
{
    json_decref(request->body);
    *request = AL_REVIEW_REQUEST_INIT;
}

/* Of enum al_review_verb. */
static const char *const verbs[] = { "list", "attach", "answer", "text", "link" };

static bool read_answer(struct al_review_request *request)
{
    request->decision = al_answer_of(al_json_get_string(request->body, "decision"));
    request->reason = al_json_get_string(request->body, "reason");
    return request->id && request->decision != AL_ANSWER_NONE;
}

bool al_review_request_read(const char *line, size_t len, struct al_review_request *ret_request,
                            const char **ret_problem)
{
    const char *word;

    *ret_request = AL_REVIEW_REQUEST_INIT;
    ret_request->body = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
    word = al_json_get_string(ret_request->body, "do");
    ret_request->id = al_json_get_string(ret_request->body, "id");
    ret_request->ticket = json_integer_value(json_object_get(ret_request->body, "ticket"));
    for (size_t i = 0; word && i < AL_COUNT(verbs); i++) {
        if (strcmp(word, verbs[i]) != 0)
            continue;
        ret_request->verb = (enum al_review_verb)i;
        *ret_problem = ret_request->verb == AL_REVIEW_ANSWER
                           ? "an answer needs an id, and once, always or reject as its decision"
                           : "a request for a text needs an id";
        if (ret_request->verb == AL_REVIEW_ANSWER)
            return read_answer(ret_request);
        return ret_request->verb != AL_REVIEW_WHOLE || ret_request->id;
    }
    *ret_problem = "not a request of airlock review; its version may be another one";
    return false;
}

static json_t *ticket_of(int64_t ticket)
{
    return ticket ? al_json_int(ticket) : NULL;
}

void al_review_add_request(const struct al_review_request *request, struct al_str *out)
{
    add_object(json_pack("{s:s, s:o*, s:s*, s:o*, s:o*}", "do", verbs[request->verb], "id",
                         request->id ? al_json_string(request->id) : NULL, "decision",
                         al_answer_word(request->decision), "reason",
                         request->reason ? al_json_string(request->reason) : NULL, "ticket",
                         ticket_of(request->ticket)),
               out);
}

void al_review_add_reply(const char *member, const char *text, int64_t ticket, struct al_str *out)
{
    add_object(json_pack("{s:o, s:o*}", member, text ? al_json_string(text) : json_true(), "ticket",
                         ticket_of(ticket)),
               out);
}

void al_review_add_piece(const char *text, size_t len, bool more, int64_t ticket,
                         struct al_str *out)
{
    add_object(json_pack("{s:o, s:b, s:o*}", "text", al_json_stringn(text, len), "more", more,
                         "ticket", ticket_of(ticket)),
               out);
}
