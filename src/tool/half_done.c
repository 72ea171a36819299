// SPDX-License-Identifier: Apache-2.0
/* The changes of a call that failed: they are put back, or named. */
#include <stdlib.h>

#include "gitops/git_lock.h"
#include "guard/text.h"
#include "history/rollback.h"
#include "tool/private.h"
#include "util/log.h"

#define NAMED_MAX 20

/* A killed git removes its lock at once.  That of another process is waited for only this long. */
#define LOCK_MS         5000u

#define A_USER_RESTORES " A user restores the state before it with 'airlock rollback'"

static void add_name(const struct al_difference *change, struct al_str *out)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(change->name);

    al_str_adds(out, change->part == AL_PART_INDEX   ? "the index"
                     : change->part == AL_PART_STASH ? "the stash"
                                                     : safe);
}

/* A user may edit files while the call runs, so files are put back only if they are those that git
 * has written, or can have written.  What a program does is its own. */
static bool may_put_back(const struct al_call *call)
{
    const unsigned effects = call->operation->effects;

    if (effects & (AL_RUNS_PROGRAM | AL_WRITES_FILES))
        return false;
    return !(effects & AL_WRITES_WORKTREE) || call->knows_touched || call->knows_files;
}

/* Whether a change is worth reporting.  State files that git writes as it begins (ORIG_HEAD) are
 * not, nor are the refs of a fetch, which is complete in itself, nor what somebody else saved. */
static bool is_work(const struct al_call *call, const struct al_difference *change)
{
    if (change->part == AL_PART_WORKTREE && call->knows_touched && may_put_back(call))
        return al_strv_contains_sorted(&call->touched, change->name);
    return change->part != AL_PART_STATE &&
           !(change->part == AL_PART_REF && (al_starts_with(change->name, "refs/remotes/") ||
                                             al_starts_with(change->name, "refs/tags/")));
}

static void list(const struct al_call *call, const struct al_differences *changes,
                 struct al_str *out)
{
    size_t named = 0, more = 0;

    for (size_t i = 0; i < changes->count; i++) {
        if (!is_work(call, &changes->items[i]))
            continue;
        if (named == NAMED_MAX) {
            more++;
            continue;
        }
        al_str_adds(out, named++ ? ", " : "");
        add_name(&changes->items[i], out);
    }
    if (more)
        al_str_addf(out, " and %zu more", more);
}

/* Put everything back, and take the checkpoint after once more: it says what the call changed. */
static bool put_back(struct al_call *call, const char *after, struct al_run_limits *budget,
                     struct al_str *left)
{
    const struct al_checkpoint_reason reason = al_call_reason(call, call->checkpoint);
    struct al_run_limits brief = { .left_ms = LOCK_MS };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    char id[AL_OID_TEXT];
    int r = al_git_lock_wait(&call->repo->at, AL_LOCK_INDEX, &brief, &why);

    if (r == 0)
        r = al_rollback_put_back(call->repo, call->store, call->checkpoint, after,
                                 call->knows_touched ? &call->touched : NULL, budget, left, &why);
    if (r == 0)
        (void)al_checkpoint_create(call->store, &reason, budget, id, &why);
    if (why.message)
        al_log_warn("after %s: %s", call->tool->name, why.message);
    return r == 0;
}

/* What became of the changes, as text; NULL: there is no more to say. */
static char *settle(struct al_call *call, const char *after, const struct al_differences *changes,
                    struct al_run_limits *budget, struct al_error *failure)
{
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str left = AL_STR_INIT;
    bool is_back = changes->count && may_put_back(call) && put_back(call, after, budget, &left);

    list(call, changes, &names);
    if (!names.len)
        return NULL;
    if (!is_back)
        return al_asprintf("The call failed, but it had changed: %s." A_USER_RESTORES, names.buf);
    if (failure->status != AL_ERR_TIMEOUT || left.len)
        return al_asprintf("This failed in the middle of its work, and everything was put back as "
                           "it was%s%s",
                           left.len ? ", but for what somebody else changed meanwhile: " : "",
                           left.buf);
    failure->remedy = "Everything was put back as it was; the user can raise timeout_ms in "
                      "[tools.git] of the configuration.";
    return NULL;
}

void al_call_note_half_done(struct al_call *call, const char *after, struct al_run_limits *budget,
                            struct al_error *failure)
{
    struct al_differences changes = { .items = NULL };

    /* A conflict is left for the caller to resolve, and its message says so.  A rollback checks
     * before it begins, and completes what was interrupted. */
    if (!call->executed || !call->repo || failure->code == AL_CODE_CONFLICT ||
        call->tool->goes_back ||
        !(call->operation->effects & (AL_WRITES_WORKTREE | AL_WRITES_INDEX)))
        return;
    free(call->half_done);
    if (!call->checkpoint[0])
        call->half_done = al_strdup("The call failed and has no checkpoint, so it cannot be told "
                                    "what it changed until then; look at the files it is about");
    else if (!*after || al_checkpoint_changes_of(call->store, call->checkpoint, after, budget,
                                                 &changes, NULL) < 0)
        call->half_done = al_strdup("The call failed, and it cannot be told what it changed until "
                                    "then." A_USER_RESTORES);
    else
        call->half_done = settle(call, after, &changes, budget, failure);
    al_differences_clear(&changes);
}
