// SPDX-License-Identifier: Apache-2.0
/* git_commit: commit what is staged, or exactly some files or hunks; amend. */
#include "gitops/porcelain/commit.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "answer/failure.h"
#include "answer/place.h"
#include "answer/state_line.h"
#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/inmemory/inmemory.h"
#include "gitops/plumbing/filters.h"
#include "gitops/plumbing/heads.h"
#include "gitops/plumbing/scratch_index.h"
#include "gitops/porcelain/add.h"
#include "gitops/porcelain/resume.h"
#include "gitops/preview/affected_files.h"
#include "gitops/preview/diff_excerpt.h"
#include "gitops/preview/verify_objects.h"
#include "gitops/reading/read_log.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "gitops/sequencer/conflict.h"
#include "gitops/sequencer/expected_commit.h"
#include "gitops/vet/vet.h"
#include "guard/text.h"
#include "tool/call.h"
#include "tool/resolved.h"
#include "toolsets/everyday/chosen.h"
#include "toolsets/everyday/everyday.h"
#include "toolsets/everyday/outcome.h"
#include "toolsets/left_out.h"
#include "util/str.h"

/* A longer message is taken to be another one. */
#define MESSAGE_MAX_BYTES (1u << 20)

/* Test whether an amend of what is staged would leave the last commit as it is, except for its
 * date: nothing is staged, and the message is the same. */
static int amend_changes_nothing(struct al_call *call, const char *message, bool *ret_nothing,
                                 struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_str_clear) struct al_str wanted = AL_STR_INIT;
    al_auto(al_freep) char *old = NULL;
    uint64_t staged = 0;
    int r = al_git_count_staged(repo, al_call_budget(call), &staged, err);

    *ret_nothing = r == 0 && !staged && !message;
    if (r < 0 || staged || !message)
        return r;
    r = al_git_read_message(repo, MESSAGE_MAX_BYTES, al_call_budget(call), &old, err);
    if (r < 0)
        return r;
    al_str_adds(&wanted, message);
    al_str_trim_end(&wanted);
    *ret_nothing = !strcmp(wanted.buf, old);
    return 0;
}

/* Choosing writes objects aside, and git gives one that exists already a new time.  Only what is
 * read from here on must stay as it is. */
static void begin_reading(struct al_call *call)
{
    struct al_run_limits *budget = al_call_budget(call);

    if (!budget->stable_read)
        return;
    al_stable_read_wait(budget);
    al_stable_read_begin(budget->stable_read);
}

static int show(struct al_call *call, struct al_repo *repo, const char *index, struct al_str *out,
                struct al_error *err)
{
    const struct al_diff_options options = { .unified = -1, .cached = true, .index = index };
    char *expected = NULL;
    int r = al_git_expect_commit_of(repo, index, al_call_budget(call), &expected, err);

    if (r < 0)
        return r;
    al_call_set_expected(call, expected);
    return al_git_diff_excerpt(repo, &options, al_call_budget(call), out, err);
}

/* For a preview: append the change that the commit of this part makes to HEAD's commit, and note it
 * for commit_check_shown().  The commit is prepared as it is made, beside the repository, which
 * gets no object. */
static int commit_show_part(struct al_call *call, const struct al_commit_part *part,
                            struct al_str *out, struct al_error *err)
{
    al_auto(al_commit_indexes_clear) struct al_commit_indexes indexes = { .commit = NULL };
    struct al_inmemory *memory = NULL;
    struct al_repo repo;
    int r = al_inmemory_open(al_call_repo(call), &memory, err);

    if (r < 0)
        return r;
    repo = *al_inmemory_repo(memory);
    r = al_git_choose_commit(&repo, part, al_call_budget(call), &indexes, err);
    if (r == 0) {
        begin_reading(call);
        r = show(call, &repo, indexes.commit, out, err);
    }
    al_inmemory_free(memory);
    return r;
}

