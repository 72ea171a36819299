// SPDX-License-Identifier: Apache-2.0
/* Stages 5 and 6: decide whether this operation may run with these arguments, for whom the answer
 * counts, and what it is bound to.  The write lock is taken only after the answer; what the answer
 * was about is then looked at again, and asked about again if it has changed. */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "call/failure.h"
#include "call/private.h"
#include "git/command.h"
#include "git/git_lock.h"
#include "git/plumbing/gitdir.h"
#include "git/refs.h"
#include "git/repo/repo.h"
#include "git/repo/write_lock.h"
#include "git/vet/vet.h"
#include "guard/approval.h"
#include "guard/redact.h"
#include "guard/root.h"
#include "guard/text.h"
#include "guard/url.h"
#include "review/message.h"
#include "review/queue.h"
#include "verbs/preview/verify_objects.h"

/* The items of a tool's list arguments, and the pathspecs that git makes of them. */
static int add_named(struct al_call *call, struct al_strv *paths, struct al_str *specs,
                     struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < call->tool->nparams; i++) {
        const struct al_param *param = &call->tool->params[i];
        const struct al_strv *list;

        if (param->type != AL_TYPE_STRINGS)
            continue;
        list = al_args_strings(call->args, param);
        al_strv_add_all(paths, list);
        if (r == 0 && call->repo && (param->flags & AL_PARAM_PATH))
            r = al_repo_pathspecs(call->repo, list, specs, err);
    }
    return r;
}

/* Different lists give different bytes.  An address that was agreed to is not new any more, and the
 * same. */
static void write_resolved(const struct al_strv *resolved, struct al_str *out)
{
    char **pairs = resolved->items;

    for (size_t i = 0; i + 1 < resolved->count; i += 2) {
        if (!strcmp(pairs[i], AL_RESOLVED_NEW_ADDRESS))
            continue;
        al_str_add(out, pairs[i], strlen(pairs[i]) + 1);
        al_str_add(out, pairs[i + 1], strlen(pairs[i + 1]) + 1);
    }
}

bool al_call_has_rules(const struct al_call *call)
{
    const struct al_policy *policy = call->session->policy;

    return policy && (policy->count || (policy->narrower && policy->narrower->count));
}

/* A new branch has the same commit as HEAD, but rules may treat the two differently. */
static void add_head_branches(const struct al_call *call, struct al_str *out)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    if (call->repo && al_call_has_rules(call))
        al_ref_head_branches(&call->repo->at, &names);
    for (size_t i = 0; i < names.count; i++)
        al_str_addf(out, "%s\n", names.items[i]);
}

/* An answer covers HEAD, the index, the affected files and the resolved objects as they are now. */
static int bind_answer(struct al_call *call, char ret_state[65], struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str objects = AL_STR_INIT;
    al_auto(al_freep) char *digest = NULL;
    const struct al_strv *files;
    int r = al_call_resolve_now(call, err);

    if (r == 0)
        r = al_call_affected_files(call, &files, err);
    if (r == 0)
        r = add_named(call, &paths, &objects, err);
    if (r < 0)
        return r;
    al_strv_add_all(&paths, files);
    write_resolved(&call->resolved, &objects);
    add_head_branches(call, &objects);
    if (call->repo && !call->repo->at.is_own)
        return al_repo_state_digest(call->repo, &paths, &objects, ret_state, err);
    /* The state without a repository of the user is what was resolved. */
    digest = al_sha256(objects.buf, objects.len);
    memcpy(ret_state, digest, strlen(digest) + 1);
    return 0;
}

/* The values that an "always" covers: safe text (`shown`), or unchanged. */
static void add_values(const struct al_call *call, const char *name, bool shown, struct al_str *out)
{
    const struct al_strv *pairs = &call->resolved;

    for (size_t i = 0; i + 1 < pairs->count; i += 2) {
        const char *value = pairs->items[i + 1];
        al_auto(al_freep) char *safe = NULL;

        if (strcmp(pairs->items[i], name) != 0)
            continue;
        safe = shown ? al_url_shown(value) : NULL;
        al_str_addf(out, "%s%s %s", out->len ? ", " : "", name, safe ? safe : value);
    }
}

