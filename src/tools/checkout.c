// SPDX-License-Identifier: Apache-2.0
/* git_checkout: switch to a branch or a commit, or put files back; with git's words, and with
 * structured results.  And git_switch: change to a branch, make one, or look at a commit. */
#include "tools/private.h"

#include "base/utf8.h"
#include "git/failure.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/index_scan.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "verbs/porcelain/branch.h"
#include "verbs/preview/affected_files.h"
#include "verbs/worktree/list.h"

/** Limit for hash and subject of the commit that HEAD was at, in a note. */
#define SUBJECT_MAX_BYTES 200

#define SHOWN_DIGITS      10

/* The remote-tracking branches that git may create a branch from. */
#define RESOLVED_GUESS "remote branches"

/* Of git_switch: the remote-tracking branch that a branch is made from, since its name was given.
 */
#define FOLLOWED "followed"

static const char heads[] = "refs/heads/";

int al_resolve_commit(struct al_call *call, const char *rev, struct al_error *err)
{
    al_auto(al_freep) char *oid = NULL;
    int r = al_git_resolve_commit(al_call_repo(call), rev ? rev : "HEAD", &oid, err);

    if (r == 0)
        al_call_resolve(call, AL_RESOLVED_COMMIT, oid);
    return r;
}

/* Add the branch or the commit that git would switch to, as resolved. */
static int resolve_word(struct al_call *call, const char *word, struct al_error *err)
{
    al_auto(al_checkout_target_clear) struct al_checkout_target target = { .branch = NULL };
    int r = al_git_resolve_checkout(al_call_repo(call), word, &target, err);

    if (r < 0)
        return r;
    if (target.branch)
        al_call_resolve(call, AL_RESOLVED_BRANCH, target.branch);
    if (target.oid)
        al_call_resolve(call, AL_RESOLVED_COMMIT, target.oid);
    if (target.guess)
        al_call_resolve(call, RESOLVED_GUESS, target.guess);
    return 0;
}

/* Append the remote-tracking branches that git may make the branch from: "origin/x, other/x". Gives
 * their number. */
static size_t add_guesses(const struct al_call *call, struct al_str *out)
{
    const char *guess = al_call_resolved(call, RESOLVED_GUESS);
    size_t count = 0;

    for (; guess && *guess; guess += strcspn(guess, "\n") + 1) {
        const char *name = guess + strlen("refs/remotes/");

        al_str_addf(out, "%s%.*s", count++ ? ", " : "", (int)strcspn(name, " "), name);
    }
    return count;
}

/* The commit that is switched to: what was resolved, or that of the only remote-tracking branch
 * that git could make the branch from.  NULL: there is none, or there are several.  Caller frees.
 */
static char *switched_commit(const struct al_call *call)
{
    const char *commit = al_call_resolved(call, AL_RESOLVED_COMMIT);
    const char *guess = commit ? NULL : al_call_resolved(call, RESOLVED_GUESS);
    const char *oid = guess ? strchr(guess, ' ') : NULL;
    const char *end = oid ? strchr(oid, '\n') : NULL;

    if (commit)
        return al_strdup(commit);
    return end && !end[1] ? al_strndup(oid + 1, (size_t)(end - oid - 1)) : NULL;
}

/* Fail if a switch to what was resolved would write content through a configured filter driver. */
static int check_filters(struct al_call *call, struct al_error *err)
{
    al_auto(al_freep) char *commit = switched_commit(call);

    if (!commit || al_ref_is_unborn(&al_call_repo(call)->at)) /* git reports it */
        return 0;
    return al_git_check_filters_between(al_call_repo(call), "HEAD", commit, err);
}

/* Fail if git would refuse to switch, since the word names nothing, or a branch that another
 * working tree has checked out.  After a branch or a commit was resolved. */
