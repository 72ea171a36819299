// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/outcome.h"

#include <stdlib.h>

#include "answer/answer.h"
#include "answer/place.h"
#include "gitops/plumbing/revision.h"
#include "gitops/plumbing/skipped.h"
#include "gitops/repo/repo.h"
#include "gitops/sequencer/merge.h"
#include "gitops/sequencer/operation_state.h"
#include "guard/text.h"
#include "tool/call.h"
#include "toolsets/everyday/conflict_text.h"

/* The numbers of git's diffstat: "2 files changed, 3 insertions(+)".  Only that line has a blank
 * and a digit at its beginning: the lines of files have a '|', and others a word. */
static void add_numbers(const struct al_merge_outcome *outcome, struct al_str *text)
{
    for (const char *line = outcome->text.buf; *line;) {
        size_t len = strcspn(line, "\n");

        if (line[0] == ' ' && line[1] >= '0' && line[1] <= '9' && !memchr(line, '|', len) &&
            memmem(line, len, " changed", strlen(" changed")))
            al_str_addf(text, "%.*s\n", (int)len - 1, line + 1);
        line += len + (line[len] == '\n');
    }
}

int al_merged_answer(struct al_call *call, const char *name, const struct al_merge_outcome *outcome,
                     struct al_result *result, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = 0;

    if (outcome->conflicted) {
        al_str_adds(&text, "The merge of ");
        al_place_add_name(name, &text);
        al_str_adds(&text, " stopped at conflicts.\n");
        return al_outcome_stopped(call, &text, result, err);
    }
    if (outcome->up_to_date)
        al_str_adds(&text, "Nothing to merge: the branch has ");
    else
        al_str_adds(&text, outcome->fast_forward ? "Moved on to " : "Merged ");
    al_place_add_name(name, &text);
    if (outcome->up_to_date) {
        al_str_adds(&text, " already.\n");
    } else {
        al_str_adds(&text, ": ");
        r = al_outcome_add_commit(call, "HEAD", &text, err);
        al_str_addc(&text, '\n');
        add_numbers(outcome, &text);
        al_outcome_add_skipped(call, al_merge_hooks(outcome), !outcome->fast_forward, &text);
    }
    if (r == 0)
        al_answer_done(call, &text, result);
    return r;
}

static const char how_to_settle[] =
    "git_conflicts shows them; resolve them there, then continue.\n";

/* Add the files that fit, in whole; the first one is added in any case, as far as it goes. */
static int add_files(struct al_call *call, const struct al_conflicts *conflicts, const char *path,
                     struct al_str *text, struct al_error *err)
{
    size_t left = 0, shown = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < conflicts->count; i++) {
        al_auto(al_str_clear) struct al_str file = AL_STR_INIT;

        if (path && strcmp(path, conflicts->items[i].path) != 0)
            continue;
        if (left)
            left++;
        else
            r = al_conflict_add_file(call, &conflicts->items[i], &file, err);
        if (r < 0 || left)
            continue;
        if (shown && text->len + file.len > AL_ANSWER_DEFAULT_BYTES)
            left++;
        else
            al_str_add(text, file.buf, file.len);
        shown += !left;
    }
    if (r == 0 && left) {
        al_str_adds(text, "-- ");
        al_answer_add_counted(left, "file", "files", text);
        al_str_adds(text, " not shown: resolve these first, or name one with path\n");
    }
    return r;
}

int al_outcome_show(struct al_call *call, const struct al_conflicts *conflicts, const char *path,
                    struct al_str *text, struct al_result *result, struct al_error *err)
{
    enum al_operation_state state = al_git_operation_state(al_call_repo(call));
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;
    int r = 0;

