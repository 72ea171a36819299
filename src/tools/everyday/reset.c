// SPDX-License-Identifier: Apache-2.0
/* git_reset: move the branch to another commit. */

#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "tools/private.h"
#include "verbs/preview/affected_files.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/replay/along.h"
#include "verbs/sequencer/overwrite.h"

#define RESOLVED_HEAD "head"

struct reset_args {
    const char *to;
    int mode; /* enum al_reset_mode */
    const char *working_dir;
};

static const struct al_choice modes[] = {
    { "mixed", AL_RESET_MIXED },
    { "soft", AL_RESET_SOFT },
    { "keep", AL_RESET_KEEP },
    { "hard", AL_RESET_HARD },
    { NULL, 0 },
};

static const struct al_param params[] = {
    AL_STRING(struct reset_args, to, "Commit.", .flags = AL_PARAM_REQUIRED | AL_PARAM_NAME,
              .check = al_arg_check_revision),
    AL_CHOICE(struct reset_args, mode, "What becomes of changes: unstaged, staged, kept, or lost.",
              .choices = modes, .default_int = AL_RESET_MIXED),
    AL_WORKING_DIR_ROW(struct reset_args),
};

static int mode_of(const struct al_call *call)
{
    return ((const struct reset_args *)al_call_args(call))->mode;
}

static int resolve(struct al_call *call, struct al_error *err)
{
    const struct reset_args *args = al_call_args(call);
    al_auto(al_freep) char *head = al_ref_head(&al_call_repo(call)->at);
    int r = al_resolve_commit(call, args->to, err);

    if (r == 0)
        al_call_resolve(call, RESOLVED_HEAD, head);
    return r;
}

/* A commit that cannot be told counts as pushed. */
static bool loses_pushed(struct al_call *call)
{
    const char *head = al_call_resolved(call, RESOLVED_HEAD);
    const char *to = al_call_resolved(call, AL_RESOLVED_COMMIT);
    bool pushed = true;

    if (!head || !*head || !to)
        return false;
    (void)al_git_has_pushed(al_call_repo(call), head, to, &pushed, NULL);
    return pushed;
}

static int affected_files(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const char *to = al_call_resolved(call, AL_RESOLVED_COMMIT);
    struct al_repo *repo = al_call_repo(call);
    int r;

    if (mode_of(call) != AL_RESET_HARD)
        return 0;
    r = al_git_overwritten_files(repo, NULL, false, out, err);
    return r < 0 ? r : al_git_untracked_overwritten(repo, to, NULL, out, err);
}

static int changed_files(struct al_call *call, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    const char *to = al_call_resolved(call, AL_RESOLVED_COMMIT);
    const struct al_repo *repo = al_call_repo(call);

    if (mode_of(call) == AL_RESET_KEEP || mode_of(call) == AL_RESET_SOFT)
        return al_git_switched_files(repo, to, ret_known, out, err);
    return al_git_reset_files(repo, to, NULL, false, ret_known, out, err);
}

static int authorize(struct al_call *call, struct al_error *err)
{
    const char *head = al_call_resolved(call, RESOLVED_HEAD);
    const struct al_repo *repo = al_call_repo(call);
    const enum al_operation_state state = al_git_operation_state(repo);

    if (!*head)
        return al_failure_set(err, "git_commit makes the first commit.",
                              "The branch has no commit yet");
    if (state != AL_IN_PROGRESS_NONE && state != AL_IN_PROGRESS_MERGE)
        return al_failure_set(err, "git_conflicts with action abort aborts it.",
                              "A %s is in progress", al_operation_state_name(state));
    al_call_set_tool_data(call, al_strdup(head), free);
    return al_git_reset_check(repo, al_call_resolved(call, AL_RESOLVED_COMMIT),
                              (enum al_reset_mode)mode_of(call), err);
}

/* List the commits that one commit reaches and the other does not: ten, and how many more. */
static int list_commits(struct al_call *call, const char *from, const char *without, size_t count,
                        struct al_str *out, struct al_error *err)
{
    al_auto(al_freep) char *not_these = al_asprintf("^%s", without);
    const struct al_commits_shown commits = {
        .words = (const char *const[]){ "--max-count=10", from, not_these, NULL },
        .format = "  %h %s",
    };
    int r = al_git_commits_list(al_call_repo(call), &commits, out, err);