static int check_target(struct al_call *call, const char *word, struct al_error *err)
{
    const char *branch = al_call_resolved(call, AL_RESOLVED_BRANCH);
    const char *guess = al_call_resolved(call, RESOLVED_GUESS);
    al_auto(al_freep) char *safe = al_text_sanitize_line(branch ? branch + strlen(heads) : word);
    al_auto(al_freep) char *head = al_ref_read_head(&al_call_repo(call)->at);

    /* git may still make the branch from one of a remote. */
    if (!branch && !al_call_resolved(call, AL_RESOLVED_COMMIT) && !(guess && *guess))
        return al_git_would_fail(err, "fatal: invalid reference: %s", safe);
    /* The branch that is checked out here may be so elsewhere too. */
    if (!branch ||
        (head && al_starts_with(head, "ref: ") && !strcmp(head + strlen("ref: "), branch)))
        return 0;
    return al_worktree_check_free(al_call_repo(call), branch + strlen(heads), true, err);
}

/* Add a note about the operation that was in progress before a switch, when HEAD was at `commit`,
 * with how to return to it or abort it. */
static void note_operation(const struct al_call *call, enum al_operation_state before,
                           const char *commit, struct al_result *result)
{
    enum al_operation_state now = al_git_operation_state(al_call_repo(call));
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (before == AL_IN_PROGRESS_NONE)
        return;
    if (now == AL_IN_PROGRESS_NONE) {
        al_str_addf(&line,
                    "The %s that was in progress is ended, unfinished: a commit made now is "
                    "not part of it",
                    al_operation_state_noun(before));
    } else {
        al_git_operation_line(al_call_repo(call), 0, &line);
        al_str_addf(&line, " and was left: git_checkout of %.*s goes back to where it stopped, ",
                    SHOWN_DIGITS, commit);
        if (al_session_has(al_call_session(call), "git_merge", NULL))
            al_str_adds(&line, "git_merge with abort aborts it");
        else
            al_str_addf(&line, "a user aborts it with 'git %s --abort'",
                        al_operation_state_name(now));
    }
    al_result_note(result, line.buf);
}

/* The commit that HEAD was at, "1a2b3c4 subject", if a switch left it on no branch and no tag; else
 * NULL.  git's warning lists the commits that no branch or tag contains, HEAD's first; its advice
 * names commands that the caller does not have.  Caller frees. */
static char *left_commit(const struct al_git_output *output)
{
    const char *warning = strstr(output->err.out.buf, "Warning: you are leaving ");
    const char *commit = warning ? strstr(warning, "\n  ") : NULL;
    size_t len;

    if (!commit)
        return NULL;
    commit += strlen("\n  ");
    len = strcspn(commit, "\n");
    return al_strndup(commit,
                      len > SUBJECT_MAX_BYTES ? al_utf8_floor(commit, SUBJECT_MAX_BYTES) : len);
}

struct checkout_args {
    const char *target;
    bool create, force;
    struct al_strv paths;
    const char *create_branch, *commit; /* of the toolset git */
    const char *branch;                 /* of git and everyday */
    const char *from, *rev;             /* of everyday */
    struct al_opt_int timeout_ms;
    const char *working_dir;
};

static const char hooks[] = "post-checkout reference-transaction post-index-change";

/* The request, in whatever dialect it came: a new branch, files, or where to switch to. */
struct request {
    const char *create;          /* the branch to make; else NULL */
    const char *from;            /* where it begins; NULL: at HEAD */
    const struct al_strv *paths; /* the files to put back; else NULL */
    const char *target;          /* where to switch to, or where the files come from; NULL: the
                                    index */
    bool detaches;               /* the target is a commit */
    bool force;
};

static struct request request_of(const struct al_call *call)
{
    const struct checkout_args *args = al_call_args(call);
    struct request request = { .create = args->create_branch, .force = args->force };

    if (al_call_tool(call)->is_everyday)
        return (struct request){ .create = args->create ? args->branch : NULL,
                                 .from = args->from,
                                 .target = args->rev ? args->rev : args->branch,
                                 .detaches = args->rev };
    if (!request.create) {
        request.target = args->target ? args->target : args->branch ? args->branch : args->commit;
        request.detaches = args->commit && request.target == args->commit;
    }
    if (args->create && !al_has_ref(call, heads, args->target))
        request.create = args->target;
    else if (args->paths.count && (args->target || (!request.create && !request.target)))
        request.paths = &args->paths;
    return request;
}

