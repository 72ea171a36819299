// SPDX-License-Identifier: Apache-2.0
/* Stage 5: may this operation with these arguments happen, and who said so. */
#include <stdio.h>
#include <stdlib.h>

#include "gitops/index_lock.h"
#include "gitops/plumbing/state_digest.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "guard/approval.h"
#include "guard/text.h"
#include "guard/url.h"
#include "tool/private.h"

#define RULE_NAME_BYTES 80

static int decided(struct al_call *call, const char *decision, const char *by)
{
    call->decision = decision;
    call->decided_by = by;
    return 0;
}

/* What a tool's lists name, word by word, and what git takes the words for. */
static int add_named(struct al_call *call, struct al_strv *paths, struct al_str *specs,
                     struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < call->tool->nparams; i++) {
        const struct al_param *param = &call->tool->params[i];
        const struct al_strv *list = (const void *)((const char *)call->args + param->offset);

        if (param->type != AL_TYPE_STRINGS)
            continue;
        for (size_t k = 0; k < list->count; k++)
            al_strv_add(paths, list->items[k]);
        if (r == 0 && call->repo && (param->flags & AL_PARAM_PATH))
            r = al_repo_pathspecs(call->repo, list, &call->budget, specs, err);
    }
    return r;
}

/* The user's answer covers HEAD, the index, the files and what words were resolved to as they are
 * now. */
static int bind_to_state(struct al_call *call, char ret_state[65], struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str objects = AL_STR_INIT;
    const struct al_strv *files;
    int r = al_call_resolve(call, err);

    if (r == 0)
        r = al_call_affected_files(call, &files, err);
    if (r == 0)
        r = add_named(call, &paths, &objects, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < files->count; i++)
        al_strv_add(&paths, files->items[i]);
    al_resolved_write(&call->resolved, &objects);
    if (call->repo)
        return al_repo_state(call->repo, &paths, &objects, ret_state, err);
    (void)snprintf(ret_state, 65, "no repository");
    return 0;
}

static char *current_branches(const struct al_call *call)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    struct al_str joined = AL_STR_INIT;

    if (call->repo)
        al_ref_head_branches(&call->repo->at, &names);
    for (size_t i = 0; i < names.count; i++)
        al_str_addf(&joined, "%s\n", names.items[i]);
    return al_str_detach(&joined);
}

/* HEAD's commit is the same on a branch that was just made, and rules may tell the two apart. */
static bool is_on_same_branches(const struct al_call *call)
{
    al_auto(al_freep) char *now = call->branches ? current_branches(call) : NULL;

    return !now || !strcmp(call->branches, now);
}

/* The values that an "always" is for, as the user reads them or (`shown` false) as they are. */
static void add_values(const struct al_call *call, const char *name, bool shown, struct al_str *out)
{
    const struct al_strv *pairs = &call->resolved.pairs;

    for (size_t i = 0; i + 1 < pairs->count; i += 2) {
        const char *value = pairs->items[i + 1];
        al_auto(al_freep) char *safe = NULL;

        if (strcmp(pairs->items[i], name) != 0)
            continue;
        safe = shown ? al_url_shown(value) : NULL;
        al_str_addf(out, "%s%s %s", out->len ? ", " : "", name, safe ? safe : value);
    }
}

static void add_limits(const struct al_call *call, bool shown, struct al_str *out)
{
    const char *const *names = call->tool->always_by;

    for (size_t i = 0; names && names[i]; i++)
        add_values(call, names[i], shown, out);
}

static char *limits_of(const struct al_call *call)
{
    al_auto(al_str_clear) struct al_str limits = AL_STR_INIT;

    add_limits(call, false, &limits);
    return al_str_detach(&limits);
}

/* An "always" was for what the words meant before the call's turn came. */
static bool is_still_covered(const struct al_call *call)
{
    al_auto(al_freep) char *now = call->limits ? limits_of(call) : NULL;

    return !now || !strcmp(call->limits, now);
}

int al_approval_check(struct al_call *call, bool *ret_current, struct al_error *err)
{
    char now[sizeof(call->state)];
    int r;

    *ret_current = is_on_same_branches(call) && is_still_covered(call);
    if (!*ret_current || !call->state[0])
        return 0;
    al_call_forget(call);
    r = bind_to_state(call, now, err);
    if (r == 0)
        *ret_current = !strcmp(call->state, now);
    return r;
}

static const char *name_rule(const struct al_ruling *ruling, char *buf, size_t size)
{
    (void)snprintf(buf, size, "rule %zu of the configuration (line %u)", ruling->number,
                   ruling->line);
    return buf;
}

