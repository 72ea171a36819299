// SPDX-License-Identifier: Apache-2.0
/* Stage 5: may this operation with these arguments happen, and who said so. */
#include "guard/approval.h"

#include <stdlib.h>

#include "tool/private.h"

static int decided(struct al_call *call, const char *decision, const char *by)
{
    call->decision = decision;
    call->decided_by = by;
    return 0;
}

/* What a tool's lists name, word by word. */
static void add_named(const struct al_call *call, struct al_strv *paths)
{
    for (size_t i = 0; i < call->tool->nparams; i++) {
        const struct al_param *param = &call->tool->params[i];
        const struct al_strv *list = (const void *)((const char *)call->args + param->offset);

        for (size_t k = 0; param->type == AL_TYPE_STRINGS && k < list->count; k++)
            al_strv_add(paths, list->items[k]);
    }
}

/* The person's answer covers HEAD, the index and the files as they are now. */
static int bind_to_state(struct al_call *call, char ret_state[65], struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    int r = 0;

    add_named(call, &paths);
    if (call->tool->concerns)
        r = call->tool->concerns(call, call->args, &paths, err);
    if (r == 0)
        al_repo_state(call->repo, &paths, ret_state);
    return r;
}

int al_approval_check(struct al_call *call, bool *ret_current, struct al_error *err)
{
    char now[sizeof(call->state)];
    int r;

    *ret_current = true;
    if (!call->state[0])
        return 0;
    r = bind_to_state(call, now, err);
    if (r == 0)
        *ret_current = !strcmp(call->state, now);
    return r;
}

static int preview(struct al_call *call, struct al_str *detail, struct al_error *err)
{
    if (!call->tool->preview)
        return 0;
    return call->tool->preview(call, call->operation, call->args, detail, err);
}

static int refuse_unasked(struct al_call *call, struct al_error *err)
{
    (void)decided(call, "none", "none");
    return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                        "%s\n\nThis needs a person's approval, and nobody could be asked: there is "
                        "no terminal, and no client that offers elicitation. Nothing was done. A "
                        "person can run it in a terminal with 'airlock call %s', or allow such "
                        "calls with --approval allow.",
                        call->summary, call->tool->name);
}

/* The call with the answer passes every stage itself: of this one nothing is left but its record.
 */
static int end_unanswered(struct al_call *call, struct al_error *err)
{
    (void)decided(call, "none", "none");
    return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                        "%s\n\nThis needs a person's approval, and they are being asked. Nothing "
                        "was done; the call is to be repeated with their answer.",
                        call->summary);
}

static int answered(struct al_call *call, const struct al_approver *approver, enum al_answer answer,
                    struct al_error *err)
{
    if (answer == AL_ANSWER_LATER)
        return end_unanswered(call, err);
    if (answer == AL_ANSWER_REJECT) {
        (void)decided(call, "rejected", approver->name);
        return al_error_set(err, AL_ERR_APPROVAL_DENIED,
                            "Not approved, and nothing was done: %s",
                            call->summary);
    }
    if (answer == AL_ANSWER_ALWAYS)
        al_approvals_remember(call->session->approvals, call->tool->name, call->operation->name,
                              call->repo->top);
    return decided(call, answer == AL_ANSWER_ALWAYS ? "always" : "once", approver->name);
}

static int ask(struct al_call *call, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str detail = AL_STR_INIT;
    struct al_approval_request request;
    int r;

    r = bind_to_state(call, call->state, err);
    if (r == 0)
        r = preview(call, &detail, err);
    if (r < 0)
        return r;
    request = (struct al_approval_request){
        .tool = call->tool->name,
        .operation = call->operation->name,
        .summary = call->summary,
        .detail = detail.buf,
        .repository = call->repo->top,
        .risk = al_effects_risk(call->operation->effects),
        .state = call->state,
    };
    for (size_t i = 0; i < call->input->napprovers; i++) {
        const struct al_approver *approver = &call->input->approvers[i];
        enum al_answer answer = AL_ANSWER_NONE;

        r = approver->ask(approver->payload, &request, call->input->cancel, &answer, err);
        if (r == AL_ERR_CANCELLED)
            return r;
        if (r == 0 && answer != AL_ANSWER_NONE)
            return answered(call, approver, answer, err);
    }
    return refuse_unasked(call, err);
}

/* What could not be done anyway is said first, as it is when somebody is asked. */
static int deny(struct al_call *call, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str detail = AL_STR_INIT;
    int r = preview(call, &detail, err);

    if (r < 0)
        return r;
    (void)decided(call, "rejected", "policy");
    return al_error_set(err, AL_ERR_APPROVAL_DENIED,
                        "%s: this session refuses everything that needs approval (approval mode "
                        "deny). Nothing was done",
                        call->summary);
}

int al_approval_obtain(struct al_call *call, struct al_error *err)
{
    const struct al_session *session = call->session;

    call->state[0] = '\0';
    if (!al_effects_change_repository(call->operation->effects))
        return decided(call, "auto", "policy");
    if (session->mode == AL_APPROVAL_ALLOW)
        return decided(call, "auto", "policy");
    if (session->mode == AL_APPROVAL_DENY)
        return deny(call, err);
    if (al_approvals_has(session->approvals, call->tool->name, call->operation->name,
                         call->repo->top))
        return decided(call, "always", "policy");
    return ask(call, err);
}