    if (r == 0 && count > 10)
        al_str_addf(out, "  and %zu more\n", count - 10);
    return r;
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const char *head = al_call_resolved(call, RESOLVED_HEAD);
    const char *to = al_call_resolved(call, AL_RESOLVED_COMMIT);
    const struct al_diff_options changed = { .unified = -1, .from_ref = "HEAD" };
    const struct al_repo *repo = al_call_repo(call);
    size_t leave = 0, come = 0;
    int r = al_git_count_apart(repo, head, to, &leave, &come, err);

    if (r < 0)
        return r;
    if (leave) {
        al_str_addf(out, "These commits leave the branch%s:\n",
                    loses_pushed(call) ? "; a remote-tracking branch has at least one of them"
                                       : "");
        r = list_commits(call, head, to, leave, out, err);
    }
    if (r < 0 || mode_of(call) != AL_RESET_HARD)
        return r;
    r = al_git_loss_excerpt(repo, &changed, "This is lost:", out, err);
    return r < 0 ? r : al_git_untracked_excerpt(repo, to, NULL, out, err);
}

static int add_moved(struct al_call *call, const char *head, const char *to, struct al_str *text,
                     struct al_error *err)
{
    size_t left = 0, came = 0;
    int r = al_git_count_apart(al_call_repo(call), head, to, &left, &came, err);

    if (r == 0 && left) {
        al_str_addf(text, "%s left the branch (it was at %.*s):\n",
                    al_counted(left, "commit", "commits").text, AL_SHORT_ID, head);
        r = list_commits(call, head, to, left, text, err);
    }
    if (r == 0 && came) {
        al_str_addf(text, "%s came:\n", al_counted(came, "commit", "commits").text);
        r = list_commits(call, to, head, came, text, err);
    }
    return r;
}

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    static const char hooks[] = "reference-transaction post-index-change";
    static const char *const said[] = {
        [AL_RESET_MIXED] = "Reset to ",
        [AL_RESET_SOFT] = "Soft reset to ",
        [AL_RESET_KEEP] = "Reset to ",
        [AL_RESET_HARD] = "Hard reset to ",
    };
    const char *to = al_call_resolved(call, AL_RESOLVED_COMMIT);
    al_auto(al_freep) char *head = al_strdup(al_call_resolved(call, RESOLVED_HEAD));
    al_auto(al_strv_clear) struct al_strv changed = AL_STRV_INIT;
    bool staged;
    int r = 0;

    if (strcmp(head, al_call_tool_data(call)) != 0)
        return al_failure_set(err, "git_log shows the branch as it is now.",
                              "The branch moved while this was decided; nothing was done");
    if (mode_of(call) == AL_RESET_HARD)
        r = al_uncommitted_files(al_call_repo(call), &changed, &staged, err);
    if (mode_of(call) == AL_RESET_KEEP) /* git keeps changes only, and no ignored files */
        r = al_overwrite_check(al_call_repo(call), head, to, err);
    if (r == 0)
        r = al_git_reset(al_call_repo(call), to, (enum al_reset_mode)mode_of(call), err);
    if (r == 0)
        r = al_outcome_add_commit(call, said[mode_of(call)], to, "\n", &result->text, err);
    if (r == 0)
        r = add_moved(call, head, to, &result->text, err);
    if (r == 0)
        al_outcome_add_gone(call, &changed, "Uncommitted changes were discarded: ", &result->text);
    if (r == 0)
        al_outcome_add_skipped(call, hooks, false, &result->text);
    return r;
}

#define MOVES (AL_WRITES_REFS | AL_REWRITES_HISTORY)

static const struct al_operation operations[] = {
    { "soft", NULL, MOVES, execute, AL_ASKS_UNLESS_SAVED },
    { "mixed", NULL, MOVES | AL_WRITES_INDEX | AL_DISCARDS_WORK, execute, AL_ASKS_UNLESS_SAVED },
    { "keep", NULL, MOVES | AL_WRITES_INDEX | AL_WRITES_WORKTREE, execute, AL_ASKS_UNLESS_SAVED },
    { "hard", NULL, MOVES | AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_DISCARDS_WORK, execute,
      AL_ASKS_UNLESS_SAVED },
};

static const struct al_stricter stricter[] = {
    { NULL, loses_pushed, AL_REPLAY_CONDITION, 0 },
};

const struct al_tool al_tool_everyday_reset = {
    .name = "git_reset",
    .title = "Reset",
    .about = "Move the branch to another commit.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct reset_args),
    AL_TOOL_STRICTER(stricter),
    .moves_branch = true,
    .resolve = resolve,
    .authorize = authorize,
    .affected_files = affected_files,
    .changed_files = changed_files,
    .preview = preview,
    .moves = AL_MOVES_BRANCH,
    .summary = "Reset the branch to '{to}' ({mode})",
};
