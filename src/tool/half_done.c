// SPDX-License-Identifier: Apache-2.0
/* The changes of a call that failed. */
#include <stdlib.h>

#include "guard/text.h"
#include "history/rollback_put_back.h"
#include "tool/private.h"
#include "util/log.h"

#define NAMED_MAX 20

/* A conflict is left for the caller to resolve, and its message says so. */
static bool is_left_on_purpose(const struct al_error *failure)
{
    return failure->code == AL_CODE_CONFLICT;
}

static void add_name(const struct al_difference *change, struct al_str *out)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(change->name);

    if (change->part == AL_PART_INDEX)
        al_str_adds(out, "the index");
    else if (change->part == AL_PART_STASH)
        al_str_adds(out, "the stash");
    else
        al_str_adds(out, safe);
}

/* Whether a change is worth reporting.  State files that git writes as it begins (ORIG_HEAD) are
 * not, nor are the refs of a fetch, which is complete in itself. */
static bool is_work(const struct al_difference *change)
{
    return change->part != AL_PART_STATE &&
           !(change->part == AL_PART_REF && (al_starts_with(change->name, "refs/remotes/") ||
                                             al_starts_with(change->name, "refs/tags/")));
}

static void list(const struct al_differences *changes, struct al_str *out)
{
    size_t named = 0, more = 0;

    for (size_t i = 0; i < changes->count; i++) {
        if (!is_work(&changes->items[i]))
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

static char *describe_changes(struct al_call *call, const char *after, struct al_run_limits *budget)
{
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    struct al_differences changes = { .items = NULL };

    if (!call->checkpoint[0])
        return al_strdup("The call failed and has no checkpoint, so it cannot be told what it "
                         "changed until then; look at the files it is about");
    if (!*after ||
        al_checkpoint_changes_of(call->store, call->checkpoint, after, budget, &changes, NULL) < 0)
        return al_strdup(
            "The call failed, and it cannot be told what it changed until then. A user "
            "restores the state before it with 'airlock rollback'");
    list(&changes, &names);
    al_differences_clear(&changes);
    return names.len
               ? al_asprintf("The call failed, but it had changed: %s. A user restores the state "
                             "before it with 'airlock rollback'",
                             names.buf)
               : NULL;
}

/* Put everything back, and take the checkpoint after once more: it says what the call changed. */
static bool put_back(struct al_call *call, const char *after, struct al_run_limits *budget)
{
    const struct al_checkpoint_reason reason = { .tool = call->tool->name,
                                                 .operation = call->operation->name,
                                                 .without = call->without,
                                                 .before = call->checkpoint };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    char id[AL_OID_TEXT];
    int r = al_rollback_put_back(call->repo, call->store, call->checkpoint, after, budget, &why);

    if (r == 0)
        (void)al_checkpoint_create(call->store, &reason, budget, id, &why);
    if (why.message)
        al_log_warn("after %s: %s", call->tool->name, why.message);
    return r == 0;
}

/* A user may have edited files while the call ran, for as long as its network took.  So files are
 * put back only if they are those that git can have written. */
static bool may_put_back(const struct al_call *call, const char *after)
{
    const unsigned effects = call->operation->effects;

    if (!call->tool->puts_back || !call->checkpoint[0] || !*after)
        return false;
    return !(effects & AL_WRITES_WORKTREE) || (call->knows_files && !(effects & AL_USES_NETWORK));
}

void al_call_note_half_done(struct al_call *call, const char *after, struct al_run_limits *budget,
                            const struct al_error *failure)
{
    /* A rollback checks before it begins, and completes what was interrupted. */
    if (!call->executed || !call->repo || is_left_on_purpose(failure) || call->tool->goes_back ||
        !(call->operation->effects & (AL_WRITES_WORKTREE | AL_WRITES_INDEX)))
        return;
    free(call->half_done);
    call->half_done = describe_changes(call, after, budget);
    if (!call->half_done || !may_put_back(call, after))
        return;
    if (put_back(call, after, budget)) {
        free(call->half_done);
        call->half_done = al_strdup("This failed in the middle of its work, and everything was put "
                                    "back as it was");
    }
}
