// SPDX-License-Identifier: Apache-2.0
/* All of what a question shows an excerpt of, for the user who asks for it before they answer. */
#include "gitops/command.h"
#include "tool/private.h"

/* What the call goes by: the answer is about that, whatever the repository says meanwhile. */
struct known {
    struct al_resolved resolved;
    struct al_strv concerned;
    bool is_resolved, knows_concerned;
};

static struct known put_aside(struct al_call *call)
{
    struct known known = { call->resolved, call->concerned, call->is_resolved,
                           call->knows_concerned };

    call->resolved = AL_RESOLVED_INIT;
    call->concerned = AL_STRV_INIT;
    call->is_resolved = call->knows_concerned = false;
    return known;
}

static void put_back(struct al_call *call, const struct known *known)
{
    al_call_forget(call);
    call->resolved = known->resolved;
    call->concerned = known->concerned;
    call->is_resolved = known->is_resolved;
    call->knows_concerned = known->knows_concerned;
}

/* Another change than the question's must not be taken for it. */
static int check_current(struct al_call *call, struct al_error *err)
{
    const struct known known = put_aside(call);
    bool current = false;
    int r = al_approval_check(call, &current, err);

    put_back(call, &known);
    if (r == 0 && !current)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "what this is about has changed meanwhile, and is asked about again");
    return r;
}

/* The time that looking takes is not the call's, and what was found for its execution stays. */
int al_approval_add_full(void *payload, struct al_str *out, struct al_error *err)
{
    struct al_call *call = payload;
    const struct al_run_limits budget = call->budget;
    const bool asks_nobody = call->asks_nobody;
    char *expected = al_take(&call->expected);
    int r;

    call->budget.in_full = true;
    r = al_call_preview(call, out, err);
    call->budget.in_full = false;
    al_call_set_expected(call, expected);
    call->asks_nobody = asks_nobody;
    if (r == 0)
        r = check_current(call, err);
    call->budget = budget;
    return r;
}
