// SPDX-License-Identifier: Apache-2.0
/* Stage 5, asking: at the call's own door, and at those of the queue of questions; and the command
 * with which a user can make a call that nobody could be asked about. */
#include <string.h>

#include "base/json.h"
#include "call/private.h"
#include "guard/redact.h"
#include "guard/root.h"
#include "guard/text.h"
#include "review/message.h"
#include "review/queue.h"

/* One question while it is asked. */
struct asking {
    struct al_call *call;
    const struct al_approval_request *request;
    struct al_review_queue *queue; /* NULL: the question has no entry */
    struct al_review_entry entry;
    bool attached; /* a review was attached when the question was put */
};

/* A review answers a call that would otherwise end with its question.  An answer that the call has
 * brought is looked at first. */
static bool is_replaced(const struct asking *asking, const struct al_approver *approver)
{
    return approver->ends_call && !approver->has_answer && asking->attached;
}

/* Whether somebody could answer while the call waits. */
static bool can_wait(const struct asking *asking)
{
    const struct al_call_input *input = asking->call->input;
    bool waits = asking->attached;

    for (size_t i = 0; i < input->napprovers; i++) {
        if (input->approvers[i].ends_call && !is_replaced(asking, &input->approvers[i]))
            return false;
        waits |= !input->approvers[i].ends_call;
    }
    return waits;
}

/* Ask one approver after the other, until one has an answer.  AL_ERR_CANCELLED also when another
 * door was first. */
static int ask_each(const struct asking *asking, struct al_approval_answer *ret_answer,
                    const char **ret_by, struct al_error *err)
{
    const struct al_call_input *input = asking->call->input;
    struct al_cancel *cancel = asking->queue ? asking->entry.withdrawn : input->cancel;

    for (size_t i = 0; i < input->napprovers; i++) {
        const struct al_approver *approver = &input->approvers[i];
        int r;

        if (is_replaced(asking, approver))
            continue;
        al_approval_answer_clear(ret_answer);
        al_error_clear(err);
        r = approver->ask(approver->payload, asking->request, cancel, ret_answer, err);
        if (r == AL_ERR_CANCELLED)
            return r;
        *ret_by = approver->name;
        if (r == 0 && ret_answer->decision != AL_ANSWER_NONE)
            return 0;
        ret_answer->decision = AL_ANSWER_NONE; /* a failure counts as no answer */
    }
    al_error_clear(err);
    return 0;
}

/* Make the whole text for a door that wants it.  Another door's answer ends this too. */
static void give_text(void *payload)
{
    struct asking *asking = payload;
    const struct al_approval_request *request = asking->request;
    struct al_run_limits *budget = &asking->call->budget;
    struct al_cancel *const cancel = budget->cancel;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = 0;

    if (!al_review_wants_text(asking->queue, &asking->entry))
        return;
    al_str_add(&text, request->detail,
               request->add_full ? request->framed_at : strlen(request->detail));
    budget->cancel = asking->entry.withdrawn;
    if (request->add_full)
        r = request->add_full(request->payload, &text, &err);
    budget->cancel = cancel;
    (void)al_text_truncate(&text, AL_REVIEW_WHOLE_MAX_BYTES);
    al_review_give_text(asking->queue, &asking->entry, &text,
                        r == 0        ? NULL
                        : err.message ? err.message
                                      : "it cannot be made");
}

/* Wait for a review alone. */
static void await_review(struct asking *asking)
{
    const struct al_waiting *waiting = asking->call->input->waiting;

    if (waiting)
        waiting->set(waiting->payload, "waiting for approval in airlock review");
    al_review_await(asking->queue, &asking->entry, asking->request->meanwhile);
    if (waiting)
        waiting->set(waiting->payload, NULL);
}

/* Ask at every door until the first answer. */
static int ask_in_queue(struct asking *asking, struct al_approval_answer *ret_answer,
                        const char **ret_by, struct al_error *err)
{
    int r = ask_each(asking, ret_answer, ret_by, err);
    const bool is_asked =
        ret_answer->decision != AL_ANSWER_NONE && ret_answer->decision != AL_ANSWER_TOO_MANY;
    enum al_review_state state;

    /* A question that is put for a review waits: if that one dies, another one has it. */
    if (r == 0 && !is_asked && (!*ret_by || al_review_is_attached(asking->queue)))
        await_review(asking);
    state = al_review_end(asking->queue, &asking->entry, ret_answer);
    if (state == AL_REVIEW_WAITS)
        return r;
    al_error_clear(err);
    if (state == AL_REVIEW_OVER)
        return AL_ERR_TIMEOUT;
    if (state == AL_REVIEW_CANCELLED)
        return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    *ret_by = "review";
    return 0;
}

