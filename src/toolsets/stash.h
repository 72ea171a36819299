// SPDX-License-Identifier: Apache-2.0
/*
 * What the two tools called git_stash have in common: all but their rows and their results.
 *
 * Their args struct begins with a struct al_stash_args, which the functions here are handed as the
 * `args` of the callbacks in struct al_tool.
 */
#ifndef AL_TOOLSETS_STASH_H
#define AL_TOOLSETS_STASH_H

#include "tool/call.h"

/** What an agent may want with the stash. */
enum al_stash_command {
    AL_STASH_COMMAND_PUSH,
    AL_STASH_COMMAND_POP,
    AL_STASH_COMMAND_APPLY,
    AL_STASH_COMMAND_DROP,
    AL_STASH_COMMAND_CLEAR,
    AL_STASH_COMMAND_LIST, /**< what only looks stands last */
    AL_STASH_COMMAND_SHOW,
};

/** First member of the args struct. */
struct al_stash_args {
    int action; /**< enum al_stash_command */
    const char *message;
    struct al_opt_int index;
    bool include_untracked;
};

/** For the `applies` of operations. */
bool al_stash_is_push(const struct al_call *call, const void *args);
bool al_stash_is_pop(const struct al_call *call, const void *args);
bool al_stash_is_apply(const struct al_call *call, const void *args);
bool al_stash_is_drop(const struct al_call *call, const void *args);
bool al_stash_is_list(const struct al_call *call, const void *args);
bool al_stash_is_show(const struct al_call *call, const void *args);

/** The entry that is meant: the newest unless another is named. */
int64_t al_stash_index(const void *args);

/** Of what changes something. */
struct al_stash_options al_stash_options_of(const void *args);

/** For the tool's table. */
int al_stash_authorize(struct al_call *call, const void *args, struct al_error *err);
int al_stash_affected_files(struct al_call *call, const void *args, struct al_strv *out,
                            struct al_error *err);
int al_stash_preview(struct al_call *call, const struct al_operation *op, const void *args,
                     struct al_str *out, struct al_error *err);
/** `untracked` is the name of include_untracked in the schema. */
void al_stash_ignored(const void *p, const char *untracked, struct al_ignored *out);
void al_stash_summarize(const struct al_operation *op, const void *args, struct al_str *out);

#endif
