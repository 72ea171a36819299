// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/input_required.h"

#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/secret.h"

/* --- The form --- */

static bool offers_form(const json_t *capabilities)
{
    const json_t *elicitation = json_object_get(capabilities, "elicitation");

    if (!json_is_object(elicitation))
        return false;
    return json_object_get(elicitation, "form") || !json_object_get(elicitation, "url");
}

enum al_approval_form al_approval_form_for(const json_t *capabilities,
                                           const struct al_revision *revision)
{
    if (!offers_form(capabilities))
        return AL_APPROVAL_FORM_NONE;
    if (revision->era == AL_ERA_MODERN)
        return AL_APPROVAL_FORM_RESULT;
    return revision->names_modes ? AL_APPROVAL_FORM_MODE : AL_APPROVAL_FORM_PLAIN;
}

/* The field has no default, so that an untouched form approves nothing. */
static json_t *decision_field(enum al_approval_form form, bool offers_always)
{
    json_t *values = offers_always ? json_pack("[s, s, s]", "once", "always", "reject")
                                   : json_pack("[s, s]", "once", "reject");
    json_t *labels = NULL;

    if (form == AL_APPROVAL_FORM_PLAIN)
        labels = offers_always
                     ? json_pack("[s, s, s]", "Allow once", "Allow for this session", "Reject")
                     : json_pack("[s, s]", "Allow once", "Reject");
    return json_pack("{s:s, s:s, s:s, s:o, s:o*}", "type", "string", "title", "Decision",
                     "description",
                     offers_always ? "once: this call only; always: what the message says, until "
                                     "the session ends; reject: do nothing"
                                   : "once: this call only; reject: do nothing",
                     "enum", values, "enumNames", labels);
}

static json_t *requested_schema(enum al_approval_form form, bool offers_always)
{
    return json_pack("{s:s, s:{s:o, s:{s:s, s:s, s:s, s:i}}, s:[s]}", "type", "object",
                     "properties", "decision", decision_field(form, offers_always), "reason",
                     "type", "string", "title", "Reason", "description",
                     "With reject: what the agent is told (optional)", "maxLength",
                     (int)AL_APPROVAL_REASON_MAX, "required", "decision");
}

json_t *al_approval_form_params(enum al_approval_form form,
                                const struct al_approval_request *request)
{
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str rest = AL_STR_INIT;

    al_approval_add_heading(request, &message);
    if (request->detail && *request->detail)
        al_str_addf(&message, "\n%s", request->detail);
    al_approval_add_full_summary(request, &rest);
    if (rest.len)
        al_str_addf(&message, "\n\n%s", rest.buf);
    return json_pack("{s:s*, s:o, s:o}", "mode", form == AL_APPROVAL_FORM_PLAIN ? NULL : "form",
                     "message", al_json_stringn(message.buf, message.len), "requestedSchema",
                     requested_schema(form, request->always_covers != NULL));
}

/* A client may accept for its user without showing the form. */
#define NO_DECISION                                                                                \
    "the client accepted without a decision of the user's, which is once, always or reject"

void al_approval_form_answer(const json_t *result, struct al_approval_answer *ret_answer)
{
    const json_t *content = json_object_get(result, "content");
    const json_t *decision = json_object_get(content, "decision");
    const char *action = al_json_get_string(result, "action");
    const char *reason = al_json_get_string(content, "reason");
    const char *word = json_string_value(decision);
    const bool accepts = action && !strcmp(action, "accept");
    const bool is_word = word && strlen(word) == json_string_length(decision);
    const enum al_answer chosen = accepts && is_word ? al_answer_of(word) : AL_ANSWER_NONE;

    ret_answer->decision = chosen == AL_ANSWER_NONE ? AL_ANSWER_REJECT : chosen;
    if (accepts && chosen == AL_ANSWER_NONE && !reason)
        reason = NO_DECISION;
    if (ret_answer->decision == AL_ANSWER_REJECT && reason)
        al_approval_answer_set_reason(ret_answer, reason);
}

/* --- The answer in a later request --- */

/* The key of the approval in inputRequests and inputResponses. */
#define REQUEST_KEY "approve"

#define STATE_CHARS 32

/* A digest of something that a state is bound to. */
struct digest {
    uint8_t bytes[SHA256_DIGEST_SIZE];
};

struct al_request_state {
    char text[STATE_CHARS + 1]; /* hexadecimal */
    int64_t issued_ms;
    struct digest call;  /* tool and arguments */
    struct digest shown; /* what was shown to the user */
    bool spent;
};

void al_request_states_init(struct al_request_states *states)
{
    *states = (struct al_request_states){ .clock_ms = al_clock_ms };
    (void)pthread_mutex_init(&states->lock, NULL);
}

void al_request_states_clear(struct al_request_states *states)
{
    (void)pthread_mutex_destroy(&states->lock);
    free(states->issued);
}

static void hash_string(struct sha256_ctx *sum, const char *text)
{
    sha256_update(sum, strlen(text) + 1, (const uint8_t *)text);
}

static int hash_piece(const char *data, size_t len, void *sum)
{
    sha256_update(sum, len, (const uint8_t *)data);
    return 0;
}

static struct digest digest_of(struct sha256_ctx *sum)
{
    struct digest digest;

    sha256_digest(sum, sizeof(digest.bytes), digest.bytes);
    return digest;
}

/* A digest of the parsed arguments: white space and the order of names do not matter. */
static struct digest digest_call(const struct al_input_required *input)
{
    struct sha256_ctx sum;

