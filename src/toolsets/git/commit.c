// SPDX-License-Identifier: Apache-2.0
/* git_commit: commit the staged changes with a conventional message, or continue a stopped
 * operation. */
#include "gitops/porcelain/commit.h"
#include "gitops/command.h"
#include "gitops/plumbing/skipped.h"
#include "gitops/porcelain/resume.h"
#include "gitops/replay/going_on.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "gitops/sequencer/expected_commit.h"
#include "gitops/sequencer/merge.h"
#include "gitops/sequencer/operation_state.h"
#include "guard/text.h"
#include "tool/call.h"
#include "toolsets/git/git.h"
#include "util/utf8.h"

#define SUMMARY_MAX_CHARS 50

struct commit_args {
    const char *type, *scope, *message;
    AL_GIT_COMMON_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct commit_args, type, "feat, fix, docs, style, refactor, test, chore, and so on.",
              .flags = AL_PARAM_REQUIRED, .pattern = "^[a-z]+$", .max_bytes = 64,
              .bad_message = "type must be lowercase letters only (e.g., feat, fix, docs)"),
    AL_STRING(struct commit_args, scope, "Area of the change.", .pattern = "^[a-z0-9_-]+$",
              .max_bytes = 64,
              .bad_message = "scope must be lowercase alphanumeric, underscore, or hyphen"),
    AL_STRING(struct commit_args, message, "Further lines are the body.",
              .flags = AL_PARAM_REQUIRED, .min_bytes = 1, .max_bytes = AL_GIT_TEXT_MAX_BYTES,
              .bad_message = "message must not be empty"),
    AL_GIT_TIMEOUT_ROW(struct commit_args),
    AL_GIT_WORKING_DIR_ROW(struct commit_args),
};

static void add_prefix(struct al_str *out, const struct commit_args *args)
{
    al_str_adds(out, args->type);
    if (args->scope)
        al_str_addf(out, "(%s)", args->scope);
    al_str_adds(out, ": ");
}

/* The bytes of the message that the summary shows: at most SUMMARY_MAX_CHARS characters of the
 * first line. */
static size_t summary_bytes(const char *message)
{
    size_t line = strcspn(message, "\n");
    size_t at = 0;

    for (size_t chars = 0; at < line && chars < SUMMARY_MAX_CHARS; chars++) {
        uint32_t c;
        int n = al_utf8_next(message + at, line - at, &c);

        at += n > 0 ? (size_t)n : 1;
    }
    return at;
}

static bool fits_summary(const char *message)
{
    return !message[summary_bytes(message)];
}

/* Continuing a stopped operation may write the working tree as well. */
static bool resumes(const struct al_call *call, const void *p)
{
    const struct al_repo *repo = call ? al_call_repo(call) : NULL;

    (void)p;
    return repo && al_git_resume_writes(repo);
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    int r = al_git_check_signature(repo, err);

    (void)p;
    return r == 0 && al_git_resumable(repo) ? al_git_resume_check(repo, al_call_budget(call), err)
                                            : r;
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct commit_args *args = p;
    struct al_repo *repo = al_call_repo(call);
    char *expected;
    int r;

    (void)op;
    al_git_show_unsigned(repo, out);
    if (!fits_summary(args->message)) {
        al_str_adds(out, "The whole message:\n");
        al_text_add_indented(out, args->message, al_call_budget(call)->in_full);
        al_str_adds(out, "The change:\n");
    }
    if (al_git_resumable(repo) == AL_IN_PROGRESS_REBASE)
        return al_git_resume_preview(repo, al_call_budget(call), out, err);
    r = al_git_expect_commit(repo, al_call_budget(call), &expected, err);
    if (r < 0)
        return r;
    al_call_set_expected(call, expected);
    return al_git_resumable(repo) ? al_git_resume_preview(repo, al_call_budget(call), out, err)
                                  : al_git_commit_preview(repo, al_call_budget(call), out, err);
}

static int resume(struct al_call *call, const char *message, const char *const *hooks,
                  struct al_result *result, struct al_error *err)
{
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .out = AL_TEXT_INIT(0),
                                                                 .err = AL_TEXT_INIT(0) };
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;
    struct al_repo *repo = al_call_repo(call);
    enum al_operation_state what = al_git_resumable(repo);
    int r = al_going_on_check(repo, false, al_call_budget(call), err);

    if (r == 0)
        r = al_git_resume(repo, message, al_call_expected(call), al_call_max_bytes(call),
                          al_call_budget(call), &outcome, err);
    if (r == 0 && outcome.conflicted)
        r = al_git_resume_conflicted(what, &outcome, err);
    if (r < 0)
        return r;
    al_str_addf(&output.out.out, "%s%s", outcome.text.buf, outcome.text.len ? "\n" : "");
    al_git_resume_summary(repo, what, &notes);
    al_git_skipped_hooks(repo, hooks, &notes);
    al_git_skipped_signature(repo, &notes);
    al_call_shape_text(call, &output, notes.buf, result);
    return 0;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    static const char *const hooks[] = {
        "pre-commit",  "prepare-commit-msg",    "commit-msg",
        "post-commit", "reference-transaction", "post-index-change",
        NULL
    };
    const struct commit_args *args = p;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;
    int r;

    add_prefix(&message, args);
    al_str_adds(&message, args->message);
    al_str_addc(&message, '\n');
    if (al_git_resumable(al_call_repo(call)))
        return resume(call, message.buf, hooks, result, err);
    r = al_git_commit(al_call_repo(call), message.buf, al_call_expected(call),
                      al_call_max_bytes(call), al_call_budget(call), &output, err);
    if (r < 0)
        return r;
    al_git_skipped_hooks(al_call_repo(call), hooks, &notes);
    al_git_skipped_signature(al_call_repo(call), &notes);
    al_call_shape_text(call, &output, notes.buf, result);
    return 0;
}

static const struct al_operation operations[] = {
    { "commit", resumes, AL_WRITES_INDEX | AL_WRITES_REFS | AL_WRITES_WORKTREE, execute,
      AL_ASKS_BY_EFFECTS },
    { "commit", NULL, AL_WRITES_INDEX | AL_WRITES_REFS, execute, AL_ASKS_BY_EFFECTS },
};

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct commit_args *args = p;

    (void)op;
    al_str_adds(out, "Commit: ");
    add_prefix(out, args);
    al_str_add(out, args->message, summary_bytes(args->message));
    if (!fits_summary(args->message))
        al_str_adds(out, "...");
}

static unsigned moves(const struct al_operation *operation)
{
    /* What is continued may move any branch. */
    return operation->effects & AL_WRITES_WORKTREE ? 0 : AL_MOVES_BRANCH;
}

const struct al_tool al_tool_git_commit = {
    .name = "git_commit",
    .title = "Commit staged changes",
    .about = "Commit what is staged. The message becomes \"type(scope): message\" of these three "
             "parameters.",
    AL_TOOL_ROWS(params, operations),
    AL_GIT_COMMON_OFFSETS(struct commit_args),
    .moves_branch = true,
    .authorize = authorize,
    .preview = preview,
    .moves = moves,
    .summarize = summarize,
};
