// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/branch_delete.h"

#include <inttypes.h>
#include <string.h>

#include "answer/answer.h"
#include "gitops/plumbing/worktrees.h"
#include "gitops/porcelain/branch.h"
#include "gitops/refs.h"
#include "toolsets/everyday/everyday.h"

/** Branches whose problem is told. */
#define TOLD_MAX 10

struct problems {
    struct al_str message; /* "'a' is the current branch; there is no branch 'b'" */
    const char *remedy;    /* NULL: there are different ones */
    size_t count;
};

static void problems_clear(struct problems *problems)
{
    al_str_clear(&problems->message);
}

/* A branch of which `message` is true cannot go. */
al_printf(3, 4) static void tell(struct problems *problems, const char *remedy, const char *fmt,
                                 ...)
{
    va_list args;

    if (problems->count++ >= TOLD_MAX)
        return;
    if (problems->count == 1)
        problems->remedy = remedy;
    else if (problems->remedy && strcmp(problems->remedy, remedy) != 0)
        problems->remedy = NULL;
    if (problems->message.len)
        al_str_adds(&problems->message, "; ");
    va_start(args, fmt);
    al_str_addv(&problems->message, fmt, args);
    va_end(args);
}

static const char *force_remedy(const struct al_call *call)
{
    return al_call_session(call)->checkpoints
               ? "With force it goes all the same; git_undo brings it back."
               : "With force it goes all the same, and nothing brings it back.";
}

static const char *short_name(const char *ref)
{
    static const char *const prefixes[] = { "refs/heads/", "refs/remotes/" };

    for (size_t i = 0; i < AL_COUNT(prefixes); i++)
        if (al_starts_with(ref, prefixes[i]))
            return ref + strlen(prefixes[i]);
    return ref;
}

/* git deletes a branch that its upstream has, or, if it has none, HEAD. */
static int look_at_commits(struct al_call *call, const char *name, const struct al_strv *current,
                           struct problems *problems, struct al_error *err)
{
    al_auto(al_branch_unmerged_clear) struct al_branch_unmerged unmerged = { .ahead = 0 };
    const char *here = current->count ? current->items[0] : "HEAD";
    const char *target;
    int r = al_git_branch_unmerged(al_call_repo(call), name, al_call_budget(call), &unmerged, err);

    if (r < 0 || !unmerged.ahead)
        return r;
    target = strcmp(unmerged.target, "HEAD") != 0 ? short_name(unmerged.target) : here;
    if (unmerged.is_in_head)
        tell(problems, force_remedy(call), "'%s' is merged into %s, but %" PRIu64 " ahead of %s",
             name, here, unmerged.ahead, target);
    else
        tell(problems, force_remedy(call),
             "'%s' is not merged: %" PRIu64 " of its commits %s not in %s", name, unmerged.ahead,
             unmerged.ahead == 1 ? "is" : "are", target);
    return 0;
}

static int look_at(struct al_call *call, const char *name, bool force, struct problems *problems,
                   struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", name);
    al_auto(al_strv_clear) struct al_strv current = AL_STRV_INIT;
    bool elsewhere = false;
    int r;

    al_ref_head_branches(&repo->at, &current);
    if (!al_ref_exists(&repo->at, ref)) {
        tell(problems, "git_branch lists the branches there are.", "There is no branch '%s'", name);
        return 0;
    }
    if (al_strv_contains(&current, name)) {
        tell(problems, "git_switch to another branch first.", "'%s' is the current branch", name);
        return 0;
    }
    r = al_git_is_checked_out_elsewhere(repo, ref, al_call_budget(call), &elsewhere, err);
    if (r == 0 && elsewhere)
        tell(problems, "git_status shows the working trees; it can go when none has it.",
             "'%s' is checked out in another working tree", name);
    else if (r == 0 && !force)
        r = look_at_commits(call, name, &current, problems, err);
    return r;
}

int al_branch_delete_check(struct al_call *call, const struct al_strv *names, bool force,
                           struct al_error *err)
{
    al_auto(problems_clear) struct problems problems = { .message = AL_STR_INIT };
    int r = 0;

    for (size_t i = 0; i < names->count && r == 0; i++)
        r = look_at(call, names->items[i], force, &problems, err);
    if (r < 0 || !problems.count)
        return r;
    if (problems.count > TOLD_MAX)
        al_str_addf(&problems.message, "; and %zu more", problems.count - TOLD_MAX);
    return al_failure_set(err,
                          problems.remedy ? problems.remedy
                                          : "Nothing was deleted; git_branch lists the branches.",
                          "%s", problems.message.buf);
}
