// SPDX-License-Identifier: Apache-2.0
/* Stage 5: decide whether this operation may run with these arguments, and record who decided. */
#include <stdio.h>
#include <stdlib.h>

#include "gitops/repo/repo.h"
#include "guard/rules/approval.h"
#include "guard/text.h"
#include "review/queue.h"
#include "tool/private.h"

static int record_decision(struct al_call *call, const char *decision, const char *by)
{
    call->decision = decision;
    call->decided_by = by;
    return 0;
}

/* "rule 2 of the configuration (line 7)".  Caller frees. */
static char *name_rule(const struct al_call *call, const struct al_ruling *ruling)
{
    struct al_str name = AL_STR_INIT;

    if (ruling->number)
        al_ruling_describe(ruling, call->session->policy, &name);
    return al_str_detach(&name);
}

static int refuse_no_approver(struct al_call *call, const struct al_ruling *ruling,
                              struct al_error *err)
{
    al_auto(al_freep) char *message = ruling->message ? al_text_join_lines(ruling->message) : NULL;
    al_auto(al_freep) char *line = al_call_command_line(call);
    al_auto(al_freep) char *rule = name_rule(call, ruling);

    (void)record_decision(call, "none", "none");
    if (ruling->number)
        return al_error_set(
            err, AL_ERR_APPROVAL_REQUIRED,
            "%s\n\n%s%sThis needs the user's approval, as %s says, and nobody could "
            "be asked: there is no terminal, and no client that offers "
            "elicitation. Nothing was done. The user can run it in a terminal%s",
            call->summary, message ? message : "", message ? "\n\n" : "", rule, line);
    return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                        "%s\n\nThis needs the user's approval, and nobody could be asked: there is "
                        "no terminal, and no client that offers elicitation. Nothing was done. The "
                        "user can open airlock review in a terminal, where such calls then wait, "
                        "allow them with --approval allow, or run this one in a terminal%s",
                        call->summary, line);
}

/* This call ends here; the client repeats it with the answer, and the new call passes every stage.
 */
static int end_pending(struct al_call *call, struct al_error *err)
{
    (void)record_decision(call, "none", "none");
    return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                        "%s\n\nThis needs the user's approval, and the user is being asked. "
                        "Nothing was done; the call is to be repeated with the answer.",
                        call->summary);
}

/* Another pending question would take the place of calls that need no approval. */
static int refuse_too_many(struct al_call *call, struct al_error *err)
{
    (void)record_decision(call, "none", "none");
    return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                        "%s\n\nThis needs the user's approval, and too many questions wait for an "
                        "answer already. Nothing was done; make the call again when some of them "
                        "are answered.",
                        call->summary);
}

/* The key of an "always": the operation, the rule that asked, and the values the tool limits it to.
 */
static char *always_scope(const struct al_call *call, const struct al_ruling *ruling)
{
    al_auto(al_freep) char *limits = al_approval_always_values(call, false);

    return al_asprintf("%s %zu %s", call->operation->name, ruling->number, limits);
}

/* The calls that an "always" would cover, for the user; NULL if the session cannot remember it. */
static char *describe_always_scope(const struct al_call *call)
{
    al_auto(al_freep) char *values = al_approval_always_values(call, true);

    if (!call->session->approvals)
        return NULL;
    return al_asprintf("every %s (%s)%s%s in this repository, until the session ends",
                       call->tool->name, call->operation->name, *values ? " for " : "", values);
}

static int reject(struct al_call *call, const char *by, const char *reason, struct al_error *err)
{
    (void)record_decision(call, "rejected", by);
    if (reason)
        return al_error_set(err, AL_ERR_APPROVAL_DENIED, "Rejected: %s", reason);
    return al_error_set(err, AL_ERR_APPROVAL_DENIED, "Not approved, and nothing was done: %s",
                        call->summary);
}

static int apply_answer(struct al_call *call, const struct al_ruling *ruling, const char *by,
                        const struct al_approval_answer *answer, struct al_error *err)
{
    al_auto(al_freep) char *scope = always_scope(call, ruling);
    const bool always = answer->decision == AL_ANSWER_ALWAYS;

    if (answer->decision == AL_ANSWER_LATER)
        return end_pending(call, err);
    if (answer->decision == AL_ANSWER_TOO_MANY)
        return refuse_too_many(call, err);
    if (answer->decision == AL_ANSWER_REJECT)
        return reject(call, by, answer->reason, err);
    if (always)
        al_approvals_remember(call->session->approvals, call->tool->name, scope,
                              al_call_repository_path(call));
    return record_decision(call, always ? "always" : "once", by);
}

/* Nobody answered in time. */
static int refuse_unanswered(struct al_call *call, struct al_error *err)
{
    (void)record_decision(call, "none", "none");
    return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                        "%s\n\nThis needs the user's approval, and nobody answered within %u s "
                        "([tools.approval] wait_s). Nothing was done; make the call again "
                        "when the user can answer.",
                        call->summary, al_review_wait_s(call->session->review));
}

/* Ask whoever can answer, and do as the first answer says. */
static int ask_approvers(struct al_call *call, const struct al_ruling *ruling,
                         const struct al_approval_request *request, struct al_error *err)
{
    al_auto(al_approval_answer_clear) struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    al_auto(al_freep) char *rule = name_rule(call, ruling);
    const char *by = NULL;
    int r = al_approval_ask(call, request, rule, &answer, &by, err);

    if (r == AL_ERR_TIMEOUT)
        return refuse_unanswered(call, err);
    if (r < 0)
        return r;
    if (answer.decision == AL_ANSWER_NONE)
        return refuse_no_approver(call, ruling, err);
    if (answer.decision == AL_ANSWER_ALWAYS && !request->always_covers)
        answer.decision = AL_ANSWER_REJECT; /* "always" was not offered */
    return apply_answer(call, ruling, by, &answer, err);
}