    if (!conflicts->count && state == AL_IN_PROGRESS_NONE) {
        al_str_adds(text, "No conflicts, and nothing is in progress.\n");
    } else {
        r = al_conflict_add_sides(call, text, err);
        if (r == 0 && !conflicts->count)
            al_str_adds(text,
                        "No conflicts are left: git_conflicts with action continue goes on.\n");
        else if (r == 0)
            r = add_files(call, conflicts, path, text, err);
    }
    if (r < 0)
        return r;
    if (text->len > AL_ANSWER_DEFAULT_BYTES) {
        const char *end = memrchr(text->buf, '\n', AL_ANSWER_DEFAULT_BYTES);

        al_str_truncate(text, end ? (size_t)(end - text->buf) + 1 : AL_ANSWER_DEFAULT_BYTES);
        al_str_adds(text, "-- the rest is not shown: resolve these hunks first\n");
        result->truncated = true;
    }
    al_text_sanitize(text->buf, text->len, &safe);
    al_answer_text(&safe, result);
    return 0;
}

int al_outcome_stopped(struct al_call *call, struct al_str *text, struct al_result *result,
                       struct al_error *err)
{
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    int r = al_git_conflicts(al_call_repo(call), al_call_budget(call), &conflicts, err);

    if (r == 0)
        r = al_conflict_add_sides(call, text, err);
    if (r == 0 && conflicts.count) {
        al_str_adds(text, "Conflicts: ");
        r = al_conflict_add_list(call, &conflicts, text, err);
        al_str_addf(text, "\n%s", how_to_settle);
    }
    if (r < 0)
        return r;
    al_operation_note_begun(al_call_repo(call), al_call_session(call)->number);
    al_answer_done(call, text, result);
    return 0;
}

/* Name the commit that was left out. */
static void add_left_out(struct al_call *call, const char *oid, struct al_str *text)
{
    if (!*oid) {
        al_str_adds(text, "Left one commit out. ");
        return;
    }
    al_str_adds(text, "Left out ");
    if (al_outcome_add_commit(call, oid, text, NULL) < 0)
        al_str_addf(text, "%.8s", oid);
    al_str_adds(text, ". ");
}

int al_outcome_went_on(struct al_call *call, enum al_operation_state state, const char *left_out,
                       const struct al_merge_outcome *outcome, struct al_str *text,
                       struct al_result *result, struct al_error *err)
{
    static const char *const committed[] = { "pre-commit",  "prepare-commit-msg", "commit-msg",
                                             "post-commit", "post-merge",         "post-rewrite",
                                             NULL };
    const char *name = al_operation_state_name(state);

    if (left_out)
        add_left_out(call, left_out, text);
    if (outcome->conflicted || outcome->in_progress) {
        al_str_addf(text, "The %s went on and stopped again.\n", name);
        return al_outcome_stopped(call, text, result, err);
    }
    al_str_addf(text, "The %s is done: ", name);
    if (al_outcome_add_commit(call, "HEAD", text, err) < 0)
        return AL_ERR_EXECUTION;
    al_str_addc(text, '\n');
    al_outcome_add_skipped(call, committed, true, text);
    al_answer_done(call, text, result);
    return 0;
}

void al_outcome_add_skipped(struct al_call *call, const char *const *hooks, bool commits,
                            struct al_str *text)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_git_skipped_hooks(al_call_repo(call), hooks, &line);
    if (line.len)
        al_str_addf(text, "%s\n", line.buf);
    al_str_reset(&line);
    if (commits)
        al_git_skipped_signature(al_call_repo(call), &line);
    if (line.len)
        al_str_addf(text, "%s\n", line.buf);
}

int al_outcome_add_commit(struct al_call *call, const char *rev, struct al_str *out,
                          struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_freep) char *line = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "log", "-1", "--no-walk", "--no-decorate", "--abbrev=8",
                 "--encoding=UTF-8", "--format=%h %s", "--end-of-options", rev, "--", NULL);
    r = al_git_run_word(al_call_repo(call), &command, al_call_budget(call), &line, err);
    if (r < 0)
        return r;
    al_place_add_name(line ? line : rev, out);
    return 0;
}
