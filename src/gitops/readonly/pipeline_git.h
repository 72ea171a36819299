// SPDX-License-Identifier: Apache-2.0
/*
 * git as one stage of a pipeline: which words it may be given, and how it is started.
 *
 * It reads: log, diff, show and status, in a reader's environment, with the overrides and under the
 * ruleset that every other reading git of airlock has.
 */
#ifndef AL_GITOPS_READONLY_PIPELINE_GIT_H
#define AL_GITOPS_READONLY_PIPELINE_GIT_H

#include "gitops/environment.h"
#include "gitops/repo/repo.h"
#include "proc/proc.h"
#include "util/error.h"
#include "util/str.h"

struct al_held_ruleset;

/** AL_ERR_SANDBOX naming what is not allowed.  `words` begins with "git". */
int al_git_pipeline_check(const struct al_strv *words, struct al_error *err);

/** Words that passed, with those that git can be told on its command line alone. */
void al_git_pipeline_words(const struct al_strv *given, struct al_strv *argv);

/** What a git child is started with; borrowed by al_proc_spec as long as it is open. */
struct al_git_pipeline {
    struct al_git *git;
    const char *program;
    struct al_strv argv;
    struct al_git_env env; /* borrows from the repository, which outlives the stage */
    struct al_sandbox sandbox;
    struct al_held_ruleset *held;
};

#define AL_GIT_PIPELINE_INIT ((struct al_git_pipeline){ .git = NULL })

/**
 * Prepare one.
 *
 * @param words    Those of the command line, which al_git_pipeline_check() accepted.
 * @param left_ms  How long it may run, for its limits.
 * @return 0, or AL_ERR_EXECUTION "git binary not available" or when no ruleset can be built.
 */
int al_git_pipeline_open(const struct al_repo *repo, const struct al_strv *words, uint32_t left_ms,
                         struct al_git_pipeline *ret_pipeline, struct al_error *err);
void al_git_pipeline_close(struct al_git_pipeline *pipeline);

#endif