static bool is_from_index(const struct request *request)
{
    return request->paths && !request->target;
}

/* Files may come from any tree, such as "HEAD:docs". */
static int resolve(struct al_call *call, struct al_error *err)
{
    const struct request request = request_of(call);
    al_auto(al_freep) char *oid = NULL;
    int r;

    if (request.create || is_from_index(&request))
        return 0;
    if (!request.paths && !request.detaches)
        return resolve_word(call, request.target, err);
    r = al_git_find_object(al_call_repo(call), request.target, request.paths ? "tree" : "commit",
                           &oid, err);
    if (r == 0 && oid)
        al_call_resolve(call, AL_RESOLVED_COMMIT, oid);
    return r;
}

/* The target by its id. */
static const char *resolved_target(const struct al_call *call, const struct request *request)
{
    const char *oid = al_call_resolved(call, AL_RESOLVED_COMMIT);

    return oid ? oid : request->target;
}

/* git gets the word itself if nothing was resolved, to guess a remote branch or to report the
 * error.
 */
static struct al_checkout_options options_of(const struct al_call *call,
                                             const struct request *request)
{
    const char *followed = al_call_resolved(call, FOLLOWED);
    const char *branch = al_call_resolved(call, AL_RESOLVED_BRANCH);
    const char *commit = al_call_resolved(call, AL_RESOLVED_COMMIT);
    struct al_checkout_options options = { .create = request->create,
                                           .from = request->from,
                                           .force = request->force };

    if (followed) {
        options.create = branch + strlen(heads);
        options.from = followed;
    } else if (request->detaches) {
        options.commit = resolved_target(call, request);
    } else if (request->create) {
        return options;
    } else if (branch) { /* by name, since its id would detach HEAD */
        options.branch = branch + strlen(heads);
    } else if (commit && strcmp(request->target, "HEAD") != 0) {
        options.commit = commit;
    } else {
        options.branch = request->target;
    }
    return options;
}

static struct al_checkout_from source_of(const struct al_call *call, const struct request *request)
{
    return (struct al_checkout_from){
        .target = resolved_target(call, request),
        .paths = request->paths,
        .force = request->force,
    };
}

static int authorize(struct al_call *call, struct al_error *err)
{
    const struct request request = request_of(call);
    const struct al_checkout_from from = source_of(call, &request);
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r;

    if (!request.paths) /* a new branch is made at HEAD */
        return request.create ? 0 : check_filters(call, err);
    if (is_from_index(&request)) {
        r = al_repo_pathspecs(repo, request.paths, &words, err);
        return r < 0 ? r : al_git_restore_check(repo, request.paths, err);
    }
    r = al_workflow_check_paths(call, "paths", request.paths, err);
    return r < 0 ? r : al_git_checkout_from_check(repo, &from, err);
}

/* git itself refuses to overwrite files without `force` and paths. */
static int affected_files(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const struct request request = request_of(call);
    al_auto(al_freep) char *commit = switched_commit(call);
    const char *target = request.create ? "HEAD" : commit;
    struct al_repo *repo = al_call_repo(call);
    int r;

    if (!request.force && !request.paths)
        return 0;
    r = al_git_overwritten_files(repo, request.paths, false, out, err);
    if (r == 0 && target)
        r = al_git_untracked_overwritten(repo, target, request.paths, out, err);
    return r;
}

static int changed_files(struct al_call *call, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    const struct request request = request_of(call);
    const char *commit = request.create ? "HEAD" : al_call_resolved(call, AL_RESOLVED_COMMIT);
    al_auto(al_freep) char *switched = switched_commit(call);
    struct al_repo *repo = al_call_repo(call);

    *ret_known = true;
    if (!request.force && !request.paths && request.create && !request.from)
        return 0; /* a new branch at HEAD writes no file */
    if (!request.force && !request.paths) {
        *ret_known = switched;
        return switched ? al_git_switched_files(repo, switched, ret_known, out, err) : 0;
    }
    *ret_known = is_from_index(&request) ? !al_repo_index_facts(&repo->at).marks : commit != NULL;
    if (!*ret_known)
        return 0;
    return is_from_index(&request)
               ? al_git_rewritten_files(repo, request.paths, out, err)
               : al_git_reset_files(repo, commit, request.paths, false, ret_known, out, err);
}

