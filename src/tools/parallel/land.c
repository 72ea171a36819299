// SPDX-License-Identifier: Apache-2.0
/* git_land: one branch comes into another without a checkout, after a user approved it. */
#include "verbs/landing/landing.h"

#include "git/refs.h"
#include "guard/root.h"
#include "tools/private.h"
#include "verbs/preview/affected_files.h"

#define CONFLICTS_SHOWN 100

struct land_args {
    const char *branch, *into;
    int strategy;
    const char *message;
    const char *working_dir;
};

static const struct al_choice strategies[] = {
    { "merge", AL_LAND_MERGE },
    { "squash", AL_LAND_SQUASH },
    { "rebase", AL_LAND_REBASE },
    { "ff", AL_LAND_FF },
    { NULL, 0 },
};

static const struct al_param params[] = {
    AL_STRING(struct land_args, branch, "The branch to land.",
              .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME, .min_bytes = 1,
              .check = al_landing_check_name),
    AL_STRING(struct land_args, into, "Default: the default branch.", .flags = AL_PARAM_BRANCH,
              .check = al_landing_check_name),
    AL_CHOICE(struct land_args, strategy,
              "merge: a merge commit; squash: one commit; rebase: new commits on top; ff: only if "
              "nothing has to be made.",
              .choices = strategies, .default_int = AL_LAND_MERGE),
    AL_STRING(struct land_args, message, "Of a merge or squash."),
    AL_WORKING_DIR_ROW(struct land_args),
};

static int check(void *p, struct al_error *err)
{
    const struct land_args *args = p;
    int r = 0;

    if (args->message && !args->message[strspn(args->message, " \t\r\n")])
        r = al_error_set(err, AL_ERR_BAD_ARGS, "message is empty");
    if (r == 0 && args->message &&
        (args->strategy == AL_LAND_REBASE || args->strategy == AL_LAND_FF))
        r = al_error_set(err, AL_ERR_BAD_ARGS, "message does not go with strategy '%s'",
                         al_landing_strategy_name((enum al_landing_strategy)args->strategy));
    return r;
}

/* The name of the branch to land in.  Caller frees. */
static int find_into(const struct al_repo *repo, const struct land_args *args, char **ret_into,
                     struct al_error *err)
{
    if (!args->into)
        return al_landing_default(repo, ret_into, err);
    *ret_into = al_strdup(args->into);
    return 0;
}

/* The call is about the working tree that has the branch checked out: its files are in the
 * checkpoint, and its locks are waited for. */
static int open_repository(struct al_call *call, struct al_repo **ret_repo, struct al_error *err)
{
    const struct land_args *args = al_call_args(call);
    const struct al_session *session = al_call_session(call);
    struct al_repo *repo = NULL, *other = NULL;
    al_auto(al_freep) char *into = NULL;
    int r =
        al_repo_open(session->git, session->roots->items[0].path,
                     args->working_dir ? args->working_dir : ".", al_call_budget(call), &repo, err);

    if (r < 0)
        return r;
    r = al_location_is_bare(&repo->at) ? al_call_refuse_bare(call, err)
                                       : find_into(repo, args, &into, err);
    if (r == 0)
        r = al_landing_open_worktree(repo, into, &other, err);
    if (r < 0 || other)
        al_repo_free(repo);
    if (r == 0)
        *ret_repo = other ? other : repo;
    return r;
}

static void free_landing(void *landing)
{
    al_landing_free(landing);
}

/* Commits get the time at which they are made, so a plan for the same state is not made again. */
static bool is_current(const struct al_call *call, const struct al_landing *landing)
{
    const struct al_named_branch *const branches[] = { &landing->branch, &landing->into };

    for (size_t i = 0; i < AL_COUNT(branches); i++) {
        al_auto(al_freep) char *now = al_ref_oid(&al_call_repo(call)->at, branches[i]->ref);

        if (strcmp(now, branches[i]->oid) != 0)
            return false;
    }
    return true;
}