static char *always_values_of(const struct al_call *call, bool shown)
{
    const char *const *names = call->tool->always_by;
    struct al_str values = AL_STR_INIT;

    for (size_t i = 0; names && names[i]; i++)
        add_values(call, names[i], shown, &values);
    return al_str_detach(&values);
}

/* The arguments may mean something else since the "always" was looked up. */
static bool is_still_covered(const struct al_call *call)
{
    al_auto(al_freep) char *now = call->always_values ? always_values_of(call, false) : NULL;

    return !now || !strcmp(call->always_values, now);
}

/* No checkpoint could be taken after it was decided that nobody is asked because of it. */
static bool may_go_unsaved(const struct al_call *call)
{
    return !call->unsaved || strcmp(call->decision, "auto") != 0 ||
           call->session->mode == AL_APPROVAL_ALLOW;
}

static int check_answer(struct al_call *call, bool *ret_current, struct al_error *err)
{
    char now[sizeof(call->state)];
    int r;

    *ret_current = is_still_covered(call) && may_go_unsaved(call);
    if (!*ret_current || !call->state[0])
        return 0;
    al_call_invalidate(call);
    r = bind_answer(call, now, err);
    if (r == 0)
        *ret_current = !strcmp(call->state, now);
    return r;
}

/* Another process that only adds objects disturbs one round, perhaps two. */
#define READINGS_MAX 5

static int preview_once(struct al_call *call, struct al_stable_read *reading, struct al_str *out,
                        bool *ret_stable, struct al_error *err)
{
    int r;

    *ret_stable = true;
    al_stable_read_begin(reading);
    call->budget.stable_read = reading;
    r = call->tool->preview(call, out, err);
    call->budget.stable_read = NULL;
    return r == 0 && call->repo ? al_stable_read_check(call->repo, reading, ret_stable, err) : r;
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    al_auto(al_stable_read_clear) struct al_stable_read reading = AL_STABLE_READ_INIT;
    const bool skips_approval = call->plan.skips_approval;
    const size_t before = out->len;
    bool is_stable = false;
    int r = 0;

    if (!call->tool->preview)
        return 0;
    for (int round = 0; r == 0 && !is_stable; round++) {
        if (round > 0)
            al_stable_read_wait(&call->budget, round);
        al_str_truncate(out, before);
        call->plan.skips_approval = skips_approval;
        r = round < READINGS_MAX
                ? preview_once(call, &reading, out, &is_stable, err)
                : al_error_set(
                      err, AL_ERR_EXECUTION,
                      "The repository's objects keep changing while they are looked at, so what "
                      "they are cannot be shown, and nothing was done; try again when nobody "
                      "else is at work in it");
    }
    return r;
}

/* Showing the full preview does not use up the call's time, and does not change what `execute`
 * expects.  A change that is not the one in the question is not shown. */
static int add_full_preview(void *payload, struct al_str *out, struct al_error *err)
{
    struct al_call *call = payload;
    const struct al_run_limits budget = call->budget;
    const bool skips_approval = call->plan.skips_approval;
    char *expected = al_take(&call->plan.expected);
    bool current = false;
    int r = al_call_resolve_now(call, err); /* an earlier look may have found something else */

    call->budget.in_full = true;
    if (r == 0)
        r = preview(call, out, err);
    call->budget.in_full = false;
    free(call->plan.expected);
    call->plan.expected = expected;
    call->plan.skips_approval = skips_approval;
    if (r == 0)
        r = check_answer(call, &current, err);
    if (r == 0 && !current)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "what this is about has changed meanwhile, and is asked about again");
    call->budget = budget;
    return r;
}

/* A tool with a time of its own may run long, but waits no longer than others to begin. */
static int acquire_lock(struct al_call *call, struct al_error *err)
{
    struct al_run_limits wait = call->budget;
    const uint32_t most_ms = (uint32_t)call->session->defaults.timeout_ms;
    const unsigned locks = AL_LOCK_INDEX | call->operation->locks;
    int r;

    if (!call->repo || call->tool->goes_back)
        return 0;
    if (call->tool->timeout_ms && most_ms && most_ms < wait.left_ms)
        wait.left_ms = most_ms;
    call->budget.left_ms -= wait.left_ms;
    r = call->tool->at_first_root ? al_write_lock_acquire(call->repo, &wait, err)
                                  : al_write_lock_acquire_with(call->repo, locks, &wait, err);
    call->budget.left_ms += wait.left_ms;
    return r;
}