/* Show the changes that are lost.  No question is asked about a switch that git would refuse. */
static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct request request = request_of(call);
    const bool from_index = is_from_index(&request);
    const struct al_diff_options lost = {
        .unified = -1,
        .from_ref = request.paths ? resolved_target(call, &request) : "HEAD",
        .paths = request.paths,
    };
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_str_clear) struct al_str operation = AL_STR_INIT;
    int r = 0;

    if (!request.paths)
        al_git_operation_line(repo, 0, &operation);
    if (operation.len)
        al_str_addf(out, "%s, and switching leaves it unfinished.\n", operation.buf);
    if (request.create)
        r = al_git_branch_create_check(repo, request.create, err);
    else if (!request.paths && !request.force)
        r = al_git_check_no_conflicts(repo, err);
    if (r == 0 && !request.paths && !request.create)
        r = check_target(call, request.target, err);
    if (r < 0 || (!request.force && !request.paths) || (!*head && !from_index))
        return r;
    r = al_git_loss_excerpt(
        repo, &lost,
        from_index ? "This is lost; the files come back from the index:" : "This is lost:", out,
        err);
    if (r == 0 && from_index && !out->len)
        al_call_plan(call)->skips_approval = true;
    return r;
}

/* AL_WRITES_CONFIG: with branch.autoSetupMerge git sets an upstream for a new branch, and for a
 * local branch that it creates from a remote one. */
#define SWITCHES (AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS | AL_WRITES_CONFIG)

/* The part that both tools have. */
#define SHARED                                                                                     \
    .name = "git_checkout", .title = "Check out", .moves = AL_MOVES_HEAD | AL_MOVES_NEW,           \
    .keeps_staged = true, .resolve = resolve, .authorize = authorize,                              \
    .affected_files = affected_files, .changed_files = changed_files, .preview = preview

/* The toolset git. */

static const struct al_param git_params[] = {
    AL_STRING(struct checkout_args, branch, "Branch to switch to.",
              .flags = AL_PARAM_BRANCH | AL_PARAM_EVERY_PATH, .check = al_arg_check_branch,
              .unless = "create_branch"),
    AL_STRING(struct checkout_args, create_branch, "Create and switch to it.",
              .flags = AL_PARAM_BRANCH, .check = al_arg_check_branch),
    AL_STRING(struct checkout_args, commit, "Detach HEAD there.",
              .flags = AL_PARAM_EVERY_PATH | AL_PARAM_NAME, .check = al_arg_check_revision,
              .unless = "create_branch branch"),
    AL_STRINGS(struct checkout_args, paths,
               "Put these back from the index, when nothing else is given.", .flags = AL_PARAM_PATH,
               .unless = "create_branch branch commit"),
    AL_GIT_COMMON_ROWS(struct checkout_args),
};

AL_WHEN(makes_branch, struct checkout_args, args->create_branch)
AL_WHEN(switches, struct checkout_args, args->branch)
AL_WHEN(detaches, struct checkout_args, args->commit)

static int git_check(void *p, struct al_error *err)
{
    const struct checkout_args *args = p;

    if (!args->create_branch && !args->branch && !args->commit && !args->paths.count)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "At least one of branch, create_branch, commit, or paths must be "
                            "specified");
    return 0;
}

/* Replace git's advice about commands, which the agent does not have, by one line about a tool. */
static void replace_advice(struct al_str *text)
{
    static const char begin[] = "If you want to create a new branch to retain commits";
    static const char end[] = "advice.detachedHead to false\n";
    const char *from = strstr(text->buf, begin), *to = from ? strstr(from, end) : NULL;
    al_auto(al_str_clear) struct al_str shorter = AL_STR_INIT;

    if (!to)
        return;
    al_str_add(&shorter, text->buf, (size_t)(from - text->buf));
    al_str_adds(&shorter, "git_checkout with create_branch keeps commits that are made here.\n");
    al_str_adds(&shorter, to + strlen(end));
    al_str_reset(text);
    al_str_add(text, shorter.buf, shorter.len);
}

