// SPDX-License-Identifier: Apache-2.0
/* The full text of a preview that a question shows an excerpt of, for a user who asks to see it. */
#include "gitops/command.h"
#include "tool/private.h"

/* The values that the call has looked up.  The answer is about these values, even if the repository
 * has changed meanwhile. */
struct lookups {
    struct al_resolved resolved;
    struct al_strv affected_files;
    bool is_resolved, has_affected_files;
};

static struct lookups take_lookups(struct al_call *call)
{
    struct lookups saved = { call->resolved, call->affected_files, call->is_resolved,
                             call->has_affected_files };

    call->resolved = AL_RESOLVED_INIT;
    call->affected_files = AL_STRV_INIT;
    call->is_resolved = call->has_affected_files = false;
    return saved;
}

static void restore_lookups(struct al_call *call, const struct lookups *saved)
{
    al_call_invalidate(call);
    call->resolved = saved->resolved;
    call->affected_files = saved->affected_files;
    call->is_resolved = saved->is_resolved;
    call->has_affected_files = saved->has_affected_files;
}

/* Refuse to show a change that is not the one in the question. */
static int check_current(struct al_call *call, struct al_error *err)
{
    const struct lookups saved = take_lookups(call);
    bool current = false;
    int r = al_approval_check(call, &current, err);

    restore_lookups(call, &saved);
    if (r == 0 && !current)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "what this is about has changed meanwhile, and is asked about again");
    return r;
}

/* Showing the full preview does not use up the call's time, and does not change what `execute`
 * expects. */
int al_approval_add_full(void *payload, struct al_str *out, struct al_error *err)
{
    struct al_call *call = payload;
    const struct al_run_limits budget = call->budget;
    const bool skips_approval = call->skips_approval;
    char *expected = al_take(&call->expected);
    int r;

    call->budget.in_full = true;
    r = al_call_preview(call, out, err);
    call->budget.in_full = false;
    al_call_set_expected(call, expected);
    call->skips_approval = skips_approval;
    if (r == 0)
        r = check_current(call, err);
    call->budget = budget;
    return r;
}