static int plan(struct al_call *call, const struct land_args *args, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *into = NULL;
    struct al_landing *landing = al_call_tool_data(call);
    int r;

    if (landing && is_current(call, landing))
        return 0;
    r = find_into(repo, args, &into, err);
    if (r == 0)
        r = al_landing_plan(
            repo,
            &(struct al_landing_request){ .branch = args->branch,
                                          .into = into,
                                          .strategy = (enum al_landing_strategy)args->strategy,
                                          .message = args->message },
            &landing, err);
    if (r == 0)
        al_call_set_tool_data(call, landing, free_landing);
    return r;
}

static int resolve(struct al_call *call, struct al_error *err)
{
    const struct al_landing *landing;
    int r = plan(call, al_call_args(call), err);

    if (r < 0)
        return r;
    landing = al_call_tool_data(call);
    al_call_resolve(call, AL_RESOLVED_BRANCH, landing->into.ref);
    al_call_resolve(call, AL_RESOLVED_COMMIT, landing->branch.oid);
    al_call_resolve(call, "from", landing->branch.ref);
    al_call_resolve(call, "into", landing->into.oid);
    al_call_resolve(call, "strategy", al_landing_strategy_name(landing->strategy));
    al_call_resolve(call, "tree", landing->tree ? landing->tree : "");
    al_call_resolve(call, "worktree",
                    al_landing_is_checked_out(al_call_repo(call), landing->into.ref)
                        ? al_call_repo(call)->at.top
                        : "");
    return 0;
}

static int authorize(struct al_call *call, struct al_error *err)
{
    return al_landing_check(al_call_tool_data(call), err);
}

static int policy_paths(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    return al_landing_paths(al_call_tool_data(call), out, err);
}

/* The working tree follows as in a switch to the new commit. */
static int changed_files(struct al_call *call, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    const struct al_landing *landing = al_call_tool_data(call);

    *ret_known = !landing->commit;
    return *ret_known ? 0
                      : al_git_switched_files(al_inmemory_repo(landing->memory), landing->commit,
                                              ret_known, out, err);
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct al_landing *landing = al_call_tool_data(call);

    if (landing->commit)
        return al_landing_preview(landing, out, err);
    al_call_plan(call)->skips_approval = true;
    return 0;
}

static void add_side(const struct al_named_branch *branch, struct al_str *out)
{
    al_place_addf(out, "%s (%.*s)", al_named_branch_name(branch), AL_SHORT_ID, branch->oid);
}

static void write_conflict(const struct al_call *call, const struct al_landing *landing,
                           struct al_str *out)
{
    const struct al_repo *repo = al_call_repo(call);
    const bool merges = al_session_has(al_call_session(call), "git_merge", NULL);
    const struct al_conflicts *conflicts = &landing->conflict.files;

    al_str_adds(out, "Nothing was landed: ");
    add_side(&landing->branch, out);
    al_str_adds(out, " and ");
    add_side(&landing->into, out);
    if (conflicts->count)
        al_str_addf(out, " conflict in %s", al_counted(conflicts->count, "file", "files").text);
    else
        al_str_adds(out, " conflict about a directory");
    if (landing->conflict_commit)
        al_str_addf(out, ", at commit %.*s", AL_SHORT_ID, landing->conflict_commit);
    al_str_addc(out, '\n');
    for (size_t i = 0; i < conflicts->count && i < CONFLICTS_SHOWN; i++) {
        al_str_adds(out, "  ");
        al_place_add(repo, conflicts->items[i].path, out);
        al_str_addf(out, " (%s)\n", al_merge_conflict_kind(&conflicts->items[i]));
    }
    if (conflicts->count > CONFLICTS_SHOWN)
        al_str_addf(out, "  … and %zu more\n", conflicts->count - CONFLICTS_SHOWN);
    al_place_addf(out,
                  "To go on: merge %s into %s%s where that is checked out, resolve the conflicts, "
                  "commit, and land it again\n",
                  al_named_branch_name(&landing->into), al_named_branch_name(&landing->branch),
                  merges ? " by git_merge" : "");
}

