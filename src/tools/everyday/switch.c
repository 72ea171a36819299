// SPDX-License-Identifier: Apache-2.0
/* git_switch: change to a branch, make one, or look at a commit. */

#include "git/refs.h"
#include "tools/private.h"

struct switch_args {
    const char *branch, *from, *rev;
    bool create;
    const char *working_dir;
};

static const struct al_param params[] = {
    AL_STRING(struct switch_args, branch, NULL, .flags = AL_PARAM_BRANCH),
    AL_BOOL(struct switch_args, create, NULL,
            .bad_message = "branch is the name, and create says whether to make it: branch=NAME "
                           "create=true."),
    AL_STRING(struct switch_args, from, "Where create begins; default HEAD.",
              .flags = AL_PARAM_NAME, .check = al_arg_check_revision),
    AL_STRING(struct switch_args, rev, "Commit to look at, on no branch.", .flags = AL_PARAM_NAME,
              .check = al_arg_check_revision),
    AL_WORKING_DIR_ROW(struct switch_args),
};

AL_WHEN(creates, struct switch_args, args->create)

/* A resolved value: the remote-tracking branch that a branch is made from, since its name was
 * given. */
#define FOLLOWED "followed"

static const char heads[] = "refs/heads/";

static int check(void *p, struct al_error *err)
{
    const struct switch_args *args = p;

    if (args->create && args->branch && args->rev)
        return al_failure_bad_args(err, "from is where create begins a new branch.",
                                   "rev looks at a commit without a branch, and create makes one");
    if (!args->branch == !args->rev)
        return al_failure_bad_args(err, "rev looks at a commit without a branch.",
                                   "Give either branch or rev");
    if (args->create && !args->branch)
        return al_failure_bad_args(err, "git_switch with branch and create makes one.",
                                   "create makes a branch, which rev is not");
    if (args->from && !args->create)
        return al_failure_bad_args(err, "from is where create begins a new branch.",
                                   "from is given without create");
    if (args->create)
        return al_arg_check_branch("branch", args->branch, err);
    return args->branch ? al_arg_check_revision("branch", args->branch, err) : 0;
}

/* The name without the remote in front; NULL: it begins with none. */
static const char *after_remote(const struct al_repo *repo, const char *word)
{
    al_auto(al_strv_clear) struct al_strv remotes = AL_STRV_INIT;

    al_remote_names(repo, &remotes);
    for (size_t i = 0; i < remotes.count; i++)
        if (al_starts_with(word, remotes.items[i]) && word[strlen(remotes.items[i])] == '/')
            return word + strlen(remotes.items[i]) + 1;
    return NULL;
}

/* A branch by its name, by its full name, or by the remote-tracking branch that it follows, which
 * it is made from if there is none. */
static int resolve_branch(struct al_call *call, const char *word, struct al_error *err)
{
    const struct al_location *at = &al_call_repo(call)->at;
    const char *name = after_remote(al_call_repo(call), word);
    al_auto(al_freep) char *own = al_asprintf("%s%s", heads, word);
    al_auto(al_freep) char *tracking = al_asprintf("refs/remotes/%s", word);
    al_auto(al_freep) char *local = al_asprintf("%s%s", heads, name ? name : "");
    al_auto(al_freep) char *oid = NULL;

    if (al_starts_with(word, heads) && al_ref_exists(at, word) && !al_ref_exists(at, own))
        return al_resolve_checkout(call, word + strlen(heads), err);
    if (!name || al_ref_exists(at, own) || !al_ref_exists(at, tracking))
        return al_resolve_checkout(call, word, err);
    if (al_ref_exists(at, local))
        return al_resolve_checkout(call, name, err);
    oid = al_ref_oid(at, tracking);
    al_call_resolve(call, AL_RESOLVED_BRANCH, local);
    al_call_resolve(call, AL_RESOLVED_COMMIT, oid);
    al_call_resolve(call, FOLLOWED, tracking);
    return 0;
}

static int resolve(struct al_call *call, const void *p, struct al_error *err)
{
    const struct switch_args *args = p;

    if (args->rev)
        return al_resolve_commit(call, args->rev, err);
    if (!args->create)
        return resolve_branch(call, args->branch, err);
    return args->from ? al_resolve_commit(call, args->from, err) : 0;
}

static struct al_checkout_options options_of(const struct al_call *call,
                                             const struct switch_args *args)
{
    const char *followed = al_call_resolved(call, FOLLOWED);
    struct al_checkout_options options = { .create = NULL };

    if (followed) {
        options.create = al_call_resolved(call, AL_RESOLVED_BRANCH) + strlen(heads);
        options.from = followed;
    } else if (args->create) {
        options.create = args->branch;
        options.from = args->from;
    } else if (args->rev) {
        options.commit = al_call_resolved(call, AL_RESOLVED_COMMIT);
    } else {
        al_resolved_checkout(call, args->branch, &options);
    }
    return options;
}

/* Who names what is not there may want to make it, or to bring it; of several remotes git takes
 * none.
 */