static int refuse_unasked(struct al_call *call, const struct al_ruling *ruling,
                          struct al_error *err)
{
    al_auto(al_freep) char *said = ruling->message ? al_text_sanitize_line(ruling->message) : NULL;
    al_auto(al_freep) char *line = al_call_command_line(call);
    char rule[RULE_NAME_BYTES];

    (void)decided(call, "none", "none");
    if (ruling->number)
        return al_error_set(
            err, AL_ERR_APPROVAL_REQUIRED,
            "%s\n\n%s%sThis needs a person's approval, as %s says, and nobody could "
            "be asked: there is no terminal, and no client that offers "
            "elicitation. Nothing was done. A user can run it in a terminal%s",
            call->summary, said ? said : "", said ? "\n\n" : "",
            name_rule(ruling, rule, sizeof(rule)), line);
    return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                        "%s\n\nThis needs a person's approval, and nobody could be asked: there is "
                        "no terminal, and no client that offers elicitation. Nothing was done. A "
                        "user can allow such calls with --approval allow, or run this one in a "
                        "terminal%s",
                        call->summary, line);
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

/* One more would take the place of a call that needs nobody. */
static int refuse_crowded(struct al_call *call, struct al_error *err)
{
    (void)decided(call, "none", "none");
    return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                        "%s\n\nThis needs a person's approval, and too many questions wait for an "
                        "answer already. Nothing was done; make the call again when some of them "
                        "are answered.",
                        call->summary);
}

/* What an "always" covers: the operation, and of it what the same rule asks about for the same
 * objects. */
static char *kind_of(const struct al_call *call, const struct al_ruling *ruling)
{
    al_auto(al_freep) char *limits = limits_of(call);

    return al_asprintf("%s %zu %s", call->operation->name, ruling->number, limits);
}

/* What an "always" would cover, as the user reads it; NULL where it would end with the call. */
static char *describe_kind(const struct al_call *call)
{
    al_auto(al_str_clear) struct al_str limits = AL_STR_INIT;

    if (!call->session->approvals)
        return NULL;
    add_limits(call, true, &limits);
    return al_asprintf("every %s (%s)%s%s in this repository, until the session ends",
                       call->tool->name, call->operation->name, limits.len ? " for " : "",
                       limits.buf);
}

static int rejected(struct al_call *call, const struct al_approver *approver, const char *reason,
                    struct al_error *err)
{
    (void)decided(call, "rejected", approver->name);
    if (reason)
        return al_error_set(err, AL_ERR_APPROVAL_DENIED, "Not approved: %s", reason);
    return al_error_set(err, AL_ERR_APPROVAL_DENIED, "Not approved, and nothing was done: %s",
                        call->summary);
}

static int answered(struct al_call *call, const struct al_ruling *ruling,
                    const struct al_approver *approver, const struct al_approval_answer *answer,
                    struct al_error *err)
{
    al_auto(al_freep) char *kind = kind_of(call, ruling);
    const bool always = answer->decision == AL_ANSWER_ALWAYS;

    if (answer->decision == AL_ANSWER_LATER)
        return end_unanswered(call, err);
    if (answer->decision == AL_ANSWER_TOO_MANY)
        return refuse_crowded(call, err);
    if (answer->decision == AL_ANSWER_REJECT)
        return rejected(call, approver, answer->reason, err);
    if (always)
        al_approvals_remember(call->session->approvals, call->tool->name, kind,
                              al_call_repository_path(call));
    return decided(call, always ? "always" : "once", approver->name);
}

/* Ask one after the other, until somebody answers. */
static int ask_approvers(struct al_call *call, const struct al_ruling *ruling,
                         const struct al_approval_request *request, struct al_error *err)
{
    for (size_t i = 0; i < call->input->napprovers; i++) {
        const struct al_approver *approver = &call->input->approvers[i];
        al_auto(al_approval_answer_clear) struct al_approval_answer answer =
            AL_APPROVAL_ANSWER_INIT;
        int r = approver->ask(approver->payload, request, call->input->cancel, &answer, err);

        if (r == AL_ERR_CANCELLED)
            return r;
        if (answer.decision == AL_ANSWER_ALWAYS && !request->always_covers)
            answer.decision = AL_ANSWER_REJECT; /* what was not offered approves nothing */
        if (r == 0 && answer.decision != AL_ANSWER_NONE)
            return answered(call, ruling, approver, &answer, err);
    }
    return refuse_unasked(call, ruling, err);
}

/* A person is not asked about what a lock would keep from being done. */
static int wait_for_lock(struct al_call *call, struct al_error *err)
{
    if (!call->repo || call->tool->at_first_root ||
        !al_effects_change_repository(call->operation->effects))
        return 0;
    return al_index_lock_wait(&call->repo->at, &call->budget, err);
}