static void write_idle(const struct al_call *call, const struct al_landing *landing,
                       struct al_str *out)
{
    if (landing->conflict.conflicted) {
        write_conflict(call, landing, out);
    } else if (landing->is_diverged) {
        al_str_adds(out, "Nothing was landed: ");
        add_side(&landing->into, out);
        al_str_adds(out, " has commits that ");
        add_side(&landing->branch, out);
        al_str_adds(out, " does not have; land it with another strategy than ff\n");
    } else {
        al_str_adds(out, "Nothing to land: ");
        add_side(&landing->into, out);
        al_str_adds(out, " has all changes of ");
        add_side(&landing->branch, out);
        al_str_addc(out, '\n');
    }
}

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    /* Those that git would have run. */
    static const char *const hooks[] = {
        [AL_LAND_MERGE] = "pre-merge-commit prepare-commit-msg commit-msg post-merge",
        [AL_LAND_SQUASH] = "pre-commit prepare-commit-msg commit-msg post-commit",
        [AL_LAND_REBASE] = "pre-rebase post-checkout post-rewrite",
        [AL_LAND_FF] = "post-merge"
    };
    const struct al_repo *repo = al_call_repo(call);
    struct al_landing *landing = al_call_tool_data(call);
    struct al_str *text = &result->text;
    int r;

    if (!landing->commit) {
        write_idle(call, landing, text);
        result->not_done = landing->conflict.conflicted || landing->is_diverged;
        return 0;
    }
    r = al_landing_run(landing, err);
    if (r < 0)
        return r;
    al_str_adds(text, "Landed ");
    add_side(&landing->branch, text);
    al_place_addf(text, " into %s: %s, %s, %.*s..%.*s\n", al_named_branch_name(&landing->into),
                  al_landing_strategy_name(landing->strategy),
                  al_counted(landing->commits, "commit", "commits").text, AL_SHORT_ID,
                  landing->into.oid, AL_SHORT_ID, landing->commit);
    if (al_landing_is_checked_out(repo, landing->into.ref))
        al_place_addf(text, "The working tree %s was brought along\n", repo->at.top);
    al_outcome_add_skipped(call, hooks[landing->strategy], landing->strategy != AL_LAND_FF, text);
    return 0;
}

/* Its checkpoint has the references alone, so no working tree must be brought along. */
static int execute_elsewhere(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct al_landing *landing = al_call_tool_data(call);

    if (al_landing_is_checked_out(al_call_repo(call), landing->into.ref))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the branch was checked out meanwhile, so nothing was landed; call "
                            "git_land again");
    return execute(call, result, err);
}

/* Whether no working tree has the branch checked out. */
static bool is_elsewhere(const struct al_call *call, const void *p)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *into = NULL;
    al_auto(al_freep) char *ref = NULL;

    if (!repo || find_into(repo, p, &into, NULL) < 0)
        return false;
    ref = al_asprintf(AL_HEADS "%s", into);
    return !al_landing_is_checked_out(repo, ref);
}

#define WITH_FILES (AL_WRITES_REFS | AL_WRITES_INDEX | AL_WRITES_WORKTREE)

static const struct al_operation operations[] = {
    { "land", is_elsewhere, AL_WRITES_REFS, execute_elsewhere, AL_ASKS_ALWAYS },
    { "land", NULL, WITH_FILES, execute, AL_ASKS_ALWAYS },
};

static void summarize(const struct al_call *call, struct al_str *out)
{
    const struct al_landing *landing = al_call_tool_data(call);

    al_str_addf(out, "Land branch '%s' (%zu commit%s, %.*s) into '%s' (%.*s): %s",
                al_named_branch_name(&landing->branch), landing->commits,
                landing->commits == 1 ? "" : "s", AL_SHORT_ID, landing->branch.oid,
                al_named_branch_name(&landing->into), AL_SHORT_ID, landing->into.oid,
                al_landing_strategy_name(landing->strategy));
}

static const char *const always_by[] = { "from", AL_RESOLVED_BRANCH, "strategy", NULL };

const struct al_tool al_tool_parallel_land = {
    .name = "git_land",
    .title = "Land a branch",
    .about = "Bring a branch into another one without checking anything out. The user is asked "
             "first; conflicts change nothing.",
    AL_TOOL_ROWS(params, operations),
    AL_PARALLEL_TOOL(struct land_args),
    .runs_at_top = true,
    .check = check,
    .open_repository = open_repository,
    .resolve = resolve,
    .policy_paths = policy_paths,
    .authorize = authorize,
    .preview = preview,
    .changed_files = changed_files,
    .always_by = always_by,
    .summary = "Land branch '{branch}'[into? into '{into}']",
    .summarize = summarize,
};