static int ask(struct al_call *call, const struct al_ruling *ruling, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str detail = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str shown = AL_STR_INIT;
    al_auto(al_freep) char *covers = describe_always_scope(call);
    al_auto(al_freep) char *bound = NULL;
    al_auto(al_freep) char *summary = NULL; /* the call may get another one meanwhile */
    struct al_approval_request request;
    size_t framed_at;
    int r;

    /* The user should not approve a call that a lock would stop.  If rules were evaluated, the
     * state is bound already; it is older, and so covers what is shown. */
    r = al_call_await_locks(call, err);
    if (r == 0 && !call->state[0])
        r = al_approval_bind(call, call->state, err);
    if (r == 0)
        r = al_call_preview(call, &shown, err);
    if (r < 0)
        return r;
    if (call->skips_approval) /* valid while the state stays the same */
        return record_decision(call, "none", "none");
    if (al_call_was_asked(call)) /* explains why the same question comes again */
        al_str_adds(&detail, "Something this depends on changed after your answer, so nothing was "
                             "done. This is what it is now.\n\n");
    if (call->operation->asks == AL_ASKS_UNLESS_SAVED && !al_call_is_saved(call))
        al_str_addf(&detail,
                    "No checkpoint of this can be taken, so it could not be undone%s%s.\n\n",
                    call->unsaved ? ": " : "", call->unsaved ? call->unsaved : "");
    if (ruling->message) {
        al_auto(al_freep) char *message = al_text_join_lines(ruling->message);

        al_str_addf(&detail, "%s%s", message, shown.len ? "\n\n" : "");
    }
    framed_at = detail.len;
    al_str_add(&detail, shown.buf, shown.len);
    /* An answer that arrives with a later call is valid for this rule and these branches only. */
    if (call->branches)
        bound = al_asprintf("%s %zu %s", call->state, ruling->number, call->branches);
    summary = al_strdup(call->summary);
    request = (struct al_approval_request){
        .tool = call->tool->name,
        .operation = call->operation->name,
        .summary = summary,
        .detail = detail.buf,
        .framed_at = framed_at,
        .framed_len = call->framed_len,
        .repository = al_call_repository_path(call),
        .risk = al_effects_risk(call->operation->effects),
        .state = bound ? bound : call->state,
        .add_full = call->tool->preview ? al_approval_add_full : NULL,
        .payload = call,
        .always_covers = covers,
    };
    al_call_record_question(call);
    return ask_approvers(call, ruling, &request, err);
}

static int ask_unless_always(struct al_call *call, const struct al_ruling *ruling,
                             struct al_error *err)
{
    al_auto(al_freep) char *scope = always_scope(call, ruling);

    if (call->session->approvals && al_approvals_has(call->session->approvals, call->tool->name,
                                                     scope, al_call_repository_path(call))) {
        call->always_values = al_approval_always_values(call, false);
        return record_decision(call, "always", "policy");
    }
    return ask(call, ruling, err);
}

/* The preview's checks come first, as they do when a user is asked: what cannot be done fails with
 * its own message. */
static int deny(struct al_call *call, const struct al_ruling *ruling, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str detail = AL_STR_INIT;
    al_auto(al_freep) char *message = ruling->message ? al_text_join_lines(ruling->message) : NULL;
    al_auto(al_freep) char *rule = name_rule(call, ruling);
    int r = al_call_preview(call, &detail, err);

    if (r < 0)
        return r;
    (void)record_decision(call, ruling->number ? "rule" : "rejected", "policy");
    if (message)
        return al_error_set(err, AL_ERR_APPROVAL_DENIED, "%s", message);
    if (ruling->number)
        return al_error_set(err, AL_ERR_APPROVAL_DENIED, "%s: denied by %s. Nothing was done",
                            call->summary, rule);
    return al_error_set(err, AL_ERR_APPROVAL_DENIED,
                        "%s: this session refuses everything that needs approval (approval mode "
                        "deny). Nothing was done",
                        call->summary);
}

/* Without rules the targets are not needed.  With rules, the state they looked at has to be the
 * state when the call runs. */
static int evaluate_policy(struct al_call *call, struct al_ruling *ret_ruling, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv branches = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    const struct al_policy *policy = call->session->policy;
    int r = 0;

    if (policy && policy->count) {
        call->branches = al_approval_branches(call);
        if (al_effects_change_repository(call->operation->effects))
            r = al_approval_bind(call, call->state, err);
        if (r == 0)
            r = al_call_policy_targets(call, &branches, &paths, NULL, err);
    }
    if (r == 0)
        *ret_ruling = al_call_policy_ruling(call, &branches, &paths);
    return r;
}

int al_approval_obtain(struct al_call *call, struct al_error *err)
{
    struct al_ruling ruling = { .decision = AL_APPROVAL_DENY };
    int r;

    call->state[0] = '\0';
    call->skips_approval = false;
    call->framed_len = 0;
    free(al_take(&call->branches));
    free(al_take(&call->always_values));
    al_call_set_expected(call, NULL);
    al_call_set_draft(call, NULL);  /* it is about the state that was shown */
    r = al_call_resolve(call, err); /* a repeated round starts without resolved values */
    if (r == 0)
        r = evaluate_policy(call, &ruling, err);
    if (r < 0)
        return r;
    switch (ruling.decision) {
    case AL_APPROVAL_ALLOW:
        return record_decision(call, ruling.number ? "rule" : "auto", "policy");
    case AL_APPROVAL_DENY:
        return deny(call, &ruling, err);
    case AL_APPROVAL_ASK:
        break;
    }
    return ask_unless_always(call, &ruling, err);
}