static int await_locks(struct al_call *call, struct al_error *err)
{
    int r;

    if (!call->repo || !al_effects_change_repository(call->operation->effects))
        return 0;
    r = acquire_lock(call, err);
    al_write_lock_release(call->repo);
    return r;
}

static int record_decision(struct al_call *call, const char *decision, const char *by)
{
    call->decision = decision;
    call->decided_by = by;
    return 0;
}

/* --- Asking, at the call's own door and at those of the queue of questions; and the command with
 * which a user can make a call that nobody could be asked about --- */

/* One question while it is asked. */
struct asking {
    struct al_call *call;
    const struct al_approval_request *request;
    struct al_review_queue *queue; /* NULL: the question has no entry */
    struct al_review_entry entry;
    const struct al_approver *own; /* the call's own door; NULL: none */
};

/* Ask at the call's own door.  AL_ERR_CANCELLED also when another door was first. */
static int ask_own(const struct asking *asking, struct al_approval_answer *ret_answer,
                   const char **ret_by, struct al_error *err)
{
    const struct al_approver *own = asking->own;
    struct al_cancel *cancel =
        asking->queue ? asking->entry.withdrawn : asking->call->input->cancel;
    int r;

    if (!own)
        return 0;
    r = own->ask(own->payload, asking->request, cancel, ret_answer, err);
    if (r == AL_ERR_CANCELLED)
        return r;
    *ret_by = own->name;
    if (r < 0)
        ret_answer->decision = AL_ANSWER_NONE; /* a failure counts as no answer */
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
    const struct al_progress *waiting = asking->call->input->waiting;

    if (waiting)
        waiting->report(waiting->payload, "waiting for approval in airlock review");
    al_review_await(asking->queue, &asking->entry, asking->request->meanwhile);
    if (waiting)
        waiting->report(waiting->payload, NULL);
}