/* Compare what an index would commit with what was shown. */
static int commit_check_shown(struct al_call *call, const char *index, struct al_error *err)
{
    const char *shown = al_call_expected(call);
    al_auto(al_freep) char *now = NULL;
    int r = 0;

    if (shown)
        r = al_git_expect_commit_of(al_call_repo(call), index, al_call_budget(call), &now, err);
    if (r < 0 || !shown || !strcmp(shown, now))
        return r;
    return al_failure_set(err, "git_commit again shows the change as it is now.",
                          "The commit would not be what was shown, since another program changed a "
                          "file or the index meanwhile; nothing was done");
}

struct commit_args {
    const char *message;
    struct al_strv paths, hunks;
    bool all, amend, allow_empty;
    const char *author;
    AL_EVERYDAY_FIELDS;
};

static const struct al_param params[] = {
    AL_STRING(struct commit_args, message, "With amend: default, the old one."),
    AL_STRINGS(struct commit_args, paths, "Commit just these; what else is staged stays.",
               .flags = AL_PARAM_PATH),
    AL_STRINGS(struct commit_args, hunks, "Commit just these, by id.", .max = AL_CHOSEN_IDS_MAX,
               .max_bytes = AL_HUNK_ID_TEXT, .flags = AL_PARAM_EVERY_PATH),
    AL_BOOL(struct commit_args, all, "Every change, new files too.", .flags = AL_PARAM_EVERY_PATH),
    AL_BOOL(struct commit_args, amend, NULL),
    AL_STRING(struct commit_args, author, "Name <address>.", .max_bytes = 1024),
    AL_BOOL(struct commit_args, allow_empty, NULL),
    AL_EVERYDAY_WORKING_DIR_ROW(struct commit_args),
};

static bool chooses(const struct commit_args *args)
{
    return args->all || args->paths.count || args->hunks.count;
}

static int check_author(const char *author, struct al_error *err)
{
    const char *open = strchr(author, '<');

    if (open && open > author && strchr(open, '>') && !strpbrk(author, "\r\n"))
        return 0;
    return al_failure_bad_args(err, "For example: Jane Roe <jane@example.org>.",
                               "author: a name and an address in <> are needed");
}

static int check(const void *p, struct al_error *err)
{
    const struct commit_args *args = p;

    if (!args->message && !args->amend)
        return al_failure_bad_args(err, "Only amend does without one: it keeps the old message.",
                                   "message is required");
    if (args->message && !args->message[strspn(args->message, " \t\r\n\v\f")])
        return al_failure_bad_args(err, "Say what the commit does.", "message is empty");
    if (args->all && (args->paths.count || args->hunks.count))
        return al_failure_bad_args(err, "all commits every change.",
                                   "all cannot be given together with paths or hunks");
    return args->author ? check_author(args->author, err) : 0;
}

AL_WHEN(is_amend, struct commit_args, args->amend)

static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&al_call_repo(call)->at);

    (void)p;
    (void)err;
    if (*head)
        al_resolved_add(out, AL_RESOLVED_COMMIT, head);
    return 0;
}

/* What cannot be told counts as pushed. */
static bool is_pushed(struct al_call *call, const void *p)
{
    const char *head = al_call_resolved(call, AL_RESOLVED_COMMIT);
    bool pushed = false;

    (void)p;
    if (head)
        (void)al_git_has_pushed(al_call_repo(call), head, NULL, al_call_budget(call), &pushed,
                                NULL);
    return pushed;
}

static int affected_files(struct al_call *call, const void *p, struct al_strv *out,
                          struct al_error *err)
{
    const struct commit_args *args = p;

    al_auto(al_named_clear) struct al_named named = { .hunks = AL_STRV_INIT };
    int r = al_named_sort(call, &args->hunks, &args->paths, &named, err);

    if (r < 0 || (!args->all && !named.paths.count))
        return r;
    return al_git_affected_files(al_call_repo(call), args->all ? NULL : &named.paths, true,
                                 al_call_budget(call), out, err);
}

