// SPDX-License-Identifier: Apache-2.0
/* git_pull: fetch a branch, then merge it or rebase on it; with a structured result and with text.
 */

#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "tools/private.h"
#include "verbs/replay/along.h"
#include "verbs/replay/merge_guard.h"
#include "verbs/replay/work.h"

struct pull_args {
    const char *remote, *branch;
    bool rebase;
    const char *working_dir;
};

/* A resolved value of the toolset everyday: HEAD's commit, if published commits are rewritten. */
#define REWRITES "rewrites"

/* The parts of a pull, and what came of it. */
struct pull {
    struct al_remote remote;
    char *current;  /* the local branch; NULL: HEAD is detached */
    char *branch;   /* the branch at the remote */
    char *head;     /* the commit of HEAD before; "" on an unborn branch */
    char *tracking; /* the remote-tracking reference; NULL: none */
    char *name;     /* "origin/main" */
    bool rebases;
    size_t replayed, known; /* commits that a rebase replayed, and left out */
    struct al_merge_outcome outcome;
};

#define PULL_INIT ((struct pull){ .remote = AL_REMOTE_INIT, .outcome = AL_MERGE_INIT })

static void pull_clear(struct pull *pull)
{
    al_remote_clear(&pull->remote);
    al_merge_outcome_clear(&pull->outcome);
    free(pull->current);
    free(pull->branch);
    free(pull->head);
    free(pull->tracking);
    free(pull->name);
}

/* The branch at the remote is the one given, else the upstream, else the one of the same name. */
static int prepare(struct al_call *call, const struct pull_args *args, struct pull *pull,
                   struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *remote = NULL;
    int r = al_transfer_check_idle(call, err);

    if (r < 0)
        return r;
    r = al_transfer_current_branch(call, &pull->current, args->branch ? NULL : err);
    if (r < 0 && !args->branch)
        return r;
    remote = args->remote ? al_strdup(args->remote)
                          : al_remote_default(al_call_repo(call), pull->current);
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
    pull->rebases = args->rebase && *pull->head;
    return 0;
}

static bool is_published(struct al_call *call)
{
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
                              done->stopped ? work->onto : done->tip, &published, err);

    if (r < 0 || !published || is_published(call))
        return r;
    return al_failure_set(err, "git_rebase asks about that; or pull without rebase.",
                          "It was fetched, but the rebase would rewrite commits that a "
                          "remote-tracking branch has");
}

static int rebase(struct al_call *call, struct pull *pull, const char *commit, struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    struct al_replay_work *work = al_replay_work_new();
    al_auto(al_rebase_list_clear) struct al_rebase_list list = AL_REBASE_LIST_INIT;
    al_auto(al_freep) char *onto = NULL;
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    bool staged;
    int r = al_uncommitted_files(repo, &files, &staged, err);

    if (r == 0)
        r = al_git_resolve_commit(repo, commit, &onto, err);
    if (r == 0)
        r = al_replay_work_rebase(repo, work, onto, pull->name, &list, err);
    work->goes_along = al_transfer_in_text(call);
    if (r == 0 && files.count && !work->goes_along)
        r = al_uncommitted_refuse("There are uncommitted changes", &files, err);
    if (r == 0 && al_transfer_in_text(call))
        r = check_published(call, work, err);
    if (r == 0)
        r = al_replay_work_do(repo, work, al_call_max_bytes(call), &pull->outcome, err);
    pull->replayed = work->nsteps;
    pull->known = list.all.count - list.commits.count;
    pull->outcome.fast_forward = !pull->outcome.up_to_date && !work->nsteps;
    al_replay_work_free(work);
    return r;
}

/* Fetched it is; now merge it or rebase on it. */
static int run(struct al_call *call, const struct pull_args *args, struct pull *pull,
               struct al_error *err)
{
    al_auto(al_freep) char *message = NULL, *where = NULL;
    struct al_merge_options options = { .commit = NULL };
    bool into_main;
    int r = prepare(call, args, pull, err);

