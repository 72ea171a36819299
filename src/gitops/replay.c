// SPDX-License-Identifier: Apache-2.0
#include "gitops/replay.h"

#include <stdlib.h>

#include "gitops/before.h"
#include "gitops/command.h"
#include "gitops/conflict.h"
#include "gitops/underway.h"
#include "gitops/verbs.h"
#include "gitops/vet.h"
#include "guard/text.h"

/* A format with a newline in it would put lines of its own into the list of things to do. */
static const char *const settings[] = {
    "rebase.instructionformat",
    "%s",
    "rebase.updaterefs",
    "false",
    "rebase.autosquash",
    "false",
    "rebase.autostash",
    "false",
    "rebase.stat",
    "false",
    "rebase.abbreviatecommands",
    "false",
    "rebase.rebasemerges",
    "false",
    "rebase.missingcommitscheck",
    "ignore",
    "rebase.forkpoint",
    "false",
    "rerere.enabled",
    "false",
    "core.commentchar",
    "#",
    "notes.rewriteref",
    "",
};

static int check(const struct al_repo *repo, const char *oid, struct al_budget *budget,
                 struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv sides = AL_STRV_INIT;
    int r = al_git_check_nothing_underway(repo, budget, err);

    if (r == 0 && !repo->vetting->has_identity)
        r = al_git_no_identity(err);
    al_strv_adds(&sides, oid, "HEAD", NULL);
    return r < 0 ? r : al_git_check_merge_programs(repo, "HEAD", &sides, budget, err);
}

/* It has not happened then: not half of it, when git died. */
static int failed(struct al_repo *repo, const struct al_before *before,
                  const struct al_git_output *output, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error problem = AL_ERROR_INIT;
    const char *said = output->err.out.buf;
    int r = al_git_failed(output, err);

    if (err && (strstr(said, "You have unstaged changes") ||
                strstr(said, "index contains uncommitted changes")))
        err->code = AL_CODE_DIRTY_WORKDIR;
    if (err && err->code == AL_CODE_NONE)
        err->code = AL_CODE_OPERATION_FAILED;
    if (al_before_put_back(repo, before, &problem) < 0 && err)
        err->detail =
            al_asprintf("The repository could not be put back as it was: %s", problem.message);
    return r;
}

static int run(struct al_repo *repo, const char *oid, size_t max_bytes,
               const struct al_before *before, struct al_budget *budget,
               struct al_merge_outcome *outcome, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv config = AL_STRV_INIT;
    const struct al_git_link link = { .protocol = "none", .config = &config };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    int r;

    for (size_t i = 0; i < AL_COUNT(settings); i++)
        al_strv_add(&config, settings[i]);
    command.link = &link;
    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* it may start git commit */
    al_strv_adds(&command.argv, "git", "rebase", "--merge", "--no-verify", "--no-gpg-sign",
                 "--no-autostash", "--no-autosquash", "--no-stat", "--no-rerere-autoupdate", oid,
                 NULL);
    r = al_git_run_writer_raw(repo, &command, max_bytes, budget, &output, err);
    if (r == 0 && output.exit_code != 0)
        r = al_git_conflicts(repo, budget, &conflicts, err);
    if (r < 0)
        return r;
    if (output.exit_code != 0 && !conflicts.count)
        return failed(repo, before, &output, err);
    al_conflicts_add_paths(&conflicts, &outcome->conflicts);
    outcome->conflicted = conflicts.count > 0;
    al_str_trim_end(&output.out.out);
    al_str_add(&outcome->text, output.out.out.buf, output.out.out.len);
    (void)al_text_truncate(&outcome->text, max_bytes);
    return 0;
}

int al_git_replay(struct al_repo *repo, const char *commit, size_t max_bytes,
                  struct al_budget *budget, struct al_merge_outcome *ret_outcome,
                  struct al_error *err)
{
    al_auto(al_before_clear) struct al_before before = AL_BEFORE_INIT;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_strv_clear) struct al_strv incoming = AL_STRV_INIT;
    al_auto(al_freep) char *head = al_repo_head(repo);
    al_auto(al_freep) char *oid = NULL;
    al_auto(al_freep) char *now = NULL;
    int r = al_git_resolve_commit(repo, commit, budget, &oid, err);

    if (r == 0)
        r = check(repo, oid, budget, err);
    if (r < 0)
        return r;
    al_strv_add(&incoming, oid);
    r = al_before_note(repo, &incoming, budget, &before, err);
    if (r == 0)
        r = al_git_check_not_in_the_way(repo, &before.there, budget, err);
    if (r == 0) {
        r = run(repo, oid, max_bytes, &before, budget, &outcome, err);
        r = al_before_settle(repo, &before, r, err);
    }
    if (r < 0)
        return r;
    now = al_repo_head(repo);
    outcome.up_to_date = !outcome.conflicted && !strcmp(now, head);
    outcome.fast_forward = !outcome.up_to_date && !strcmp(now, oid);
    *ret_outcome = outcome;
    outcome = AL_MERGE_INIT;
    return 0;
}