/* git_conflicts concludes what stopped; a merge is concluded by a commit of everything staged. */
static int check_operation(struct al_call *call, const struct commit_args *args,
                           struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_str_clear) struct al_str merging = AL_STR_INIT;
    const enum al_operation_state state = al_git_resumable(repo);
    int r = al_git_check_no_conflicts(repo, al_call_budget(call), err);

    if (r < 0)
        return r;
    if (state != AL_IN_PROGRESS_NONE)
        return al_failure_set(err,
                              "git_conflicts with action continue makes this commit and goes on.",
                              "A %s is in progress", al_operation_state_name(state));
    if (al_git_has_autostash(repo))
        return al_failure_set(err, "git_conflicts with action continue concludes the merge.",
                              "A merge is in progress that put changes aside, which come back "
                              "when it ends");
    r = al_git_add_merge_heads(repo, &merging, err);
    if (r < 0 || !merging.len || (!args->paths.count && !args->hunks.count && !args->amend))
        return r;
    return al_failure_set(err,
                          "Stage what belongs to the merge and commit it without paths, hunks and "
                          "amend; git_conflicts with action abort gives the merge up.",
                          "A merge is in progress: its commit has everything that is staged");
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct commit_args *args = p;
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    const struct al_strv *files;
    int r = al_repo_pathspecs(repo, &args->paths, al_call_budget(call), &words, err);

    if (r == 0)
        r = al_git_check_signature(repo, err);
    if (r == 0)
        r = check_operation(call, args, err);
    if (r == 0 && !repo->vetting->has_identity)
        r = al_git_no_identity(err);
    if (r == 0 && args->amend && !al_call_resolved(call, AL_RESOLVED_COMMIT))
        r = al_failure_set(err, "git_commit without amend makes the first commit.",
                           "There is no commit to amend yet");
    if (r == 0)
        r = al_call_affected_files(call, &files, err);
    if (r == 0 && args->paths.count)
        r = al_git_add_check(repo, &args->paths, true, files, al_call_budget(call), err);
    return r < 0 ? r : al_git_check_files(repo, files, al_call_budget(call), err);
}

static struct al_commit_part part_of(const struct al_named *named, const struct al_strv *without)
{
    return (struct al_commit_part){
        .paths = named->paths.count ? &named->paths : NULL,
        .hunks = named->hunks.count ? &named->hunks : NULL,
        .without = without,
    };
}

static int show_part(struct al_call *call, const struct commit_args *args, struct al_str *out,
                     struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv without = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    al_auto(al_named_clear) struct al_named named = { .hunks = AL_STRV_INIT };
    struct al_commit_part part;
    int r = args->all ? al_leave_out(call, NULL, &without, &line, err)
                      : al_named_sort(call, &args->hunks, &args->paths, &named, err);

    if (line.len)
        al_str_addf(out, "%s\n", line.buf);
    part = part_of(&named, &without);
    return r < 0 ? r : commit_show_part(call, &part, out, err);
}

static int preview(struct al_call *call, const void *p, struct al_str *out, struct al_error *err)
{
    const struct commit_args *args = p;

    al_git_show_unsigned(al_call_repo(call), out);
    if (args->message) {
        al_str_adds(out, "The message:\n");
        al_text_add_indented(out, args->message, al_call_budget(call)->in_full);
    }
    if (args->author) {
        al_auto(al_freep) char *author = al_text_sanitize_line(args->author);

        al_str_addf(out, "Author: %s\n", author);
    }
    if (args->amend && is_pushed(call, p))
        al_str_adds(out, "A remote-tracking branch has the commit that is replaced.\n");
    return chooses(args) ? show_part(call, args, out, err)
                         : show(call, al_call_repo(call), NULL, out, err);
}

/* The branch must not have moved to another commit since it was decided whether the user is asked.
 */
