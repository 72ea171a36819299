// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/rebase.h"

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/plumbing/revision.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "gitops/sequencer/merge.h"
#include "gitops/sequencer/merge_run.h"
#include "gitops/sequencer/operation_state.h"
#include "gitops/vet/vet.h"

/* Settings that override the repository's. For example, an instruction format with a newline would
 * add lines to the todo list. */
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

static int check(const struct al_repo *repo, const char *oid, struct al_run_limits *budget,
                 struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv sides = AL_STRV_INIT;
    int r = al_git_check_no_operation(repo, budget, err);

    if (r == 0 && !repo->vetting->has_identity)
        r = al_git_no_identity(err);
    if (r == 0)
        r = al_git_check_signature(repo, err);
    al_strv_adds(&sides, oid, "HEAD", NULL);
    return r < 0 ? r : al_git_check_merge_programs(repo, "HEAD", &sides, budget, err);
}

static void add_words(const char *oid, struct al_git_command *command)
{
    command->class = AL_GIT_WRITE;
    command->starts_children = true; /* git rebase may run git commit */
    al_strv_adds(&command->argv, "git", "rebase", "--merge", "--no-verify", "--no-gpg-sign",
                 "--no-autostash", "--no-autosquash", "--no-stat", "--no-rerere-autoupdate", oid,
                 NULL);
}

int al_git_rebase_run(struct al_repo *repo, const char *commit, size_t max_bytes,
                      struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                      struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv config = AL_STRV_INIT;
    const struct al_git_link link = { .protocol = "none", .config = &config };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_freep) char *oid = NULL;
    int r = al_git_resolve_commit(repo, commit, budget, &oid, err);

    if (r == 0)
        r = check(repo, oid, budget, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < AL_COUNT(settings); i++)
        al_strv_add(&config, settings[i]);
    command.link = &link;
    add_words(oid, &command);
    return al_merge_bring(repo,
                          &(struct al_merge_input){ .command = &command, .oid = oid, .head = head },
                          max_bytes, budget, ret_outcome, err);
}