static int refuse_switch(struct al_call *call, const struct switch_args *args, struct al_error *err,
                         int r)
{
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv remotes = AL_STRV_INIT;

    if (!err || !args->branch || args->create)
        return r;
    if (al_switch_guesses(call, &names) > 1)
        return al_failure_set(err, "Give one of them as branch.",
                              "Several remotes have a branch '%s': %s", args->branch, names.buf);
    al_remote_names(al_call_repo(call), &remotes);
    if (err->code == AL_CODE_BRANCH_NOT_FOUND)
        err->remedy =
            after_remote(al_call_repo(call), args->branch)
                ? "git_fetch brings what the remote has now; git_branch lists what is here."
            : remotes.count ? "git_fetch brings a branch that only the remote has; create makes a "
                              "branch of this name; git_branch lists those there are."
                            : "create makes a branch of this name; git_branch lists those there "
                              "are.";
    return r;
}

static int check_new(struct al_call *call, const char *branch, struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", branch);
    al_auto(al_freep) char *safe = al_text_sanitize_line(branch);
    int r;

    if (!al_ref_exists(&al_call_repo(call)->at, ref))
        return 0;
    r = al_failure_set(err, "Without create, git_switch changes to it.", "'%s' exists already",
                       safe);
    if (err)
        err->code = AL_CODE_BRANCH_EXISTS;
    return r;
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct switch_args *args = p;
    const enum al_operation_state state = al_git_operation_state(al_call_repo(call));
    int r = 0;

    if (state != AL_IN_PROGRESS_NONE)
        return al_failure_set(
            err, "git_conflicts with action continue or abort brings it to an end first.",
            "A %s is in progress", al_operation_state_name(state));
    if (args->create)
        r = check_new(call, args->branch, err);
    else if (args->branch && !al_call_resolved(call, AL_RESOLVED_BRANCH) &&
             al_call_resolved(call, AL_RESOLVED_COMMIT))
        r = al_failure_bad_args(err,
                                "Give it as rev to look at the commit; create makes a branch of "
                                "this name.",
                                "branch: it names a tag or a commit, and no branch");
    else if (args->branch)
        r = al_switch_check(call, args->branch, err);
    if (r < 0 && !args->create)
        return refuse_switch(call, args, err, r);
    if (r < 0 || (args->create && !args->from))
        return r;
    return al_switch_check_filters(call, err);
}

static int changed_files(struct al_call *call, const void *p, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    const struct switch_args *args = p;

    *ret_known = true; /* a new branch at HEAD writes no file */
    return args->create && !args->from ? 0 : al_switch_changed_files(call, ret_known, out, err);
}

static int describe(struct al_call *call, const struct switch_args *args, const char *before,
                    struct al_str *text, struct al_error *err)
{
    al_auto(al_freep) char *now = al_ref_read_head(&al_call_repo(call)->at);
    const char *ref = now && al_starts_with(now, "ref: ") ? now + strlen("ref: ") : NULL;
    int r = 0;

    if (!ref) {
        r = al_outcome_add_commit(call, "On no branch, at ", "HEAD", "", text, err);
    } else {
        const bool same = before && !strcmp(before, now);

        al_place_addf(text, "%s %s",
                      args->create || al_call_resolved(call, FOLLOWED) ? "Made and switched to"
                      : same                                           ? "Already on"
                                                                       : "Switched to",
                      al_starts_with(ref, heads) ? ref + strlen(heads) : ref);
    }
    al_str_addc(text, '\n');
    return r;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    static const char hooks[] = "post-checkout";
    const struct switch_args *args = p;
    const struct al_checkout_options options = options_of(call, args);
    al_auto(al_freep) char *left = NULL;
    al_auto(al_freep) char *before = al_ref_read_head(&al_call_repo(call)->at);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_checkout(al_call_repo(call), &options, al_call_max_bytes(call), &output, err);

    if (r < 0)
        return refuse_switch(call, args, err, r);
    r = describe(call, args, before, &result->text, err);
    if (r < 0)
        return r;
    left = al_switch_left_commit(&output);
    if (left)
        al_str_addf(&result->text,
                    "HEAD was at %s, which is on no branch: git_branch with action create and from "
                    "%.*s keeps it\n",
                    left, (int)strcspn(left, " "), left);
    al_outcome_add_skipped(call, hooks, false, &result->text);
    return 0;
}

/* AL_WRITES_CONFIG: with branch.autoSetupMerge git sets an upstream for a new branch. */
#define SWITCHES (AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS | AL_WRITES_CONFIG)

static const struct al_operation operations[] = {
    { "create", creates, SWITCHES, execute, AL_ASKS_UNLESS_SAVED },
    { "switch", NULL, SWITCHES, execute, AL_ASKS_UNLESS_SAVED },
};

const struct al_tool al_tool_everyday_switch = {
    .name = "git_switch",
    .title = "Switch",
    .about = "Change to a branch, make one, or look at a commit; local changes are kept.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct switch_args),
    .check = check,
    .resolve = resolve,
    .authorize = authorize,
    .changed_files = changed_files,
    .moves = AL_MOVES_HEAD | AL_MOVES_NEW,
    .keeps_staged = true,
    .summary = "[rev?Look at '{rev}'][!rev?[create?Make and switch to branch][!create?Switch to]"
               " '{branch}'][from? from '{from}']",
};
