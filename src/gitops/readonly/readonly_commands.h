// SPDX-License-Identifier: Apache-2.0
/*
 * The read-only git commands of the toolset `readonly`: which there are, what each may be given,
 * and running them.
 *
 * An operation is a row: its words, the options it may be given, and whether a reference or a path
 * may or must follow.  What is not in the row is refused.
 */
#ifndef AL_GITOPS_READONLY_READONLY_COMMANDS_H
#define AL_GITOPS_READONLY_READONLY_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/command.h"
#include "gitops/repo/repo.h"
#include "util/error.h"
#include "util/str.h"

/** What a reference may look like, as the schema of the tool has it. */
#define AL_INSPECT_REF_PATTERN "^[A-Za-z0-9_./~^@-]{1,200}$"

/** The operations; the number of each is its row. */
enum al_inspect_op {
    AL_INSPECT_STATUS,
    AL_INSPECT_LOG,
    AL_INSPECT_DIFF,
    AL_INSPECT_SHOW,
    AL_INSPECT_BRANCH,
    AL_INSPECT_BLAME,
    AL_INSPECT_LS_FILES,
    AL_INSPECT_REV_PARSE,
#ifdef AL_GUARDS_OFF
    AL_INSPECT_COMMIT, /* what no row above would let through, for the test of the kernel layer */
    AL_INSPECT_UPDATE_REF,
    AL_INSPECT_CONFIG,
    AL_INSPECT_GC,
#endif
};

/** What an agent asks for.  Borrowed. */
struct al_inspect_options {
    enum al_inspect_op op;
    const char *dir;            /**< the repository's top, as given: what `-C` shows */
    const struct al_strv *args; /**< options, as given */
    const char *ref, *path;     /**< NULL when not given */
};

/** The most bytes of standard output and of standard error that are kept. */
#define AL_INSPECT_OUT_MAX_BYTES (1024u * 1024u)
#define AL_INSPECT_ERR_MAX_BYTES (256u * 1024u)

/**
 * Check the words against the operation's row.  Looks at nothing but the words.
 *
 * @return 0, or AL_ERR_BAD_ARGS naming what is not allowed.
 */
int al_inspect_check(const struct al_inspect_options *options, struct al_error *err);

/** What came of it.  Set up with AL_INSPECTION_INIT. */
struct al_inspection {
    struct al_strv argv; /**< the command line that ran */
    struct al_git_output output;
    bool out_truncated, err_truncated;
};

#define AL_INSPECTION_INIT ((struct al_inspection){ .output = { .exit_code = -1 } })

void al_inspection_clear(struct al_inspection *inspection);

/**
 * Run an operation in the repository, under the rights of a reader.
 *
 * A git that fails and a deadline that passes (output.timed_out) are answers, not errors.
 *
 * @param options  Words that al_inspect_check() accepted.
 * @return 0; AL_ERR_BAD_ARGS for a path that leads out of the repository; AL_ERR_SANDBOX,
 *         AL_ERR_EXECUTION or AL_ERR_CANCELLED when git did not run.
 */
int al_git_inspect(const struct al_repo *repo, const struct al_inspect_options *options,
                   struct al_budget *budget, struct al_inspection *ret_inspection,
                   struct al_error *err);

#endif