int al_approval_ask(struct al_call *call, const struct al_approval_request *request,
                    const char *why, struct al_approval_answer *ret_answer, const char **ret_by,
                    struct al_error *err)
{
    struct al_review_queue *queue = call->session->review;
    struct al_approval_request asked = *request;
    struct asking asking = {
        .call = call,
        .request = &asked,
        .attached = queue && al_review_is_attached(queue),
    };
    bool is_full;
    int r;

    asked.agent = al_call_agent(call);
    asked.why = why;
    if (queue && can_wait(&asking) &&
        al_review_begin(queue, &asked, call->input->client, call->input->cancel, &asking.entry)) {
        const struct al_meanwhile meanwhile = { asking.entry.wanted_fd, give_text, &asking };

        asked.meanwhile = &meanwhile;
        asking.queue = queue;
        return ask_in_queue(&asking, ret_answer, ret_by, err);
    }
    /* Without room in the queue only those are asked who need none. */
    is_full = asking.attached;
    asking.attached = false;
    r = ask_each(&asking, ret_answer, ret_by, err);
    if (r == 0 && is_full && ret_answer->decision == AL_ANSWER_NONE)
        ret_answer->decision = AL_ANSWER_TOO_MANY;
    return r;
}

/** Longer arguments are left out: they would bury the message. */
#define ARGUMENTS_MAX_BYTES 72

/* Append JSON as one shell word in single quotes.  In JSON of printable ASCII an apostrophe occurs
 * only inside strings, where an escape can replace it; so does DEL. */
static void add_quoted(struct al_str *out, const struct al_str *json)
{
    al_str_adds(out, " '");
    for (size_t i = 0; i < json->len; i++) {
        if (json->buf[i] == '\'' || json->buf[i] == 0x7f)
            al_str_addf(out, "\\u%04x", (unsigned)json->buf[i]);
        else
            al_str_addc(out, json->buf[i]);
    }
    al_str_addc(out, '\'');
}

/* Append a path as one shell word. */
static void add_path(struct al_str *out, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=@%:,./";
    al_auto(al_freep) char *safe = al_text_sanitize_shown_line(path);

    if (strspn(safe, plain) == strlen(safe))
        al_str_adds(out, safe);
    else
        al_text_add_quoted(safe, out);
}

/* A root that is the repository needs no option: the user is taken to be in it.  Of several roots
 * each one is needed, and so is one above the repository, which a relative working_dir is of. */
static void add_roots(struct al_str *out, const struct al_call *call)
{
    const struct al_roots *roots = al_call_session(call)->roots;
    const size_t count = roots ? roots->count : 0;
    size_t given = 0;

    for (size_t i = 0; i < count; i++) {
        const struct al_root *root = &roots->items[i];

        if (!root->is_git_dir && !al_root_is_released(root))
            given += strcmp(root->path, al_call_repository_path(call)) != 0 ? 2 : 1;
    }
    for (size_t i = 0; i < count && given > 1; i++) {
        if (roots->items[i].is_git_dir || al_root_is_released(&roots->items[i]))
            continue;
        al_str_adds(out, " --root ");
        add_path(out, roots->items[i].path);
    }
}

/* Returns false for arguments that the journal would redact, and for long ones. */
static bool add_arguments(struct al_str *out, const json_t *arguments)
{
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT, word = AL_STR_INIT;
    al_auto(al_json_decrefp) json_t *clean = al_redact_json(arguments, NULL);

    if (!arguments || !json_object_size(arguments))
        return true;
    if (!json_equal(clean, arguments))
        return false;
    al_json_dump(arguments, true, &json);
    add_quoted(&word, &json);
    if (word.len >= ARGUMENTS_MAX_BYTES)
        return false;
    al_str_add(out, word.buf, word.len);
    return true;
}

char *al_call_command_line(const struct al_call *call)
{
    const char *toolset = call->input->tool->toolset->name;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    bool whole;

    if (call->tool->command_line && call->tool->command_line(call, call->args, &line))
        return al_asprintf(": %s", line.buf);
    al_str_reset(&line);
    al_str_adds(&line, "airlock call");
    add_roots(&line, call);
    if (!call->tool->definition)
        al_str_addf(&line, " --toolset %s", toolset);
    al_str_addf(&line, " %s", call->tool->name);
    whole = add_arguments(&line, call->input->arguments);
    return al_asprintf("%s: %s", whole ? "" : ", with its arguments", line.buf);
}
