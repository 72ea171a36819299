// SPDX-License-Identifier: Apache-2.0
/* Stages 1 and 9: the call's record in the journal, and its updates in between. */
#include "gitops/repo/repo.h"
#include "guard/redact.h"
#include "guard/root.h"
#include "tool/private.h"
#include "tool/spelling.h"
#include "util/clock.h"
#include "util/log.h"

/* Whether a row names a file, a branch or a revision. */
static bool row_is_name(const struct al_param *params, size_t nparams, const char *name)
{
    const unsigned flags = AL_PARAM_PATH | AL_PARAM_OUTPUT | AL_PARAM_BRANCH | AL_PARAM_NAME;

    for (size_t i = 0; i < nparams; i++)
        if (params[i].flags & flags && al_param_is_called(&params[i], name))
            return true;
    return false;
}

static bool is_name(const void *payload, const char *object, const char *member)
{
    const struct al_tool *tool = payload;

    if (!object)
        return row_is_name(tool->params, tool->nparams, member);
    for (size_t i = 0; i < tool->nparams; i++) {
        const struct al_param *param = &tool->params[i];

        if (param->object && al_param_is_called(param, object))
            return row_is_name(param->object->params, param->object->nparams, member);
    }
    return false;
}

/* Stage 1.  Without a journal, reads go on; al_call_record_check() refuses everything else. */
void al_call_record_open(struct al_call *call)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const struct al_record_begin begin = {
        .tool = call->tool->name,
        .agent = al_call_agent(call),
        .session = call->session->number,
        .input = call->input->arguments,
        .names = &(struct al_redact_names){ is_name, call->tool },
    };

    call->began_ms = al_clock_ms();
    if (al_record_open(call->session->journal, &begin, &call->record, &err) < 0)
        al_log_warn("the journal cannot be written: %s", err.message);
}

/* The facts about the call that are known by now. */
static struct al_record_end record_end_of(const struct al_call *call)
{
    return (struct al_record_end){
        .operation = call->operation ? call->operation->name : NULL,
        .effects = call->operation ? call->operation->effects : 0,
        .decision = call->decision ? call->decision : "none",
        .decided_by = call->decided_by ? call->decided_by : "none",
        .summary = call->summary,
        .root = call->repo && call->repo->at.root ? call->repo->at.root->path
                : call->tool->at_first_root       ? al_call_repository_path(call)
                                                  : NULL,
        .repository = call->repo ? al_call_repository_path(call) : NULL,
        .confinement = call->session->confinement,
        .git_commit = call->checkpoint[0] ? call->checkpoint : NULL,
    };
}

/* A running call shows up in the journal with what it is about.  A call with side effects needs
 * this record. */
int al_call_record_check(const struct al_call *call, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    const struct al_record_end known = record_end_of(call);
    int r = al_record_update(call->record, &known, false, &why);

    if (!al_effects_have_side_effects(call->operation->effects))
        return 0;
    if (r == 0)
        r = call->record ? al_journal_check(call->session->journal, &why) : AL_ERR_EXECUTION;
    if (r == 0)
        return 0;
    if (call->record)
        al_log_warn("the journal cannot be written: %s", why.message);
    return al_error_set(err, AL_ERR_EXECUTION,
                        "The journal cannot be written, so nothing that changes anything is done; "
                        "see airlock doctor");
}

void al_call_record_question(const struct al_call *call)
{
    const struct al_record_end known = record_end_of(call);

    (void)al_record_update(call->record, &known, false, NULL);
}

/* If this process dies now, the next one finds out from the record what was begun and which
 * checkpoint to use. */
int al_call_record_checkpoint(struct al_call *call, struct al_error *err)
{
    const struct al_record_end known = record_end_of(call);

    return call->checkpoint[0] ? al_record_update(call->record, &known, true, err) : 0;
}

void al_call_record_close(struct al_call *call, const struct al_result *result)
{
    struct al_record_end end = record_end_of(call);

    end.status = result->not_done ? AL_ERR_EXECUTION : result->status;
    end.dry_run = result->dry_run;
    end.text = result->text.buf;
    end.text_len = result->text.len;
    if (result->confinement)
        end.confinement = result->confinement;
    (void)al_record_close(call->record, &end);
}

/* A call whose tool is not there or that never ran: its arguments are no names. */
void al_call_record_failure(const struct al_session *session, const struct al_call_input *input,
                            const char *tool, const struct al_error *why)
{
    const struct al_tool unknown = { .name = tool };
    struct al_call call = { .session = session, .input = input, .tool = &unknown };
    const struct al_result result = {
        .status = why->status,
        .text = { .buf = why->message, .len = strlen(why->message) },
    };

    al_call_record_open(&call);
    al_call_record_close(&call, &result);
}