static int check_head(struct al_call *call, struct al_error *err)
{
    const char *decided = al_call_tool_data(call);
    const char *head = al_call_resolved(call, AL_RESOLVED_COMMIT);

    if (!decided || (head && !strcmp(decided, head)))
        return 0;
    return al_failure_set(err, "git_log shows the branch as it is now.",
                          "The branch moved while this was decided; nothing was done");
}

static int authorize_amend(struct al_call *call, const void *p, struct al_error *err)
{
    const char *head = al_call_resolved(call, AL_RESOLVED_COMMIT);
    int r = authorize(call, p, err);

    if (r == 0 && is_amend(call, p) && head)
        al_call_set_tool_data(call, al_strdup(head), free);
    return r;
}

/* `index`: NULL, the repository's own. */
static int make_commit(struct al_call *call, const struct commit_args *args, const char *index,
                       const char *head, struct al_error *err)
{
    const struct al_commit_options options = {
        .message = args->message,
        .amend = args->amend,
        .allow_empty = args->allow_empty,
        .author = args->author,
        .index = index,
        .head = head,
    };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    return al_git_commit_with(al_call_repo(call), &options, al_call_max_bytes(call),
                              al_call_budget(call), &output, err);
}

/* Where HEAD is, before anything is chosen for a commit on top of it.  An amend replaces the commit
 * that the decision was about. */
static char *begin_at(struct al_call *call)
{
    const char *decided = al_call_tool_data(call);

    return decided ? al_strdup(decided) : al_ref_head(&al_call_repo(call)->at);
}

/* Make the commit on a copy of the index, and put the index that is left into place.  Nobody else
 * writes the index meanwhile. */
static int commit_part(struct al_call *call, const struct commit_args *args, struct al_str *notes,
                       struct al_error *err)
{
    al_auto(al_index_lock_release) struct al_index_lock lock = AL_INDEX_LOCK_INIT;
    al_auto(al_commit_indexes_clear) struct al_commit_indexes indexes = { .commit = NULL };
    al_auto(al_strv_clear) struct al_strv without = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    al_auto(al_freep) char *head = NULL;
    al_auto(al_named_clear) struct al_named named = { .hunks = AL_STRV_INIT };
    struct al_commit_part part;
    int r = args->all ? al_leave_out(call, NULL, &without, &line, err)
                      : al_named_sort(call, &args->hunks, &args->paths, &named, err);

    part = part_of(&named, &without);
    if (r == 0)
        r = al_index_lock_take(al_call_repo(call), al_call_budget(call), &lock, err);
    if (r == 0) {
        head = begin_at(call);
        r = al_git_choose_commit(al_call_repo(call), &part, al_call_budget(call), &indexes, err);
    }
    if (r == 0)
        r = commit_check_shown(call, indexes.commit, err);
    if (r == 0)
        r = al_index_lock_write(&lock, indexes.after, err);
    if (r == 0)
        r = make_commit(call, args, indexes.commit, head, err);
    if (r == 0)
        r = al_index_lock_install(&lock, err);
    if (line.len)
        al_str_addf(notes, "%s; name them in paths to commit them\n", line.buf);
    return r;
}

/* Commit what is staged.  What was shown is compared with a copy of the index, which nobody can
 * change before git reads it. */
static int commit_staged(struct al_call *call, const struct commit_args *args, struct al_error *err)
{
    al_auto(al_scratch_index_removep) char *copy = NULL;
    al_auto(al_freep) char *head = begin_at(call);
    int r = 0;

    if (al_call_expected(call))
        r = al_scratch_index_make(al_call_repo(call), NULL, &copy, err);
    if (r == 0 && copy)
        r = commit_check_shown(call, copy, err);
    return r < 0 ? r : make_commit(call, args, copy, head, err);
}

