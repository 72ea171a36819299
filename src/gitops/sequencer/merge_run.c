// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/merge_run.h"

#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/sequencer/conflict.h"
#include "gitops/sequencer/expected_commit.h"
#include "gitops/sequencer/merge.h"

int al_merge_run(struct al_repo *repo, const struct al_git_command *command, size_t max_bytes,
                 struct al_run_limits *budget, struct al_merge_outcome *outcome,
                 struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    int r = al_git_run(&repo->at, command,
                       &(struct al_git_run){ .max_bytes = max_bytes, .waits_for_lock = true },
                       budget, &output, err);

    if (r == 0 && output.exit_code > 0)
        r = al_git_conflicts(repo, budget, &conflicts, err);
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

/* Append the parents of the commit that HEAD is at, or of the one that a stopped merge would
 * create: " <parent> <parent>". */
static int read_merged_parents(const struct al_repo *repo, const char *head, bool conflicted,
                               struct al_run_limits *budget, struct al_str *out,
                               struct al_error *err)
{
    al_auto(al_freep) char *now = al_ref_head(&repo->at);

    if (!conflicted)
        return al_git_read_parents(repo, now, budget, out, err);
    al_str_addf(out, " %s", head);
    return al_git_add_merge_heads(repo, out, err);
}

/* Check that the intended commit was merged. A revision name can mean another commit a moment
 * later. */
static int check_merged_parents(const struct al_repo *repo, const struct al_merge_input *input,
                                const struct al_merge_outcome *outcome,
                                struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *now = al_ref_head(&repo->at);
    al_auto(al_freep) char *expected = al_asprintf(" %s %s", input->head, input->oid);
    al_auto(al_str_clear) struct al_str parents = AL_STR_INIT;
    int r;

    if (!outcome->conflicted && (!strcmp(now, input->oid) || !strcmp(now, input->head)))
        return 0;
    r = read_merged_parents(repo, input->head, outcome->conflicted, budget, &parents, err);
    if (r == 0 && strcmp(parents.buf, expected) != 0)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "git merged another commit than the one that was looked at, since another "
                         "process moved the branch meanwhile");
    return r;
}

static int with_code(int r, struct al_error *err)
{
    if (r != AL_ERR_EXECUTION || !err)
        return r;
    if (err->code == AL_CODE_NONE)
        err->code = AL_CODE_OPERATION_FAILED;
    return r;
}

int al_merge_bring(struct al_repo *repo, const struct al_merge_input *input, size_t max_bytes,
                   struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                   struct al_error *err)
{
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_freep) char *now = NULL;
    int r = al_merge_run(repo, input->command, max_bytes, budget, &outcome, err);

    if (r == 0 && input->is_merge)
        r = check_merged_parents(repo, input, &outcome, budget, err);
    if (r < 0)
        return with_code(r, err);
    now = al_ref_head(&repo->at);
    outcome.up_to_date = !outcome.conflicted && !strcmp(now, input->head);
    outcome.fast_forward = !outcome.up_to_date && !strcmp(now, input->oid);
    *ret_outcome = outcome;
    outcome = AL_MERGE_INIT;
    return 0;
}
