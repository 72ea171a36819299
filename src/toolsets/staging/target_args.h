// SPDX-License-Identifier: Apache-2.0
/* The argument that names a target: `target` of git_push, `source` of git_pull. */
#ifndef AL_TOOLSETS_STAGING_TARGET_ARGS_H
#define AL_TOOLSETS_STAGING_TARGET_ARGS_H

#include "staging/target.h"
#include "tool/tool.h"

/** The fields of al_target_object. */
struct al_target_args {
    bool given;
    int type; /**< enum al_target_type */
    const char *path, *repo, *branch;
};

/** The rows, for AL_OBJECT(). */
extern const struct al_object al_target_object;

/** The target that the arguments name, else the default target of the session.  Borrowed. */
struct al_target al_target_from_args(const struct al_call *call, const struct al_target_args *args);

/** Stage 2: al_target_check() for a target that is given. */
int al_target_args_check(const struct al_target_args *args, const char *param,
                         struct al_error *err);

/** Stage 3: open the repository of the target, as al_target_open() or al_github_open() does.  With
 * `only_names` nothing of a target on GitHub is fetched, for al_github_branches(). */
int al_target_args_open(struct al_call *call, const struct al_target_args *args, bool only_names,
                        struct al_repo **ret_repo, struct al_error *err);

#endif