    if (r < 0)
        return r;
    options.commit = pull->tracking ? pull->tracking : "FETCH_HEAD";
    if (pull->rebases)
        return rebase(call, pull, options.commit, err);
    where = al_url_shown(pull->remote.urls.items[0]);
    into_main =
        !pull->current || !strcmp(pull->current, "main") || !strcmp(pull->current, "master");
    message = al_asprintf("Merge branch '%s' of %s%s%s", pull->branch, where, /* as git pull */
                          into_main ? "" : " into ", into_main ? "" : pull->current);
    options.message = message;
    options.goes_along = al_transfer_in_text(call);
    return al_merge_guard_run(al_call_repo(call), &options, al_call_max_bytes(call), &pull->outcome,
                              err);
}

static int fetch(struct al_call *call, struct al_error *err)
{
    al_auto(pull_clear) struct pull pull = PULL_INIT;
    al_auto(al_str_clear) struct al_str fetched = AL_STR_INIT;
    struct al_fetch_options options = { .prune = false };
    int r = prepare(call, al_call_args(call), &pull, err);

    if (r < 0)
        return r;
    /* The decision was made by what was known before. */
    al_call_set_tool_data(call, al_strdup(is_published(call) ? pull.head : ""), free);
    options.branch = pull.branch;
    return al_transfer_fetch(call, &pull.remote, &options, &fetched, err);
}

static int resolve(struct al_call *call, struct al_error *err)
{
    const char *known = al_call_tool_data(call);
    al_auto(pull_clear) struct pull pull = PULL_INIT;
    al_auto(al_freep) char *seen = NULL;
    bool published = false;
    int r = prepare(call, al_call_args(call), &pull, err);

    if (r < 0)
        return r;
    al_transfer_resolve(call, pull.remote.name);
    /* Commits here that the branch there has not, as far as it was fetched, and that another
     * remote-tracking branch has. */
    if (!known && pull.rebases && al_transfer_in_text(call) && pull.tracking)
        seen = al_ref_oid(&al_call_repo(call)->at, pull.tracking);
    if (seen && *seen)
        (void)al_git_has_pushed(al_call_repo(call), pull.head, seen, &published, NULL);
    if (known ? *known && !strcmp(known, pull.head) : published)
        al_call_resolve(call, REWRITES, pull.head);
    return 0;
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    int r = al_transfer_find(call, &remote, err);

    al_git_show_unsigned(al_call_repo(call), out);
    if (r == 0)
        al_transfer_preview(call, &remote, AL_FETCHES, out);
    if (r == 0 && is_published(call))
        al_str_adds(out, "It rewrites commits that a remote-tracking branch has.\n");
    return r;
}

static const struct al_stricter stricter[] = {
    { NULL, al_transfer_is_new, AL_TRANSFER_CONDITION, AL_LEAVES_MACHINE },
    { NULL, is_published, AL_REPLAY_CONDITION, 0 },
};

static const char rebase_hooks[] = "pre-rebase post-checkout post-rewrite";

/* The effects that both tools have.  A rebase that stops detaches HEAD. */
#define EFFECTS                                                                                    \
    (AL_USES_NETWORK | AL_WRITES_REFS | AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_REWRITES_HISTORY)
#define SHARED                                                                                     \
    .name = "git_pull", .title = "Pull", .moves_branch = true, .resolve = resolve,                 \
    .authorize = al_transfer_authorize, .preview = preview, .fetch = fetch,                        \
    .moves = AL_MOVES_BRANCH | AL_MOVES_HEAD,                                                      \
    .summary = "Pull[branch? {branch}] from [remote?{remote}][!remote?its remote]"                 \
               "[rebase? and rebase on it]",                                                       \
    AL_TOOL_STRICTER(stricter)

/* The toolset workflow. */

static const struct al_param workflow_params[] = {
    AL_TRANSFER_ROW_REMOTE(struct pull_args, .unless = NULL),
    AL_STRING(struct pull_args, branch, "Default: the one followed, else of the same name.",
              .flags = AL_PARAM_NAME, .check = al_arg_check_branch),
    AL_BOOL(struct pull_args, rebase, "Rebase instead of merge."),
    AL_WORKFLOW_CWD_ROW(struct pull_args),
};

static void add_message(const struct pull_args *args, const struct pull *pull, struct al_str *text)
{
    const struct al_merge_outcome *outcome = &pull->outcome;

    if (outcome->conflicted)
        al_str_addf(text,
                    "%s conflicts with this branch in %zu file%s: resolve them, then git_commit "
                    "continues, or git_merge with abort: true aborts",
                    pull->name, outcome->conflicts.count, outcome->conflicts.count == 1 ? "" : "s");
    else if (outcome->up_to_date)
        al_str_addf(text, "Already up to date with %s", pull->name);
    else if (outcome->fast_forward)
        al_str_addf(text, "Moved on to %s", pull->name);
    else
        al_str_addf(text, "Pulled %s and %s", pull->name, args->rebase ? "rebased" : "merged");
}

