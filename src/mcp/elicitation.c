// SPDX-License-Identifier: Apache-2.0
#include "mcp/elicitation.h"

int al_elicitation_ask(struct al_client_requests *requests, struct al_message_sink *sink,
                       enum al_approval_form form, const struct al_approval_request *request,
                       struct al_cancel *cancel, struct al_approval_answer *ret_answer,
                       struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *params = NULL;
    al_auto(al_json_decrefp) json_t *result = NULL;
    struct al_client_question question = { .method = "elicitation/create",
                                           .meanwhile = request->meanwhile };
    int r;

    if (form == AL_APPROVAL_FORM_NONE)
        return 0;
    if (!al_client_requests_reserve(requests)) {
        ret_answer->decision = AL_ANSWER_TOO_MANY;
        return 0;
    }
    params = al_approval_form_params(form, request);
    question.params = params;
    r = al_client_requests_ask(requests, sink, &question, cancel, &result, err);
    al_client_requests_release(requests);
    if (r == 0 && result)
        al_approval_form_answer(result, ret_answer);
    return r;
}
