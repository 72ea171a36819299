// SPDX-License-Identifier: Apache-2.0
/*
 * git in a pipeline of bash_command: the words it may be given, and its start.
 *
 * Only log, diff, show and status are allowed.  The child gets the environment, overrides and
 * ruleset of every other git of airlock that reads.
 */
#ifndef AL_GITOPS_READONLY_PIPELINE_GIT_H
#define AL_GITOPS_READONLY_PIPELINE_GIT_H

#include "gitops/environment.h"
#include "gitops/repo/repo.h"
#include "proc/proc.h"
#include "util/error.h"
#include "util/str.h"

struct al_held_ruleset;

/** Check the words of a git command; `words` begins with "git".  AL_ERR_SANDBOX names what is not
 * allowed. */
int al_git_pipeline_check(const struct al_strv *words, struct al_error *err);

/** Append checked words, with the options that can only be set on the command line. */
void al_git_pipeline_words(const struct al_strv *given, struct al_strv *argv);

/** Everything a git child is started with; borrowed by al_proc_spec until it is closed. */
struct al_git_pipeline {
    struct al_git *git;
    const char *program;
    struct al_strv argv;
    struct al_git_env env; /* borrows from the repository, which outlives it */
    struct al_confinement sandbox;
    struct al_held_ruleset *held;
};

#define AL_GIT_PIPELINE_INIT ((struct al_git_pipeline){ .git = NULL })

/**
 * Prepare a git child.
 *
 * @param words    Words that al_git_pipeline_check() accepted.
 * @param left_ms  The time it may run, for its resource limits.
 * @return 0, or AL_ERR_EXECUTION: "git binary not available", or no ruleset could be built.
 */
int al_git_pipeline_open(const struct al_repo *repo, const struct al_strv *words, uint32_t left_ms,
                         struct al_git_pipeline *ret_pipeline, struct al_error *err);
void al_git_pipeline_close(struct al_git_pipeline *pipeline);

#endif