static int workflow_execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct pull_args *args = al_call_args(call);
    al_auto(pull_clear) struct pull pull = PULL_INIT;
    const struct al_merge_outcome *outcome = &pull.outcome;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    uint64_t updated = 0;
    int r = run(call, args, &pull, err);

    if (r == 0 && !outcome->conflicted)
        r = al_git_count_updated(al_call_repo(call), pull.head, &updated, err);
    if (r < 0)
        return r;
    add_message(args, &pull, &text);
    al_transfer_result(result, !outcome->conflicted, args->remote, text.buf);
    if (args->rebase)
        al_result_set(result, "rebased", al_json_bool(!outcome->conflicted));
    if (outcome->conflicted)
        al_result_set(result, "conflicts", al_workflow_strings(&outcome->conflicts));
    else
        al_result_set(result, "filesUpdated", al_json_int((int64_t)updated));
    if (!outcome->conflicted && !outcome->up_to_date)
        al_workflow_skipped(call, args->rebase ? rebase_hooks : al_merge_hooks(outcome),
                            !outcome->fast_forward, result);
    return 0;
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "success": true, "remote": "", "message": "", "rebased?": true, "filesUpdated?": 1,
    "conflicts?": [""]
});
/* clang-format on */

const struct al_tool al_tool_workflow_pull = {
    SHARED,
    .about = "Fetch a branch and merge it, or rebase on it. Conflicts are a result.",
    AL_TOOL_ONE(workflow_params, "pull", NULL, EFFECTS, workflow_execute, AL_ASKS_NEVER),
    AL_WORKFLOW_TOOL(struct pull_args),
    .always_by = al_transfer_always_by,
    .output_schema = output_schema,
};

/* The toolset everyday. */

static const struct al_param everyday_params[] = {
    AL_TRANSFER_ROW_ANY_REMOTE(struct pull_args),
    AL_STRING(struct pull_args, branch, NULL, .flags = AL_PARAM_NAME, .check = al_arg_check_branch),
    AL_BOOL(struct pull_args, rebase, "Rebase instead of merge."),
    AL_WORKING_DIR_ROW(struct pull_args),
};

static void add_rebased(const struct pull *pull, struct al_str *text)
{
    if (pull->outcome.up_to_date) {
        al_place_addf(text, "Nothing to do: the branch has %s already.\n", pull->name);
        return;
    }
    al_place_addf(text, "%s %s", pull->replayed ? "Rebased onto" : "Moved on to", pull->name);
    if (pull->replayed)
        al_str_addf(text, ", %s replayed", al_counted(pull->replayed, "commit", "commits").text);
    if (pull->known)
        al_str_addf(text, ", %zu left out that %s there already", pull->known,
                    pull->known == 1 ? "is" : "are");
    al_str_adds(text, ".\n");
}

static int everyday_execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(pull_clear) struct pull pull = PULL_INIT;
    const struct al_merge_outcome *outcome = &pull.outcome;
    int r = run(call, al_call_args(call), &pull, err);

    if (r < 0)
        return r;
    if (!pull.rebases)
        return al_merged_answer(call, pull.name, outcome, result, err);
    if (outcome->conflicted || outcome->in_progress) {
        al_place_addf(&result->text, "Fetched; the rebase onto %s stopped at a conflict.\n",
                      pull.name);
        return al_outcome_stopped(call, result, err);
    }
    add_rebased(&pull, &result->text);
    al_outcome_add_skipped(call, rebase_hooks, !outcome->up_to_date, &result->text);
    return 0;
}

/* An answer about an address covers no rewriting, and one about rewriting only these commits. */
static const char *const always_by[] = { "address", REWRITES, NULL };

const struct al_tool al_tool_everyday_pull = {
    SHARED,
    .about = "Fetch a branch and merge it, or rebase on it; conflicts are a result.",
    AL_TOOL_ONE(everyday_params, "pull", NULL, EFFECTS, everyday_execute, AL_ASKS_UNLESS_SAVED),
    AL_EVERYDAY_TOOL(struct pull_args),
    .always_by = always_by,
};