static int ask(struct al_call *call, const struct al_ruling *ruling, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str detail = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str shown = AL_STR_INIT;
    al_auto(al_freep) char *covers = describe_kind(call);
    al_auto(al_freep) char *bound = NULL;
    struct al_approval_request request;
    int r;

    /* A state that rules were asked about is older, and covers what is shown all the more. */
    r = wait_for_lock(call, err);
    if (r == 0 && !call->state[0])
        r = bind_to_state(call, call->state, err);
    if (r == 0)
        r = al_call_preview(call, &shown, err);
    if (r < 0)
        return r;
    if (call->asks_nobody) /* as long as the state is this one */
        return decided(call, "auto", "policy");
    if (al_call_was_asked(call)) /* else the same question looks like an answer that was lost */
        al_str_adds(&detail, "Something this depends on changed after your answer, so nothing was "
                             "done. This is what it is now.\n\n");
    if (ruling->message) {
        al_auto(al_freep) char *said = al_text_sanitize_line(ruling->message);

        al_str_addf(&detail, "%s%s", said, shown.len ? "\n\n" : "");
    }
    al_str_add(&detail, shown.buf, shown.len);
    /* An answer that comes with a later call is for this rule, and for these branches. */
    if (call->branches)
        bound = al_asprintf("%s %zu %s", call->state, ruling->number, call->branches);
    request = (struct al_approval_request){
        .tool = call->tool->name,
        .operation = call->operation->name,
        .summary = call->summary,
        .detail = detail.buf,
        .repository = al_call_repository_path(call),
        .risk = al_effects_risk(call->operation->effects),
        .state = bound ? bound : call->state,
        .add_full = call->tool->preview ? al_approval_add_full : NULL,
        .payload = call,
        .always_covers = covers,
    };
    return ask_approvers(call, ruling, &request, err);
}

static int ask_unless_always(struct al_call *call, const struct al_ruling *ruling,
                             struct al_error *err)
{
    al_auto(al_freep) char *kind = kind_of(call, ruling);

    if (call->session->approvals && al_approvals_has(call->session->approvals, call->tool->name,
                                                     kind, al_call_repository_path(call))) {
        call->limits = limits_of(call);
        return decided(call, "always", "policy");
    }
    return ask(call, ruling, err);
}

/* What could not be done anyway is said first, as it is when somebody is asked. */
static int deny(struct al_call *call, const struct al_ruling *ruling, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str detail = AL_STR_INIT;
    al_auto(al_freep) char *said = ruling->message ? al_text_sanitize_line(ruling->message) : NULL;
    char rule[RULE_NAME_BYTES];
    int r = al_call_preview(call, &detail, err);

    if (r < 0)
        return r;
    (void)decided(call, ruling->number ? "rule" : "rejected", "policy");
    if (said)
        return al_error_set(err, AL_ERR_APPROVAL_DENIED, "%s", said);
    if (ruling->number)
        return al_error_set(err, AL_ERR_APPROVAL_DENIED, "%s: denied by %s. Nothing was done",
                            call->summary, name_rule(ruling, rule, sizeof(rule)));
    return al_error_set(err, AL_ERR_APPROVAL_DENIED,
                        "%s: this session refuses everything that needs approval (approval mode "
                        "deny). Nothing was done",
                        call->summary);
}

/* Without rules nothing has to be known about the call.  With them, what they looked at is what
 * has to be there when the call's turn has come. */
static int consult(struct al_call *call, struct al_ruling *ret_ruling, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv branches = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    const struct al_policy *policy = call->session->policy;
    int r = 0;

    if (policy && policy->count) {
        call->branches = current_branches(call);
        if (al_effects_change_repository(call->operation->effects))
            r = bind_to_state(call, call->state, err);
        if (r == 0)
            r = al_call_policy_targets(call, &branches, &paths, NULL, err);
    }
    if (r == 0)
        *ret_ruling = al_call_rule(call, &branches, &paths);
    return r;
}

int al_approval_obtain(struct al_call *call, struct al_error *err)
{
    struct al_ruling ruling = { .decision = AL_APPROVAL_DENY };
    int r;

    call->state[0] = '\0';
    call->asks_nobody = false;
    free(al_take(&call->branches));
    free(al_take(&call->limits));
    al_call_set_expected(call, NULL);
    r = al_call_resolve(call, err); /* words of a call that was overtaken are forgotten */
    if (r == 0)
        r = consult(call, &ruling, err);
    if (r < 0)
        return r;
    switch (ruling.decision) {
    case AL_APPROVAL_ALLOW:
        return decided(call, ruling.number ? "rule" : "auto", "policy");
    case AL_APPROVAL_DENY:
        return deny(call, &ruling, err);
    case AL_APPROVAL_ASK:
        break;
    }
    return ask_unless_always(call, &ruling, err);
}
