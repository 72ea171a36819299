// SPDX-License-Identifier: Apache-2.0
#include "toolsets/checkout.h"

static const char heads[] = "refs/heads/";

int al_resolve_checkout(struct al_call *call, const char *word, struct al_resolved *out,
                        struct al_error *err)
{
    al_auto(al_checkout_target_clear) struct al_checkout_target target = { .branch = NULL };
    int r = al_git_resolve_checkout(al_call_repo(call), word, al_call_budget(call), &target, err);

    if (r < 0)
        return r;
    if (target.branch)
        al_resolved_add(out, AL_RESOLVED_BRANCH, target.branch);
    if (target.oid)
        al_resolved_add(out, AL_RESOLVED_COMMIT, target.oid);
    if (target.guess)
        al_resolved_add(out, "remote branches", target.guess);
    return 0;
}

void al_resolved_checkout(const struct al_call *call, const char *word,
                          struct al_checkout_options *options)
{
    const char *branch = al_call_resolved(call, AL_RESOLVED_BRANCH);
    const char *commit = al_call_resolved(call, AL_RESOLVED_COMMIT);

    /* HEAD stays on its branch, which its id would not. */
    if (branch)
        options->branch = branch + strlen(heads);
    else if (commit && strcmp(word, "HEAD") != 0)
        options->commit = commit;
    else
        options->branch = word;
}
