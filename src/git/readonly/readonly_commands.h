// SPDX-License-Identifier: Apache-2.0
/*
 * The read-only git commands of the toolset `readonly`.
 *
 * Each operation is a row of a table: its words, the options it accepts, and whether a reference or
 * a path may or must follow.  Anything else is refused.
 */
#ifndef AL_GIT_READONLY_READONLY_COMMANDS_H
#define AL_GIT_READONLY_READONLY_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"
#include "git/environment.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "proc/proc.h"

/** The pattern of a reference, as in the tool's schema. */
#define AL_READONLY_REF_PATTERN "^[A-Za-z0-9_./~^@-]{1,200}$"

/** The operations, which index the table. */
enum al_readonly_op {
    AL_READONLY_STATUS,
    AL_READONLY_LOG,
    AL_READONLY_DIFF,
    AL_READONLY_SHOW,
    AL_READONLY_BRANCH,
    AL_READONLY_BLAME,
    AL_READONLY_LS_FILES,
    AL_READONLY_REV_PARSE,
#ifdef AL_GUARDS_OFF
    AL_READONLY_COMMIT, /* refused by every row above; for the test of the kernel layer */
    AL_READONLY_UPDATE_REF,
    AL_READONLY_CONFIG,
    AL_READONLY_GC,
#endif
};

/** An agent's request.  Borrowed. */
struct al_readonly_options {
    enum al_readonly_op op;
    const char *dir;            /**< the top of the repository, as given; shown after `-C` */
    const struct al_strv *args; /**< options, as given */
    const char *ref, *path;     /**< NULL when not given */
};

/** The most bytes of standard output and of standard error that are kept. */
#define AL_READONLY_OUT_MAX_BYTES (1024u * 1024u)
#define AL_READONLY_ERR_MAX_BYTES (256u * 1024u)

/**
 * Check the words against the operation's row.  Reads no file.
 *
 * @return 0, or AL_ERR_BAD_ARGS naming what is not allowed.
 */
int al_readonly_check(const struct al_readonly_options *options, struct al_error *err);

/** The result of a run.  Set it up with AL_READONLY_RUN_INIT. */
struct al_readonly_run {
    struct al_strv argv; /**< the command line that ran */
    struct al_git_output output;
    bool out_truncated, err_truncated;
};

#define AL_READONLY_RUN_INIT ((struct al_readonly_run){ .output = { .exit_code = -1 } })

void al_readonly_run_clear(struct al_readonly_run *run);

/**
 * Run an operation in the repository, as a reader.
 *
 * A git that fails and a deadline that passes (output.timed_out) are results, not errors.
 *
 * @param options  Options that al_readonly_check() accepted.
 * @return 0; AL_ERR_BAD_ARGS for a path that leads out of the repository; AL_ERR_SANDBOX,
 *         AL_ERR_EXECUTION or AL_ERR_CANCELLED when git did not run.
 */
int al_git_read_only(const struct al_repo *repo, const struct al_readonly_options *options,
                     struct al_readonly_run *ret_run, struct al_error *err);

/** Check the words of a git command; `words` begins with "git".  AL_ERR_SANDBOX names what is not
 * allowed. */
int al_git_pipeline_check(const struct al_strv *words, struct al_error *err);

/** Append checked words, with the options that can only be set on the command line. */
void al_git_pipeline_words(const struct al_strv *given, struct al_strv *argv);

/** A git child in a pipeline: its words, and everything else that it is started with. */
struct al_git_pipeline {
    struct al_strv argv;
    struct al_git_child child;
};

#define AL_GIT_PIPELINE_INIT ((struct al_git_pipeline){ .child = AL_GIT_CHILD_INIT })

/**
 * Prepare a git child.
 *
 * @param words  Words that al_git_pipeline_check() accepted.
 * @return As al_git_child_prepare().  The caller closes it, after a failure too.
 */
int al_git_pipeline_open(const struct al_repo *repo, const struct al_strv *words,
                         struct al_git_pipeline *ret_pipeline, struct al_error *err);
void al_git_pipeline_close(struct al_git_pipeline *pipeline);

#endif