    sha256_init(&sum);
    hash_string(&sum, input->tool);
    if (!input->arguments)
        (void)hash_piece("{}", 2, &sum);
    else if (json_dump_callback(input->arguments, hash_piece, &sum, JSON_COMPACT | JSON_SORT_KEYS) <
             0)
        abort(); /* not an object, or out of memory */
    return digest_of(&sum);
}

static struct digest digest_shown(const struct al_approval_request *request)
{
    struct sha256_ctx sum;

    sha256_init(&sum);
    hash_string(&sum, request->operation);
    hash_string(&sum, request->summary);
    hash_string(&sum, request->detail);
    hash_string(&sum, request->repository);
    hash_string(&sum, request->state);
    hash_string(&sum, request->always_covers ? request->always_covers : "");
    return digest_of(&sum);
}

static bool same(const struct digest *a, const struct digest *b)
{
    return !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

/* Caller holds the lock.  NULL: it is none, or so many came after it that it is not known any more.
 */
static struct al_request_state *find(const struct al_request_states *states, const char *text)
{
    for (size_t i = 0; i < states->nissued && i < AL_REQUEST_STATES_MAX; i++)
        if (text && memeql_sec(states->issued[i].text, text, STATE_CHARS))
            return &states->issued[i];
    return NULL;
}

/* Say why the requestState of a call is refused; NULL: it is not. */
static const char *state_problem(const struct al_input_required *input)
{
    const struct al_request_state *state;
    struct digest call;

    al_hold(&input->request_states->lock);
    state = find(input->request_states, input->state);
    if (!state)
        return "requestState is none of the last ones that this server process has issued; "
               "make the call again without it";
    call = digest_call(input);
    return same(&call, &state->call)
               ? NULL
               : "requestState belongs to a call of another tool or with other arguments; "
                 "make the call again without it";
}

enum al_rpc_code al_input_required_begin(struct al_input_required *input, const json_t *params,
                                         const char **ret_problem)
{
    const json_t *state = json_object_get(params, "requestState");
    const json_t *responses = json_object_get(params, "inputResponses");
    const json_t *response = json_object_get(responses, REQUEST_KEY);

    if (responses && !json_is_object(responses)) {
        *ret_problem = "inputResponses must be an object";
        return AL_RPC_INVALID_PARAMS;
    }
    if (!state)
        return AL_RPC_OK; /* an answer without requestState is ignored */
    if (json_string_length(state) == STATE_CHARS)
        input->state = al_strndup(json_string_value(state), STATE_CHARS);
    *ret_problem = state_problem(input);
    if (*ret_problem)
        return AL_RPC_INVALID_PARAMS;
    if (response)
        al_approval_form_answer(response, &input->answer);
    return AL_RPC_OK;
}

void al_input_required_clear(struct al_input_required *input)
{
    al_str_clear(&input->result);
    al_approval_answer_clear(&input->answer);
    free(input->state);
    *input = AL_INPUT_REQUIRED_INIT;
}

/* False: it was spent before, is too old, or something else was shown. */
static bool spend(const struct al_input_required *input, const struct digest *shown)
{
    struct al_request_states *states = input->request_states;
    struct al_request_state *state;
    bool counts;

    al_hold(&states->lock);
    state = find(states, input->state);
    counts = state && !state->spent &&
             states->clock_ms() - state->issued_ms < AL_REQUEST_STATE_LIFETIME_MS;
    if (counts)
        state->spent = true;
    return counts && same(shown, &state->shown);
}

static void require_input(struct al_input_required *input,
                          const struct al_approval_request *request, const struct digest *shown,
                          struct al_approval_answer *ret_answer)
{
    struct al_request_states *states = input->request_states;
    struct al_request_state state = { .shown = *shown,
                                      .call = digest_call(input),
                                      .issued_ms = states->clock_ms() };
    al_auto(al_json_decrefp) json_t *params =
        al_approval_form_params(AL_APPROVAL_FORM_RESULT, request);

    al_random_hex(STATE_CHARS / 2, state.text);
    al_str_reset(&input->result);
    al_str_adds(&input->result,
                "\"resultType\":\"input_required\",\"inputRequests\":{\"" REQUEST_KEY
                "\":{\"method\":\"elicitation/create\",\"params\":");
    al_json_dump(params, false, &input->result);
    al_str_addf(&input->result, "}},\"requestState\":\"%s\"", state.text);
    ret_answer->decision = AL_ANSWER_LATER;
    al_hold(&states->lock);
    if (states->nissued < AL_REQUEST_STATES_MAX)
        states->issued = al_grow(states->issued, states->nissued, sizeof(*states->issued));
    states->issued[states->nissued++ % AL_REQUEST_STATES_MAX] = state;
}

void al_input_required_ask(struct al_input_required *input,
                           const struct al_approval_request *request,
                           struct al_approval_answer *ret_answer)
{
    const struct digest shown = digest_shown(request);
    al_auto(al_approval_answer_clear) struct al_approval_answer answer = input->answer;

    input->answer = AL_APPROVAL_ANSWER_INIT; /* it answers one request of the call only */
    if (answer.decision == AL_ANSWER_NONE ||
        (!spend(input, &shown) && answer.decision != AL_ANSWER_REJECT)) {
        require_input(input, request, &shown, ret_answer);
        return;
    }
    *ret_answer = answer;
    answer = AL_APPROVAL_ANSWER_INIT;
}
