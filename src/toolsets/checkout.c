// SPDX-License-Identifier: Apache-2.0
#include "toolsets/checkout.h"

#include <stdlib.h>

#include "gitops/failure.h"
#include "gitops/plumbing/heads.h"
#include "gitops/preview/affected_files.h"
#include "gitops/refs.h"
#include "guard/text.h"

#define SHOWN_DIGITS 10

/* The remote-tracking branches that git may create a branch from. */
#define RESOLVED_GUESS "remote branches"

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
        al_resolved_add(out, RESOLVED_GUESS, target.guess);
    return 0;
}

void al_resolved_checkout(const struct al_call *call, const char *word,
                          struct al_checkout_options *options)
{
    const char *branch = al_call_resolved(call, AL_RESOLVED_BRANCH);
    const char *commit = al_call_resolved(call, AL_RESOLVED_COMMIT);

    /* A branch is passed by name, since its id would detach HEAD. */
    if (branch)
        options->branch = branch + strlen(heads);
    else if (commit && strcmp(word, "HEAD") != 0)
        options->commit = commit;
    else
        options->branch = word;
}

size_t al_switch_guesses(const struct al_call *call, struct al_str *out)
{
    const char *guess = al_call_resolved(call, RESOLVED_GUESS);
    size_t count = 0;

    for (; guess && *guess; guess += strcspn(guess, "\n") + 1) {
        const char *name = guess + strlen("refs/remotes/");

        al_str_addf(out, "%s%.*s", count++ ? ", " : "", (int)strcspn(name, " "), name);
    }
    return count;
}

/* The commit of the only remote-tracking branch that git could make the branch from.  NULL: there
 * is none, or there are several.  Caller frees. */
static char *guessed_commit(const struct al_call *call)
{
    const char *guess = al_call_resolved(call, RESOLVED_GUESS);
    const char *oid = guess ? strchr(guess, ' ') : NULL;
    const char *end = oid ? strchr(oid, '\n') : NULL;

    return end && !end[1] ? al_strndup(oid + 1, (size_t)(end - oid - 1)) : NULL;
}

int al_switch_changed_files(struct al_call *call, bool *ret_known, struct al_strv *out,
                            struct al_error *err)
{
    const char *commit = al_call_resolved(call, AL_RESOLVED_COMMIT);
    al_auto(al_freep) char *guess = commit ? NULL : guessed_commit(call);

    *ret_known = commit || guess;
    return *ret_known ? al_git_switched_files(al_call_repo(call), commit ? commit : guess,
                                              al_call_budget(call), ret_known, out, err)
                      : 0;
}

/* git may still make the branch from one of a remote. */
static bool names_nothing(const struct al_call *call)
{
    const char *guess = al_call_resolved(call, RESOLVED_GUESS);

    return !al_call_resolved(call, AL_RESOLVED_BRANCH) &&
           !al_call_resolved(call, AL_RESOLVED_COMMIT) && !(guess && *guess);
}

int al_switch_check(struct al_call *call, const char *word, struct al_error *err)
{
    const char *branch = al_call_resolved(call, AL_RESOLVED_BRANCH);
    al_auto(al_freep) char *safe = al_text_sanitize_line(branch ? branch + strlen(heads) : word);
    al_auto(al_freep) char *head = al_ref_read_head(&al_call_repo(call)->at);
    bool elsewhere = false;
    int r = 0;

    if (names_nothing(call))
        return al_git_would_fail(err, "fatal: invalid reference: %s", safe);
    /* The branch that is checked out here may be so elsewhere too. */
    if (branch &&
        !(head && al_starts_with(head, "ref: ") && !strcmp(head + strlen("ref: "), branch)))
        r = al_git_is_checked_out_elsewhere(al_call_repo(call), branch, al_call_budget(call),
                                            &elsewhere, err);
    if (r < 0 || !elsewhere)
        return r;
    return al_git_would_fail(err,
                             "fatal: '%s' is already checked out in another working tree of this "
                             "repository",
                             safe);
}

void al_switch_origin_clear(struct al_switch_origin *origin)
{
    free(origin->commit);
}

struct al_switch_origin al_switch_origin_get(const struct al_call *call)
{
    const struct al_repo *repo = al_call_repo(call);

    return (struct al_switch_origin){ .operation = al_git_operation_state(repo),
                                      .commit = al_ref_head(&repo->at) };
}

void al_switch_preview_operation(const struct al_call *call, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_git_operation_line(al_call_repo(call), 0, &line);
    if (line.len)
        al_str_addf(out, "%s, and switching leaves it unfinished.\n", line.buf);
}

/* Append how to abort the operation. */
static void add_abort(const struct al_call *call, enum al_operation_state operation,
                      struct al_str *out)
{
    const struct al_session *session = al_call_session(call);

    if (al_registry_find(session->registry, "git_merge") &&
        al_grant_has_tool(session->grant, "git_merge"))
        al_str_adds(out, "git_merge with abort gives it up");
    else
        al_str_addf(out, "a user gives it up with 'git %s --abort'",
                    al_operation_state_name(operation));
}

void al_switch_note_operation(const struct al_call *call, const struct al_switch_origin *origin,
                              struct al_result *result)
{
    enum al_operation_state now = al_git_operation_state(al_call_repo(call));
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (origin->operation == AL_IN_PROGRESS_NONE)
        return;
    if (now == AL_IN_PROGRESS_NONE) {
        al_str_addf(&line,
                    "The %s that was in progress is ended, unfinished: a commit made now is "
                    "not part of it",
                    al_operation_state_noun(origin->operation));
    } else {
        al_git_operation_line(al_call_repo(call), 0, &line);
        al_str_addf(&line, " and was left: git_checkout of %.*s goes back to where it stopped, ",
                    SHOWN_DIGITS, origin->commit);
        add_abort(call, now, &line);
    }
    al_result_note(result, line.buf);
}
