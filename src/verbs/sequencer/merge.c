// SPDX-License-Identifier: Apache-2.0
#include "verbs/sequencer/merge.h"

#include <stdlib.h>

#include "git/command.h"
#include "git/diff/diff.h"
#include "git/failure.h"
#include "git/git_lock.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/sequencer/conflict.h"
#include "verbs/sequencer/operation_state.h"

/* --- Merge run --- */

int al_merge_run(struct al_repo *repo, const struct al_git_command *command, size_t max_bytes,
                 struct al_merge_outcome *outcome, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    int r = al_git_run(&repo->at, command,
                       &(struct al_git_run){ .max_bytes = max_bytes, .locks = AL_LOCK_INDEX },
                       &output, err);

    if (r == 0 && output.exit_code > 0)
        r = al_git_conflicts(repo, &conflicts, err);
    if (r < 0)
        return r;
    if (!al_git_wrote_all_files(&output) && !conflicts.count)
        return al_git_failed(&output, err);
    al_conflicts_add_paths(&conflicts, &outcome->conflicts);
    outcome->conflicted = conflicts.count > 0;
    al_str_trim_end(&output.out.out);
    al_str_add(&outcome->text, output.out.out.buf, output.out.out.len);
    outcome->truncated = al_text_truncate(&outcome->text, max_bytes);
    return 0;
}

int al_git_read_parents(const struct al_repo *repo, const char *commit, struct al_strv *parents,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *line = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "log", "-1", "--no-walk",
                 "--no-show-signature", "--format=%P", commit, "--", NULL);
    r = al_git_run_word(repo, &command, &line, err);
    al_strv_split(parents, line, " ");
    return r;
}

/* Check that the intended commit was merged, or stands beside HEAD in a merge that stopped.  A
 * revision name can mean another commit a moment later. */
static int check_merged_parents(const struct al_repo *repo, const struct al_merge_input *input,
                                const struct al_merge_outcome *outcome, struct al_error *err)
{
    al_auto(al_freep) char *now = al_ref_head(&repo->at);
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    int r = 0;

    if (!outcome->conflicted && (!strcmp(now, input->oid) || !strcmp(now, input->head)))
        return 0;
    if (outcome->conflicted) {
        al_strv_add(&parents, input->head);
        al_operation_heads(repo, "MERGE_HEAD", &parents);
    } else {
        r = al_git_read_parents(repo, now, &parents, err);
    }
    if (r == 0 && (parents.count != 2 || strcmp(parents.items[0], input->head) != 0 ||
                   strcmp(parents.items[1], input->oid) != 0))
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "git merged another commit than the one that was looked at, since another "
                         "process moved the branch meanwhile");
    return r;
}

int al_merge_bring(struct al_repo *repo, const struct al_merge_input *input, size_t max_bytes,
                   struct al_merge_outcome *outcome, struct al_error *err)
{
    al_auto(al_freep) char *now = NULL;
    int r = al_merge_run(repo, input->command, max_bytes, outcome, err);

    if (r == 0 && input->is_merge)
        r = check_merged_parents(repo, input, outcome, err);
    if (r == AL_ERR_EXECUTION && err && err->code == AL_CODE_NONE)
        err->code = AL_CODE_OPERATION_FAILED;
    if (r < 0)
        return r;
    now = al_ref_head(&repo->at);
    outcome->up_to_date = !outcome->conflicted && !strcmp(now, input->head);
    outcome->fast_forward = !outcome->up_to_date && !strcmp(now, input->oid);
    return 0;
}

/* --- Merge --- */

void al_merge_outcome_clear(struct al_merge_outcome *outcome)
{
    al_strv_clear(&outcome->conflicts);
    al_str_clear(&outcome->text);
}

const char *al_merge_hooks(const struct al_merge_outcome *outcome)
{
    return outcome->fast_forward ? "post-merge"
                                 : "pre-merge-commit prepare-commit-msg commit-msg post-merge";
}

static int check_programs_between(const struct al_repo *repo, const char *from, const char *to,
                                  struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    int r = al_git_list_changed(repo, from, to, &paths, err);

    if (r == 0)
        r = al_git_check_filters(repo, &paths, to, err);
    if (r == 0)
        r = al_git_check_filters(repo, &paths, NULL, err);
    return r < 0 ? r : al_git_check_merge_drivers(repo, &paths, to, err);
}

int al_git_check_merge_programs(const struct al_repo *repo, const char *from,
                                const struct al_strv *to, struct al_error *err)
{
    int r = 0;

    if (!repo->vetting->filters.count && !repo->vetting->merge_drivers.count)
        return 0;
    for (size_t i = 0; r == 0 && i < to->count; i++)
        r = check_programs_between(repo, from, to->items[i], err);
    return r;
}

/* Result of the checks before a merge. */
struct plan {
    char *oid;  /* commit to merge */
    char *base; /* merge base; NULL: unrelated histories */
    char *head; /* commit of HEAD; "" on an unborn branch */
};

static void plan_clear(struct plan *plan)
{
    free(plan->oid);
    free(plan->base);
    free(plan->head);
}

/* Check the filters and merge drivers of every path that either side changed since the merge base:
 * git may write or merge each.  Into an unborn branch it writes every file. */
static int check_programs(const struct al_repo *repo, const struct plan *plan, struct al_error *err)
{
    const char *from = plan->base ? plan->base : *plan->head ? "HEAD" : al_git_empty_tree(repo);
    al_auto(al_strv_clear) struct al_strv sides = AL_STRV_INIT;

    al_strv_add(&sides, plan->oid);
    if (plan->base)
        al_strv_add(&sides, "HEAD");
    return al_git_check_merge_programs(repo, from, &sides, err);
}