static int git_switch_to(struct al_call *call, struct al_result *result, struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    const struct request request = request_of(call);
    const struct al_checkout_options options = options_of(call, &request);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    const enum al_operation_state before = al_git_operation_state(repo);
    int r = al_git_checkout(repo, &options, al_call_max_bytes(call), &output, err);

    if (r < 0)
        return r;
    /* git checkout prints its normal messages on stderr. */
    al_str_add(&output.out.out, output.err.out.buf, output.err.out.len);
    al_str_reset(&output.err.out);
    replace_advice(&output.out.out);
    al_git_skipped_hooks(repo, hooks, &notes);
    (void)al_call_shape_text(call, r, &output, notes.buf, result);
    note_operation(call, before, head, result);
    return 0;
}

static int restore_paths(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct checkout_args *args = al_call_args(call);
    const struct al_restore_options options = { .paths = &args->paths, .worktree = true };

    return al_git_restore_named(call, &options, false, result, err);
}

static const struct al_operation git_operations[] = {
    { "create_branch", makes_branch, AL_WRITES_REFS | AL_WRITES_CONFIG, git_switch_to,
      AL_ASKS_BY_EFFECTS },
    { "switch", switches, SWITCHES, git_switch_to, AL_ASKS_BY_EFFECTS },
    { "commit", detaches, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS, git_switch_to,
      AL_ASKS_BY_EFFECTS },
    { "restore_paths", NULL, AL_WRITES_WORKTREE | AL_DISCARDS_WORK, restore_paths,
      AL_ASKS_BY_EFFECTS },
};

const struct al_tool al_tool_git_checkout = {
    SHARED,
    .about = "Switch to a branch, create one, look at a commit, or put files back from the index.",
    AL_TOOL_ROWS(git_params, git_operations),
    AL_DIALECT_TOOL(struct checkout_args),
    .check = git_check,
    .summary = "[create_branch?Create and switch to branch '{create_branch}'][!create_branch?"
               "[branch?Switch to branch '{branch}'][!branch?[commit?Checkout commit '{commit}']"
               "[!commit?Restore {#paths} file(s) from HEAD]]]",
};

/* The toolset workflow. */

static const struct al_param workflow_params[] = {
    AL_STRING(struct checkout_args, target, "Branch or commit.",
              .flags = AL_PARAM_REQUIRED | AL_PARAM_BRANCH | AL_PARAM_REVISION),
    AL_BOOL(struct checkout_args, create, "Create the branch if there is none."),
    AL_STRINGS(struct checkout_args, paths, "Only put these files back as target has them.",
               .flags = AL_PARAM_PATH),
    AL_BOOL(struct checkout_args, force, "Discard local changes."),
    AL_WORKFLOW_CWD_ROW(struct checkout_args),
};

AL_WHEN(only_restores, struct checkout_args, !args->force && args->paths.count)
AL_WHEN(may_create, struct checkout_args, !args->force && args->create)
AL_WHEN(is_not_forced, struct checkout_args, !args->force)

static int workflow_check(void *p, struct al_error *err)
{
    const struct checkout_args *args = p;

    if (args->create && args->paths.count)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "create and paths cannot be given together: files are put back from "
                            "what exists");
    return args->create ? al_arg_check_branch("target", args->target, err)
                        : al_arg_check_revision("target", args->target, err);
}

static void set_result(struct al_call *call, bool created, const struct al_strv *files,
                       struct al_result *result)
{
    al_auto(al_freep) char *branch = al_current_branch(al_call_repo(call));
    al_auto(al_freep) char *commit = al_ref_head(&al_call_repo(call)->at);
    size_t room = al_call_max_bytes(call);
    json_t *restored;

    al_result_set(result, "ref", al_json_string(branch ? branch : commit));
    al_result_set(result, "created", al_json_bool(created));
    if (files) {
        al_result_set(result, "restoredFiles", restored = al_json_array());
        al_workflow_add_names(files, restored, &room, &result->truncated);
    }
    al_workflow_skipped(call, hooks, false, result);
}

