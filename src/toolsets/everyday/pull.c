// SPDX-License-Identifier: Apache-2.0
/* git_pull: fetch a branch, then merge it or rebase on it. */
#include <stdlib.h>

#include "answer/answer.h"
#include "answer/place.h"
#include "gitops/plumbing/heads.h"
#include "gitops/plumbing/revision.h"
#include "gitops/refs.h"
#include "gitops/replay/commit_list.h"
#include "gitops/replay/merge_guard.h"
#include "gitops/replay/work.h"
#include "gitops/repo/remotes.h"
#include "gitops/repo/repo.h"
#include "tool/resolved.h"
#include "toolsets/everyday/everyday.h"
#include "toolsets/everyday/outcome.h"
#include "toolsets/everyday/remote_branch.h"
#include "toolsets/everyday/replay.h"
#include "toolsets/transfer.h"

struct pull_args {
    const char *remote, *branch;
    bool rebase;
    AL_EVERYDAY_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct pull_args, remote, "Remote.", .flags = AL_PARAM_NO_DESCRIPTION | AL_PARAM_NAME,
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    AL_STRING(struct pull_args, branch, "Default: the one that is followed.",
              .flags = AL_PARAM_NAME | AL_PARAM_NO_DESCRIPTION,
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    AL_BOOL(struct pull_args, rebase, "Rebase instead of merge.", .default_int = 0),
    AL_EVERYDAY_WORKING_DIR_ROW(struct pull_args),
};

#define REWRITES                                                                                   \
    "rewrites" /* a resolved value: HEAD's commit, if published commits are rewritten */

/* The parts of a pull. */
struct pull {
    struct al_remote remote;
    char *current;  /* the local branch; NULL: HEAD is detached */
    char *branch;   /* the branch at the remote */
    char *head;     /* the commit of HEAD before; "" on an unborn branch */
    char *tracking; /* the remote-tracking reference; NULL: none */
    char *name;     /* "origin/main" */
};

static void pull_clear(struct pull *pull)
{
    al_remote_clear(&pull->remote);
    free(pull->current);
    free(pull->branch);
    free(pull->head);
    free(pull->tracking);
    free(pull->name);
}

static int check(const void *p, struct al_error *err)
{
    const struct pull_args *args = p;

    return al_transfer_check(args->remote ? args->remote : AL_DEFAULT_REMOTE, args->branch, err);
}

static int prepare(struct al_call *call, const struct pull_args *args, struct pull *pull,
                   struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *remote = NULL;
    int r = al_everyday_check_idle(call, err);

    if (r < 0)
        return r;
    r = al_everyday_current_branch(call, &pull->current, args->branch ? NULL : err);
    if (r < 0 && !args->branch)
        return r;
    remote =
        args->remote ? al_strdup(args->remote) : al_everyday_default_remote(call, pull->current);
    r = al_remote_find(repo, remote, &pull->remote, err);
    if (r < 0)
        return r;
    pull->branch = args->branch ? al_strdup(args->branch)
                                : al_remote_upstream(repo, &pull->remote, pull->current);
    if (!pull->branch)
        pull->branch = al_strdup(pull->current);
    pull->head = al_ref_head(&repo->at);
    pull->tracking = al_remote_tracking(&pull->remote, pull->branch);
    pull->name = al_asprintf("%s/%s", pull->remote.name, pull->branch);
    return 0;
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct pull_args *args = p;
    al_auto(pull_clear) struct pull pull = { .remote = AL_REMOTE_INIT };
    int r = prepare(call, args, &pull, err);

    if (r == 0)
        r = al_transfer_authorize(call, pull.remote.name, err);
    if (r == 0 && *pull.head)
        r = al_replay_check_clean(al_call_repo(call), args->rebase, al_call_budget(call), err);
    return r == 0 ? al_git_check_signature(al_call_repo(call), err) : r;
}

static int merge(struct al_call *call, const struct pull *pull, struct al_result *result,
                 struct al_error *err)
{
    al_auto(al_freep) char *message =
        al_transfer_merge_message(&pull->remote, pull->branch, pull->current);
    const struct al_merge_options options = { .commit =
                                                  pull->tracking ? pull->tracking : "FETCH_HEAD",
                                              .message = message };
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    int r = al_merge_guard_run(al_call_repo(call), &options, al_call_max_bytes(call),
                               al_call_budget(call), &outcome, err);