/* "1a2b3c4d Subject", and "3 files changed, 10 insertions(+), 2 deletions(-)" as git says it. */
static int add_commit(struct al_call *call, struct al_str *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *line = NULL;
    const char *stat;
    int r;

    al_strv_adds(&command.argv, "git", "log", "-1", "--no-walk", "--no-decorate", "--abbrev=8",
                 "--encoding=UTF-8", "--format=%h %s", "-m", "--first-parent", "--no-ext-diff",
                 "--no-textconv", "--shortstat", "--end-of-options", "HEAD", "--", NULL);
    r = al_git_run(&al_call_repo(call)->at, &command,
                   &(struct al_git_run){ .max_bytes = al_call_max_bytes(call), .checked = true },
                   al_call_budget(call), &output, err);
    if (r < 0)
        return r;
    line = al_strndup(output.out.out.buf, strcspn(output.out.out.buf, "\n"));
    al_place_add_name(line, out);
    stat = output.out.out.buf + strlen(line);
    stat += strspn(stat, "\n ");
    al_str_addf(out, "\n%s\n", *stat ? stat : "No file changed: an empty commit");
    al_str_trim_end(out);
    al_str_addc(out, '\n');
    return 0;
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    static const char *const hooks[] = { "pre-commit",  "prepare-commit-msg", "commit-msg",
                                         "post-commit", "post-rewrite",       NULL };
    const struct commit_args *args = p;
    const char *before = al_call_resolved(call, AL_RESOLVED_COMMIT);
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;
    bool nothing = false;
    int r = check_head(call, err);

    if (r == 0 && args->amend && !args->author && !chooses(args))
        r = amend_changes_nothing(call, args->message, &nothing, err);
    if (r == 0 && nothing) {
        al_str_adds(&result->text,
                    "Nothing to amend: nothing is staged, and the message stays the same; "
                    "paths, hunks or all choose changes\n");
        return 0;
    }
    if (r == 0)
        r = chooses(args) ? commit_part(call, args, &notes, err) : commit_staged(call, args, err);
    if (r < 0)
        return r;
    if (args->amend)
        al_str_addf(&result->text, "Amended %.*s: ", AL_SHORT_ID, before);
    r = add_commit(call, &result->text, err);
    al_str_add(&result->text, notes.buf, notes.len);
    al_outcome_add_skipped(call, hooks, true, &result->text);
    return 0;
}

static bool keeps_staged(const struct al_operation *operation, const void *p)
{
    const struct commit_args *args = p;

    (void)operation;
    return !args->all && !args->paths.count && !args->hunks.count;
}

#define COMMITS (AL_WRITES_INDEX | AL_WRITES_REFS)

static const struct al_operation operations[] = {
    { "amend", is_amend, COMMITS | AL_REWRITES_HISTORY, execute, AL_ASKS_UNLESS_SAVED },
    { "commit", NULL, COMMITS, execute, AL_ASKS_UNLESS_SAVED },
};

static const struct al_stricter stricter[] = {
    { "amend", is_pushed, "for a commit that a remote-tracking branch has", 0 },
};

static void summarize(const void *p, struct al_str *out)
{
    const struct commit_args *args = p;

    al_str_adds(out, args->amend ? "Amend the last commit" : "Commit");
    if (args->all)
        al_str_adds(out, " with every change");
    if (args->hunks.count) {
        al_str_addc(out, ' ');
        al_answer_add_counted(args->hunks.count, "hunk", "hunks", out);
    }
    if (args->paths.count)
        al_chosen_summarize("", &args->paths, out);
    if (args->message)
        al_str_addf(out, ": %.*s", (int)strcspn(args->message, "\n"), args->message);
}

const struct al_tool al_tool_everyday_commit = {
    .name = "git_commit",
    .title = "Commit",
    .about = "Commit what is staged, or exactly some files, hunks or everything; amend.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct commit_args),
    AL_TOOL_STRICTER(stricter),
    .moves_branch = true,
    .check = check,
    .resolve = resolve,
    .authorize = authorize_amend,
    .affected_files = affected_files,
    .preview = preview,
    .moves_always = AL_MOVES_BRANCH,
    .keeps_staged = keeps_staged,
    .summarize = summarize,
};