/* Ask at every door until the first answer. */
static int ask_in_queue(struct asking *asking, struct al_approval_answer *ret_answer,
                        const char **ret_by, struct al_error *err)
{
    int r = ask_own(asking, ret_answer, ret_by, err);
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

/* Ask whoever can answer a question: at the call's own door, and meanwhile at the doors of the
 * session's queue (review/queue.h).  The first answer counts, of which *ret_by says
 * who gave it, for the journal.  AL_ERR_TIMEOUT when nobody did in time. */
static int ask_doors(struct al_call *call, const struct al_approval_request *request,
                     const char *why, struct al_approval_answer *ret_answer, const char **ret_by,
                     struct al_error *err)
{
    struct al_review_queue *queue = call->session->review;
    struct al_approval_request asked = *request;
    const bool attached = queue && al_review_is_attached(queue);
    const struct al_approver *own = call->input->approver;
    struct asking asking = { .call = call, .request = &asked };
    int r;

    /* A review answers a call that would otherwise end with its question; an answer that the call
     * has brought is looked at first. */
    if (own && !(own->ends_call && !own->has_answer && attached))
        asking.own = own;
    asked.agent = al_call_agent(call);
    asked.why = why;
    if (queue && (asking.own ? !asking.own->ends_call : attached) &&
        al_review_begin(queue, &asked, call->input->client, call->input->cancel, &asking.entry)) {
        const struct al_meanwhile meanwhile = { asking.entry.wanted_fd, give_text, &asking };

        asked.meanwhile = &meanwhile;
        asking.queue = queue;
        return ask_in_queue(&asking, ret_answer, ret_by, err);
    }
    /* A full queue leaves those to ask who need no room in it. */
    asking.own = own;
    r = ask_own(&asking, ret_answer, ret_by, err);
    if (r == 0 && attached && ret_answer->decision == AL_ANSWER_NONE)
        ret_answer->decision = AL_ANSWER_TOO_MANY;
    return r;
}

/** Longer arguments are left out: they would bury the message. */
#define ARGUMENTS_MAX_BYTES 72

/* A root that is the repository needs no option: the user is taken to be in it.  Of several roots
 * each one is needed, and so is one above the repository, which a relative working_dir is of. */
static void add_roots(struct al_str *out, const struct al_call *call)
{
    const struct al_roots *roots = call->session->roots;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    size_t given = 0;

    for (size_t i = 0; roots && i < roots->count; i++) {
        const struct al_root *root = &roots->items[i];
        al_auto(al_freep) char *safe = NULL;

        if (root->is_git_dir || al_root_is_released(root))
            continue;
        given += strcmp(root->path, al_call_repository_path(call)) != 0 ? 2 : 1;
        safe = al_text_sanitize_shown_line(root->path);
        al_str_adds(&words, " --root");
        al_text_add_word(safe, &words);
    }
    if (given > 1)
        al_str_add(out, words.buf, words.len);
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
    al_str_addc(&word, ' ');
    al_text_add_quoted(json.buf, &word);
    if (word.len >= ARGUMENTS_MAX_BYTES)
        return false;
    al_str_add(out, word.buf, word.len);
    return true;
}

/* The same call for a terminal, as text that follows a verb: a colon and the command line; or, if
 * the arguments are long or contain a secret, words that stand for them.  Safe text.  Caller frees.
 */
static char *command_line(const struct al_call *call)
{
    const char *toolset = call->input->tool->toolset->name;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    bool whole;

    if (call->tool->command_line && call->tool->command_line(call, &line))
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

/* Effects that are the reason beside any other. */
#define LASTING (AL_DISCARDS_WORK | AL_REWRITES_HISTORY | AL_LEAVES_MACHINE | AL_RUNS_PROGRAM)

/* Why it asks: "rule 2 of the configuration (line 7)", the condition, or what the operation does.
 * Caller frees. */
static char *describe_reason(const struct al_call *call, const struct al_ruling *ruling)
{
    static const char *const words[AL_EFFECT_COUNT] = { "reads",
                                                        "changes what is staged",
                                                        "changes files of the working tree",
                                                        "discards work",
                                                        "moves branches or tags",
                                                        "rewrites history",
                                                        "changes the configuration",
                                                        "uses the network",
                                                        "sends data to another machine",
                                                        "runs a program",
                                                        "writes files" };
    const unsigned effects = call->operation->effects, lasting = effects & LASTING;
    struct al_str why = AL_STR_INIT;

    if (ruling->number)
        al_ruling_describe(ruling, &why);
    else if (call->form)
        al_str_adds(&why, call->form->condition + strlen("for "));
    for (size_t i = 0; i < AL_COUNT(words) && !ruling->number && !call->form; i++)
        if ((lasting ? lasting : effects) & 1u << i)
            al_str_addf(&why, "%s%s", why.len ? ", " : "it ", words[i]);
    return al_str_detach(&why);
}

/* The rule's message in one line; NULL: it has none.  Caller frees. */
static char *message_of(const struct al_ruling *ruling)
{
    return ruling->rule && ruling->rule->message ? al_text_join_lines(ruling->rule->message) : NULL;
}

/* Nobody has decided. */
static int refuse(struct al_call *call, const char *why, struct al_error *err)
{
    return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                        "%s\n\nThis needs the user's approval, and %s", call->summary, why);
}

static int refuse_no_approver(struct al_call *call, const struct al_ruling *ruling,
                              struct al_error *err)
{
    al_auto(al_freep) char *message = message_of(ruling);
    al_auto(al_freep) char *line = command_line(call);
    al_auto(al_freep) char *reason = describe_reason(call, ruling);
    al_auto(al_freep) char *why = al_asprintf(ruling->number ? ", as %s says" : " (%s)", reason);

    if (call->session->caller_shell)
        return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                            "%s: %s%sthis needs the user's approval%s, and nobody could be asked. "
                            "Nothing was done. The user can open airlock review in a terminal, "
                            "where such calls then wait, allow them with a rule, or run it without "
                            "airlock",
                            call->summary, message ? message : "", message ? " " : "", why);
    return al_error_set(
        err, AL_ERR_APPROVAL_REQUIRED,
        "%s\n\n%s%sThis needs the user's approval%s, and nobody could be asked: there is no "
        "terminal, and no client that offers elicitation. Nothing was done. The user can %s%s",
        call->summary, message ? message : "", message ? "\n\n" : "", why,
        ruling->number ? "run it in a terminal"
                       : "open airlock review in a terminal, where such calls then wait, allow "
                         "them with --approval allow, or run this one in a terminal",
        line);
}