    return r < 0 ? r : al_merged_answer(call, pull->name, &outcome, NULL, result, err);
}

static bool is_published(struct al_call *call, const void *p)
{
    (void)p;
    return al_call_resolved(call, REWRITES) != NULL;
}

/* Whether commits that a remote-tracking branch has would be rewritten.  Before the fetch the user
 * can be asked; what only the fetch shows is left to git_rebase.  A question about the address is
 * none about this. */
static int check_published(struct al_call *call, const struct al_replay_work *work,
                           struct al_error *err)
{
    const struct al_replayed *done = &work->replayed;
    bool published;
    int r = al_git_has_pushed(al_inmemory_repo(work->memory), work->head,
                              done->stopped ? work->onto : done->tip, al_call_budget(call),
                              &published, err);

    if (r < 0 || !published || is_published(call, NULL))
        return r;
    return al_failure_set(err, "git_rebase asks about that; or pull without rebase.",
                          "It was fetched, but the rebase would rewrite commits that a "
                          "remote-tracking branch has");
}

static void add_rebased(const struct al_replay_work *work, const struct al_rebase_list *list,
                        const struct pull *pull, const struct al_merge_outcome *outcome,
                        struct al_str *text)
{
    if (outcome->up_to_date) {
        al_str_adds(text, "Nothing to do: the branch has ");
        al_place_add_name(pull->name, text);
        al_str_adds(text, " already.\n");
        return;
    }
    al_str_adds(text, work->nsteps ? "Rebased onto " : "Moved on to ");
    al_place_add_name(pull->name, text);
    if (work->nsteps) {
        al_str_adds(text, ", ");
        al_answer_add_counted(work->nsteps, "commit", "commits", text);
        al_str_adds(text, " replayed");
    }
    if (list->known)
        al_str_addf(text, ", %zu left out that %s there already", list->known,
                    list->known == 1 ? "is" : "are");
    al_str_adds(text, ".\n");
}

static int rebase(struct al_call *call, const struct pull *pull, struct al_result *result,
                  struct al_error *err)
{
    static const char *const hooks[] = { "pre-rebase", "post-checkout", "post-rewrite", NULL };
    struct al_repo *repo = al_call_repo(call);
    struct al_replay_work *work = al_replay_work_new();
    al_auto(al_rebase_list_clear) struct al_rebase_list list = { .merges = 0 };
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *onto = NULL;
    int r = al_git_resolve_commit(repo, pull->tracking ? pull->tracking : "FETCH_HEAD",
                                  al_call_budget(call), &onto, err);