static int switch_to(struct al_call *call, const struct request *request, const char *name,
                     struct al_result *result, struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    const struct al_checkout_options options = options_of(call, request);
    bool existed = al_has_ref(call, heads, name);
    al_auto(al_freep) char *left = NULL, *note = NULL, *head = al_ref_head(&repo->at);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const enum al_operation_state before = al_git_operation_state(repo);
    int r = al_git_checkout(repo, &options, al_call_max_bytes(call), &output, err);

    if (r < 0)
        return r;
    /* git also creates a branch from a remote branch of the name, if there is only one. */
    set_result(call, !existed && al_has_ref(call, heads, name), NULL, result);
    left = left_commit(&output);
    if (left) {
        note = al_asprintf("HEAD was at %s, which is on no branch; git_checkout with target %.*s, "
                           "then git_branch with action create, keeps it",
                           left, (int)strcspn(left, " "), left);
        al_result_note(result, note);
    }
    note_operation(call, before, head, result);
    return 0;
}

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct checkout_args *args = al_call_args(call);
    const struct request request = request_of(call);
    const struct al_checkout_from from = source_of(call, &request);
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    int r;

    if (!request.paths)
        return switch_to(call, &request, args->target, result, err);
    r = al_git_checkout_from(al_call_repo(call), &from, &files, err);
    if (r == 0)
        set_result(call, false, &files, result);
    return r;
}

static const struct al_operation workflow_operations[] = {
    { "restore_paths", only_restores, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_DISCARDS_WORK,
      execute, AL_ASKS_NEVER },
    { "create", may_create, SWITCHES, execute, AL_ASKS_NEVER },
    { "switch", is_not_forced, SWITCHES, execute, AL_ASKS_NEVER },
    { "force", NULL, SWITCHES | AL_DISCARDS_WORK, execute, AL_ASKS_ALWAYS },
};

/* clang-format off */
static const char output_schema[] = AL_JSON({"ref": "", "created": true, "restoredFiles?": [""]});
/* clang-format on */

const struct al_tool al_tool_workflow_checkout = {
    SHARED,
    .about = "Switch to a branch or commit, or put files back as a commit has them (paths).",
    AL_TOOL_ROWS(workflow_params, workflow_operations),
    AL_WORKFLOW_TOOL(struct checkout_args),
    .check = workflow_check,
    .summary = "[paths?Put {#paths} file(s) back from][!paths?[create?Create and switch to branch]"
               "[!create?Switch to]] '{target}'[force?, discarding local changes]",
    .output_schema = output_schema,
};

/* The toolset everyday: git_switch. */

static const struct al_param switch_params[] = {
    AL_STRING(struct checkout_args, branch, NULL, .flags = AL_PARAM_BRANCH),
    AL_BOOL(struct checkout_args, create, NULL,
            .bad_message = "branch is the name, and create says whether to make it: branch=NAME "
                           "create=true."),
    AL_STRING(struct checkout_args, from, "Where create begins; default HEAD.",
              .flags = AL_PARAM_NAME, .check = al_arg_check_revision),
    AL_STRING(struct checkout_args, rev, "Commit to look at, on no branch.", .flags = AL_PARAM_NAME,
              .check = al_arg_check_revision),
    AL_WORKING_DIR_ROW(struct checkout_args),
};

static int switch_check(void *p, struct al_error *err)
{
    const struct checkout_args *args = p;

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
    const bool is_own = al_has_ref(call, heads, word);
    al_auto(al_freep) char *tracking = al_asprintf("refs/remotes/%s", word);
    al_auto(al_freep) char *local = al_asprintf("%s%s", heads, name ? name : "");
    al_auto(al_freep) char *oid = NULL;

    if (al_starts_with(word, heads) && al_ref_exists(at, word) && !is_own)
        return resolve_word(call, word + strlen(heads), err);
    if (!name || is_own || !al_ref_exists(at, tracking))
        return resolve_word(call, word, err);
    if (al_ref_exists(at, local))
        return resolve_word(call, name, err);
    oid = al_ref_oid(at, tracking);
    al_call_resolve(call, AL_RESOLVED_BRANCH, local);
    al_call_resolve(call, AL_RESOLVED_COMMIT, oid);
    al_call_resolve(call, FOLLOWED, tracking);
    return 0;
}