/* The key of an "always": the operation, the rule that asked, and the values the tool limits it to.
 */
static char *always_scope(const struct al_call *call, const struct al_ruling *ruling)
{
    al_auto(al_freep) char *limits = always_values_of(call, false);

    return al_asprintf("%s %zu%s %s", call->operation->name, ruling->number,
                       ruling->narrows ? "w" : "", limits);
}

/* The calls that an "always" would cover, for the user.  Caller frees. */
static char *describe_always_scope(const struct al_call *call)
{
    al_auto(al_freep) char *values = always_values_of(call, true);

    return al_asprintf("every %s (%s)%s%s in this repository, until the session ends",
                       call->tool->name, call->operation->name, *values ? " for " : "", values);
}

static int apply_answer(struct al_call *call, const char *scope, const char *by,
                        const struct al_approval_answer *answer, struct al_error *err)
{
    const bool always = answer->decision == AL_ANSWER_ALWAYS;

    /* This call ends here; the client repeats it with the answer, and the new call passes every
     * stage. */
    if (answer->decision == AL_ANSWER_LATER)
        return refuse(call,
                      "the user is being asked. Nothing was done; the call is to be repeated with "
                      "the answer.",
                      err);
    /* Another pending question would take the place of calls that need no approval. */
    if (answer->decision == AL_ANSWER_TOO_MANY)
        return refuse(call,
                      "too many questions wait for an answer already. Nothing was done; make the "
                      "call again when some of them are answered.",
                      err);
    if (answer->decision == AL_ANSWER_REJECT) {
        (void)record_decision(call, "rejected", by);
        return al_error_set(err, AL_ERR_APPROVAL_DENIED,
                            answer->reason ? "Rejected: %s"
                                           : "Not approved, and nothing was done: %s",
                            answer->reason ? answer->reason : call->summary);
    }
    if (always)
        al_approvals_remember(call->session->approvals, call->tool->name, scope,
                              al_call_repository_path(call));
    return record_decision(call, always ? "always" : "once", by);
}

/* Ask whoever can answer, and do as the first answer says. */
static int ask_approvers(struct al_call *call, const struct al_ruling *ruling,
                         const struct al_approval_request *request, struct al_error *err)
{
    al_auto(al_approval_answer_clear) struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    al_auto(al_freep) char *scope = always_scope(call, ruling); /* of what is shown */
    al_auto(al_freep) char *why = describe_reason(call, ruling);
    al_auto(al_freep) char *late = NULL;
    const char *by = NULL;
    int r = ask_doors(call, request, why, &answer, &by, err);

    if (r == AL_ERR_TIMEOUT) {
        late = al_asprintf("nobody answered within %u s ([tools.approval] wait_s). Nothing was "
                           "done; make the call again when the user can answer.",
                           al_review_wait_s(call->session->review));
        return refuse(call, late, err);
    }
    if (r < 0)
        return r;
    if (answer.decision == AL_ANSWER_NONE)
        return refuse_no_approver(call, ruling, err);
    if (answer.decision == AL_ANSWER_ALWAYS && !request->always_covers)
        answer.decision = AL_ANSWER_REJECT; /* "always" was not offered */
    return apply_answer(call, scope, by, &answer, err);
}