    if (r == 0)
        r = al_replay_work_rebase(repo, work, onto, pull->name, al_call_budget(call), &list, err);
    if (r == 0)
        r = check_published(call, work, err);
    if (r == 0)
        r = al_replay_work_do(repo, work, al_call_max_bytes(call), al_call_budget(call), &outcome,
                              err);
    if (r == 0)
        add_rebased(work, &list, pull, &outcome, &text);
    al_replay_work_free(work);
    if (r < 0)
        return r;
    if (outcome.conflicted || outcome.in_progress) {
        al_str_reset(&text);
        al_str_adds(&text, "Fetched; the rebase onto ");
        al_place_add_name(pull->name, &text);
        al_str_adds(&text, " stopped at a conflict.\n");
        return al_outcome_stopped(call, &text, result, err);
    }
    al_outcome_add_skipped(call, hooks, !outcome.up_to_date, &text);
    al_answer_done(call, &text, result);
    return 0;
}

static int fetch(struct al_call *call, const void *p, struct al_error *err)
{
    const struct pull_args *args = p;
    al_auto(pull_clear) struct pull pull = { .remote = AL_REMOTE_INIT };
    al_auto(al_str_clear) struct al_str fetched = AL_STR_INIT;
    struct al_fetch_options options = { .prune = false };
    int r = prepare(call, args, &pull, err);

    if (r < 0)
        return r;
    /* What was decided, it was decided by what was known before. */
    al_call_set_tool_data(call, al_strdup(is_published(call, p) ? pull.head : ""), free);
    al_transfer_accept(call, &pull.remote, AL_FETCHES);
    options.branch = pull.branch;
    return al_transfer_fetch(call, &pull.remote, &options, &fetched, err);
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct pull_args *args = p;
    al_auto(pull_clear) struct pull pull = { .remote = AL_REMOTE_INIT };
    int r = prepare(call, args, &pull, err);

    if (r < 0)
        return r;
    return args->rebase && *pull.head ? rebase(call, &pull, result, err)
                                      : merge(call, &pull, result, err);
}

/* Whether there are commits here that the branch there has not, as far as it was fetched, and that
 * another remote-tracking branch has. */
static bool rewrites_published(struct al_call *call, const struct pull_args *args,
                               const struct pull *pull)
{
    al_auto(al_freep) char *seen = NULL;
    bool published = false;

    if (!args->rebase || !*pull->head)
        return false;
    seen = pull->tracking ? al_ref_oid(&al_call_repo(call)->at, pull->tracking) : al_strdup("");
    return *seen &&
           al_git_has_pushed(al_call_repo(call), pull->head, seen, al_call_budget(call), &published,
                             NULL) == 0 &&
           published;
}

static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    const char *known = al_call_tool_data(call);
    al_auto(pull_clear) struct pull pull = { .remote = AL_REMOTE_INIT };
    int r = prepare(call, p, &pull, err);

    if (r < 0)
        return r;
    al_resolved_add(out, "remote", pull.remote.name);
    al_transfer_resolve(call, pull.remote.name, out);
    if (known ? *known && !strcmp(known, pull.head) : rewrites_published(call, p, &pull))
        al_resolved_add(out, REWRITES, pull.head);
    return 0;
}

static bool is_new_address(struct al_call *call, const void *p)
{
    (void)p;
    return al_transfer_is_new(call, al_call_resolved(call, "remote"), AL_FETCHES);
}

/* An answer about an address covers no rewriting, and one about rewriting only these commits. */
static const char *const always_by[] = { "address", REWRITES, NULL };

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    al_auto(pull_clear) struct pull pull = { .remote = AL_REMOTE_INIT };
    int r = prepare(call, p, &pull, err);

    (void)op;
    al_git_show_unsigned(al_call_repo(call), out);
    if (r == 0)
        al_transfer_preview(call, &pull.remote, AL_FETCHES, out);
    if (r == 0 && is_published(call, p))
        al_str_adds(out, "It rewrites commits that a remote-tracking branch has.\n");
    return r;
}

#define EFFECTS                                                                                    \
    (AL_USES_NETWORK | AL_WRITES_REFS | AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_REWRITES_HISTORY)

static const struct al_operation operations[] = {
    { "pull", NULL, EFFECTS, execute, AL_ASKS_UNLESS_SAVED },
};

static const struct al_stricter stricter[] = {
    { { "pull", NULL, EFFECTS | AL_LEAVES_MACHINE, execute, AL_ASKS_ALWAYS },
      is_new_address,
      AL_TRANSFER_CONDITION },
    { { "pull", NULL, EFFECTS, execute, AL_ASKS_ALWAYS }, is_published, AL_REPLAY_CONDITION },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct pull_args *args = p;

    (void)op;
    al_str_addf(out, "Pull%s%s from %s%s", args->branch ? " " : "",
                args->branch ? args->branch : "", args->remote ? args->remote : "its remote",
                args->rebase ? " and rebase on it" : "");
}

const struct al_tool al_tool_everyday_pull = {
    .name = "git_pull",
    .title = "Pull",
    .about = "Fetch a branch and merge it, or rebase on it; conflicts are a result.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct pull_args),
    AL_TOOL_STRICTER(stricter),
    .moves_branch = true,
    .check = check,
    .resolve = resolve,
    .always_by = always_by,
    .authorize = authorize,
    .preview = preview,
    .fetch = fetch,
    .moves_always = AL_MOVES_BRANCH | AL_MOVES_HEAD, /* a rebase that stops detaches HEAD */
    .summarize = summarize,
};