static int switch_resolve(struct al_call *call, struct al_error *err)
{
    const struct checkout_args *args = al_call_args(call);

    if (args->rev)
        return al_resolve_commit(call, args->rev, err);
    if (!args->create)
        return resolve_branch(call, args->branch, err);
    return args->from ? al_resolve_commit(call, args->from, err) : 0;
}

/* A name that is not there may be one to make, or to bring; of several remotes git takes none. */
static int refuse_switch(struct al_call *call, const struct checkout_args *args,
                         struct al_error *err, int r)
{
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv remotes = AL_STRV_INIT;

    if (!err || !args->branch || args->create)
        return r;
    if (add_guesses(call, &names) > 1)
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

static int switch_authorize(struct al_call *call, struct al_error *err)
{
    const struct checkout_args *args = al_call_args(call);
    const enum al_operation_state state = al_git_operation_state(al_call_repo(call));
    al_auto(al_freep) char *safe = args->create ? al_text_sanitize_line(args->branch) : NULL;
    int r = 0;

    if (state != AL_IN_PROGRESS_NONE)
        return al_failure_set(
            err, "git_conflicts with action continue or abort brings it to an end first.",
            "A %s is in progress", al_operation_state_name(state));
    if (args->create && al_has_ref(call, heads, args->branch))
        return al_error_remedy(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_EXISTS,
                                                 "'%s' exists already", safe),
                               err, "Without create, git_switch changes to it.");
    if (args->create)
        return args->from ? check_filters(call, err) : 0;
    if (args->branch && !al_call_resolved(call, AL_RESOLVED_BRANCH) &&
        al_call_resolved(call, AL_RESOLVED_COMMIT))
        r = al_failure_bad_args(err,
                                "Give it as rev to look at the commit; create makes a branch of "
                                "this name.",
                                "branch: it names a tag or a commit, and no branch");
    else if (args->branch)
        r = check_target(call, args->branch, err);
    return r < 0 ? refuse_switch(call, args, err, r) : check_filters(call, err);
}

static int describe(struct al_call *call, const struct checkout_args *args, const char *before,
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

static int switch_execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct checkout_args *args = al_call_args(call);
    const struct request request = request_of(call);
    const struct al_checkout_options options = options_of(call, &request);
    al_auto(al_freep) char *left = NULL;
    al_auto(al_freep) char *before = al_ref_read_head(&al_call_repo(call)->at);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_checkout(al_call_repo(call), &options, al_call_max_bytes(call), &output, err);

    if (r < 0)
        return refuse_switch(call, args, err, r);
    r = describe(call, args, before, &result->text, err);
    if (r < 0)
        return r;
    left = left_commit(&output);
    if (left)
        al_str_addf(&result->text,
                    "HEAD was at %s, which is on no branch: git_branch with action create and from "
                    "%.*s keeps it\n",
                    left, (int)strcspn(left, " "), left);
    al_outcome_add_skipped(call, "post-checkout", false, &result->text);
    return 0;
}

static const struct al_operation switch_operations[] = {
    { "create", may_create, SWITCHES, switch_execute, AL_ASKS_UNLESS_SAVED },
    { "switch", NULL, SWITCHES, switch_execute, AL_ASKS_UNLESS_SAVED },
};

const struct al_tool al_tool_everyday_switch = {
    .name = "git_switch",
    .title = "Switch",
    .about = "Change to a branch, make one, or look at a commit; local changes are kept.",
    AL_TOOL_ROWS(switch_params, switch_operations),
    AL_EVERYDAY_TOOL(struct checkout_args),
    .check = switch_check,
    .resolve = switch_resolve,
    .authorize = switch_authorize,
    .changed_files = changed_files,
    .moves = AL_MOVES_HEAD | AL_MOVES_NEW,
    .keeps_staged = true,
    .summary = "[rev?Look at '{rev}'][!rev?[create?Make and switch to branch][!create?Switch to]"
               " '{branch}'][from? from '{from}']",
};