static int ask(struct al_call *call, const struct al_ruling *ruling, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str detail = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str shown = AL_STR_INIT;
    al_auto(al_freep) char *covers = describe_always_scope(call);
    al_auto(al_freep) char *message = message_of(ruling);
    al_auto(al_freep) char *bound = NULL;
    al_auto(al_freep) char *summary = NULL; /* the call may get another one meanwhile */
    struct al_approval_request request;
    size_t framed_at;
    int r;

    /* The user should not approve a call that a lock would stop.  The state is bound already if
     * rules were evaluated; it is older, and so covers what is shown. */
    r = await_locks(call, err);
    if (r == 0 && !call->state[0])
        r = bind_answer(call, call->state, err);
    if (r == 0)
        r = preview(call, &shown, err);
    if (r < 0)
        return r;
    if (call->plan.skips_approval) /* valid while the state stays the same */
        return record_decision(call, "none", "none");
    /* The repository was opened with the addresses and settings of before. */
    if (al_call_was_asked(call) && call->repo && !al_vetting_is_current(call->repo->vetting))
        return al_failure_set(err, "Make the call again: the user is asked about what it says now.",
                              "The configuration changed after the answer; nothing was done");
    if (al_call_was_asked(call)) /* explains why the same question comes again */
        al_str_adds(&detail, "Something this depends on changed after your answer, so nothing was "
                             "done. This is what it is now.\n\n");
    if (call->operation->asks == AL_ASKS_UNLESS_SAVED && !al_call_is_saved(call))
        al_str_addf(&detail, "%s.\n\n", call->unsaved ? call->unsaved : AL_CALL_UNSAVED);
    if (message)
        al_str_addf(&detail, "%s%s", message, shown.len ? "\n\n" : "");
    framed_at = detail.len;
    al_str_add(&detail, shown.buf, shown.len);
    /* An answer that arrives with a later call is valid for this rule only. */
    if (ruling->number)
        bound = al_asprintf("%s %zu%s", call->state, ruling->number, ruling->narrows ? "w" : "");
    summary = al_strdup(call->summary);
    request = (struct al_approval_request){
        .tool = call->tool->name,
        .operation = call->operation->name,
        .summary = summary,
        .detail = detail.buf,
        .framed_at = framed_at,
        .framed_len = call->plan.framed_len,
        .repository = al_call_repository_path(call),
        .risk = al_effects_risk(call->operation->effects),
        .state = bound ? bound : call->state,
        .add_full = call->tool->preview ? add_full_preview : NULL,
        .payload = call,
        .always_covers = call->session->approvals ? covers : NULL,
    };
    (void)record_decision(call, "none", "none"); /* an earlier round's is none of this one */
    r = al_call_record_check(call, err); /* what was resolved may have changed the summary */
    return r < 0 ? r : ask_approvers(call, ruling, &request, err);
}

static int ask_unless_always(struct al_call *call, const struct al_ruling *ruling,
                             struct al_error *err)
{
    al_auto(al_freep) char *scope = always_scope(call, ruling);

    if (call->session->approvals && al_approvals_has(call->session->approvals, call->tool->name,
                                                     scope, al_call_repository_path(call))) {
        call->always_values = always_values_of(call, false);
        return record_decision(call, "always", "policy");
    }
    return ask(call, ruling, err);
}

/* The user's message stands by itself; which rule it is, and what that is not about, stands below.
 */
static int deny_by_rule(const struct al_call *call, const struct al_ruling *ruling,
                        struct al_error *err)
{
    const struct al_rule *rule = ruling->rule;
    const char *pattern = rule->path ? rule->path : rule->branch;
    al_auto(al_freep) char *message = message_of(ruling);
    al_auto(al_str_clear) struct al_str by = AL_STR_INIT, detail = AL_STR_INIT;
    int r;

    al_ruling_describe(ruling, &by);
    r = al_error_set(err, AL_ERR_APPROVAL_DENIED,
                     message ? "%s" : "%s: denied by %s. Nothing was done",
                     message ? message : call->summary, by.buf);
    if (message)
        al_str_addf(&detail, "Denied by %s. Nothing was done.%s", by.buf, pattern ? " " : "");
    if (pattern)
        al_str_addf(&detail, "Calls about other %s than '%s' alone are not denied by this rule.",
                    rule->path ? "paths" : "branches", pattern);
    if (detail.len)
        err->detail = al_str_detach(&detail);
    return r;
}

/* The preview's checks come first, as they do when a user is asked: what cannot be done fails with
 * its own message. */
