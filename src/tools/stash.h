// SPDX-License-Identifier: Apache-2.0
/*
 * The common part of the tools called git_stash: everything but rows and results.
 *
 * The args struct of each tool begins with a struct al_stash_args.  The functions here are
 * callbacks of struct al_tool and get it as `args`.
 */
#ifndef AL_TOOLS_STASH_H
#define AL_TOOLS_STASH_H

#include "call/call.h"

struct al_git_output;
struct al_stash_options;

/** The commands of git_stash. */
enum al_stash_command {
    AL_STASH_COMMAND_PUSH,
    AL_STASH_COMMAND_POP,
    AL_STASH_COMMAND_APPLY,
    AL_STASH_COMMAND_DROP,
    AL_STASH_COMMAND_CLEAR,
    AL_STASH_COMMAND_LIST, /**< from here on the commands only read */
    AL_STASH_COMMAND_SHOW,
};

/** The first member of each tool's args struct. */
struct al_stash_args {
    int action; /**< enum al_stash_command */
    const char *message;
    struct al_opt_int index;
    bool include_untracked;
    struct al_strv paths; /**< of a push; none: all */
};

/** Names of resolved values: the entry's id, of a clear the ids of all, separated by spaces; and
 * whose it is.  Without ids, both are there only in a repository with several working trees. */
#define AL_STASH_ENTRY "entry"
#define AL_STASH_WHOSE "entries of"

/**
 * Make the options for the git layer.  The index is the one given, else 0, and where an entry was
 * resolved, the one that it has now.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_STASH_EMPTY when the resolved entry is gone.
 */
int al_stash_options_of(struct al_call *call, const void *args,
                        struct al_stash_options *ret_options, struct al_error *err);

/** al_git_stash(); but a pop or apply never writes over an untracked file, ignored or not. */
int al_stash_run(struct al_call *call, const struct al_stash_options *options,
                 struct al_git_output *ret_output, struct al_error *err);

/** Test whether the call is about an entry that does not belong to this working tree, and so is
 * somebody else's work; for a stricter operation. */
bool al_stash_is_foreign(struct al_call *call, const void *args);
#define AL_STASH_CONDITION "for an entry of another worktree"

/** What an "always" about the stash covers. */
extern const char *const al_stash_always_by[];

/** Callbacks for struct al_tool. */
int al_stash_authorize(struct al_call *call, const void *args, struct al_error *err);
/** For a tool's `changed_files`. */
int al_stash_changed_files(struct al_call *call, const void *args, bool *ret_known,
                           struct al_strv *out, struct al_error *err);
int al_stash_affected_files(struct al_call *call, const void *args, struct al_strv *out,
                            struct al_error *err);
int al_stash_preview(struct al_call *call, const void *args, struct al_str *out,
                     struct al_error *err);
unsigned al_stash_git_locks(const struct al_operation *operation);

#endif