static bool makes_no_commit(const struct plan *plan, const struct al_merge_options *options)
{
    if (!*plan->head || (plan->base && !strcmp(plan->base, plan->oid)))
        return true; /* unborn branch, or already up to date */
    return !options->no_ff && plan->base && !strcmp(plan->base, plan->head);
}

/* Whether something depends on the merge base: a program that git may start, or what a commit
 * needs. */
static bool needs_base(const struct al_repo *repo)
{
    return repo->vetting->filters.count || repo->vetting->merge_drivers.count ||
           !repo->vetting->has_identity;
}

/* Check the merge, and find the commits.  The merge base is searched for if a check needs it. */
static int make_plan(const struct al_repo *repo, const struct al_merge_options *options, bool base,
                     struct plan *plan, struct al_error *err)
{
    int r = al_git_check_no_operation(repo, err);

    if (r == 0 && options->oid)
        plan->oid = al_strdup(options->oid);
    else if (r == 0)
        r = al_git_resolve_branch(repo, options->commit, &plan->oid, err);
    if (r < 0)
        return r;
    plan->head = al_ref_head(&repo->at);
    if (!*plan->head)
        return check_programs(repo, plan, err);
    if (!base && !needs_base(repo))
        return 0;
    r = al_git_merge_base(repo, "HEAD", plan->oid, &plan->base, err);
    if (r == 0)
        r = check_programs(repo, plan, err);
    if (r == 0 && !makes_no_commit(plan, options) && !repo->vetting->has_identity)
        r = al_git_no_identity(err);
    return r;
}

int al_git_merge_check(const struct al_repo *repo, const struct al_merge_options *options,
                       struct al_error *err)
{
    al_auto(plan_clear) struct plan plan = { .oid = NULL };

    return make_plan(repo, options, false, &plan, err);
}

int al_git_merge_preview(const struct al_repo *repo, const struct al_merge_options *options,
                         struct al_str *out, bool *ret_any, struct al_error *err)
{
    al_auto(plan_clear) struct plan plan = { .oid = NULL };
    al_auto(al_freep) char *exclude_head = NULL;
    struct al_diff_options change = { .unified = -1 };
    int r = make_plan(repo, options, true, &plan, err);

    if (r < 0)
        return r;
    exclude_head = *plan.head ? al_asprintf("^%s", plan.head) : NULL;
    if (!makes_no_commit(&plan, options))
        al_git_show_unsigned(repo, out);
    r = al_git_commits_excerpt(
        repo,
        &(struct al_commits_shown){ .words = (const char *const[]){ plan.oid, exclude_head, NULL },
                                    .format = "  %h %s",
                                    .title = "These commits come in:" },
        out, ret_any, err);
    if (r < 0 || !*ret_any || !plan.base || !strcmp(plan.base, plan.oid))
        return r;
    al_str_adds(out, "What they change:\n");
    change.from_ref = plan.base;
    change.to_ref = plan.oid;
    return al_git_diff_excerpt(repo, &change, out, err);
}

/* Whether git would take the name for a tag, although there is a branch that is called so. */
static bool is_hidden_by_tag(const struct al_repo *repo, const char *name)
{
    al_auto(al_freep) char *branch = al_asprintf("refs/heads/%s", name);
    al_auto(al_freep) char *tag = al_asprintf("refs/tags/%s", name);

    return al_ref_exists(&repo->at, branch) && al_ref_exists(&repo->at, tag);
}

/*
 * git labels the other side of a conflict with the name it was given, so it gets the name, and the
 * commit that was merged is compared with the id afterwards.  FETCH_HEAD can stand for several
 * commits, so git gets the id instead.
 */
static void add_words(const struct al_repo *repo, const struct al_merge_options *options,
                      const char *oid, struct al_git_command *command)
{
    bool is_hidden = is_hidden_by_tag(repo, options->commit);

    command->class = AL_GIT_WRITE;
    command->starts_children = true; /* git merge runs git stash so that it can go back */
    al_strv_adds(&command->argv, "git", "merge", "--strategy=ort",
                 options->squash ? "--squash" : "--no-squash",
                 options->squash ? "--no-commit" : "--commit", "--no-verify", "--no-gpg-sign",
                 "--no-edit", "--no-verify-signatures", "--no-autostash", "--no-rerere-autoupdate",
                 "--stat", "--no-progress", options->no_ff ? "--no-ff" : "--ff", NULL);
    if (options->message &&
        !options->squash) /* git merge does not read a message from standard input */
        al_strv_adds(&command->argv, "-m", options->message, NULL);
    else if (is_hidden) /* git would repeat the longer name */
        al_strv_addf(&command->argv, "-mMerge branch '%s'", options->commit);
    if (is_hidden)
        al_strv_addf(&command->argv, "heads/%s", options->commit);
    else
        al_strv_add(&command->argv, !strcmp(options->commit, "FETCH_HEAD") ? oid : options->commit);
}

int al_git_merge(struct al_repo *repo, const struct al_merge_options *options, size_t max_bytes,
                 struct al_merge_outcome *ret_outcome, struct al_error *err)
{
    al_auto(plan_clear) struct plan plan = { .oid = NULL };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r = make_plan(repo, options, false, &plan, err);

    if (r < 0)
        return r;
    add_words(repo, options, plan.oid, &command);
    return al_merge_bring(
        repo,
        &(struct al_merge_input){
            .command = &command, .oid = plan.oid, .head = plan.head, .is_merge = !options->squash },
        max_bytes, ret_outcome, err);
}