static int deny(struct al_call *call, const struct al_ruling *ruling, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str detail = AL_STR_INIT;
    int r = preview(call, &detail, err);

    if (r < 0)
        return r;
    (void)record_decision(call, ruling->number ? "rule" : "rejected", "policy");
    if (ruling->number)
        return deny_by_rule(call, ruling, err);
    return al_error_set(err, AL_ERR_APPROVAL_DENIED,
                        "%s: this session refuses everything that needs approval (approval mode "
                        "deny). Nothing was done",
                        call->summary);
}

/* The targets are needed by rules only.  The state that the rules looked at has to be the state
 * when the call runs. */
static int evaluate_policy(struct al_call *call, struct al_ruling *ret_ruling, struct al_error *err)
{
    al_auto(al_explanation_clear) struct al_explanation found = AL_EXPLANATION_INIT;
    const bool ruled = al_call_has_rules(call);
    int r = ruled && al_effects_change_repository(call->operation->effects)
                ? bind_answer(call, call->state, err)
                : 0;

    if (r == 0)
        r = al_call_rule(call, ruled, &found, err);
    *ret_ruling = found.ruling;
    return r;
}

static int obtain(struct al_call *call, struct al_error *err)
{
    struct al_ruling ruling = { .decision = AL_APPROVAL_DENY };
    int r;

    call->state[0] = '\0';
    call->plan.skips_approval = false;
    call->plan.framed_len = 0;
    free(al_take(&call->always_values));
    free(al_take(&call->plan.expected));
    free(al_take(&call->plan.draft));   /* it is about the state that was shown */
    r = al_call_resolve_now(call, err); /* a repeated round starts without resolved values */
    if (r == 0)
        r = evaluate_policy(call, &ruling, err);
    if (r < 0)
        return r;
    if (ruling.decision == AL_APPROVAL_DENY)
        return deny(call, &ruling, err);
    if (ruling.decision == AL_APPROVAL_ALLOW)
        return record_decision(call, ruling.number ? "rule" : "auto", "policy");
    return call->operation->asks == AL_ASKS_ELSEWHERE ? record_decision(call, "auto", "policy")
                                                      : ask_unless_always(call, &ruling, err);
}

/* The number of times that a call is asked about again because the repository changed meanwhile. */
#define ROUNDS_MAX 16

/* Only one call at a time writes to a repository.  Arguments that no answer is bound to are
 * resolved again under the lock: the call before may have made the commit that this one is about.
 * A tool that goes back takes the lock itself, and looks anew then. */
static int lock_for_writing(struct al_call *call, struct al_error *err)
{
    int r;

    if (!al_effects_change_repository(call->operation->effects))
        return 0;
    r = acquire_lock(call, err);
    if (r == 0 && !call->state[0] && !call->tool->goes_back)
        al_call_invalidate(call);
    return r < 0 ? r : al_call_resolve_now(call, err);
}

/* Stages 5 and 6.  An approval is valid only while the repository is what the user was shown.  It
 * is checked last, because creating a checkpoint takes time. */
int al_call_prepare(struct al_call *call, struct al_error *err)
{
    bool current = false;
    int r = 0;

    for (int round = 0; r == 0 && !current; round++) {
        r = round < ROUNDS_MAX
                ? obtain(call, err)
                : al_error_set(err, AL_ERR_EXECUTION,
                               "The repository keeps changing under this call, and nothing was "
                               "done; try again when nobody else is at work in it");
        if (r == 0)
            r = lock_for_writing(call, err);
        if (r == 0 && call->tool->fetch && !call->fetched) {
            call->fetched = true;
            r = call->tool->fetch(call, err);
        }
        if (r == 0)
            r = al_call_checkpoint_before(call, err);
        if (r == 0)
            r = al_call_record_checkpoint(call, err);
        if (r == 0)
            r = check_answer(call, &current, err);
        /* Another writer, whom it waited for, may have pushed what it replaces. */
        current = r == 0 && current && (call->form || !al_call_tighten(call));
        if (!current) {
            al_call_invalidate(call);
            al_call_checkpoint_drop(call);
            al_write_lock_release(call->repo);
        }
    }
    return r;
}
