// SPDX-License-Identifier: Apache-2.0
/* An older git, which has no `git merge-tree --write-tree`.  A test that includes this is linked
 * with -Wl,--wrap=al_git_run. */
#ifndef TESTS_UNIT_GITOPS_INMEMORY_OLDER_GIT_H
#define TESTS_UNIT_GITOPS_INMEMORY_OLDER_GIT_H

#include "gitops/run.h"
#include "tests/unit/gitops/lib.h"

/* git merge-tree does not know its options. */
static bool git_is_older;

int __real_al_git_run(const struct al_location *at, const struct al_git_command *command,
                      const struct al_git_run *options, struct al_run_limits *budget,
                      struct al_git_output *ret_output, struct al_error *err);
int __wrap_al_git_run(const struct al_location *at, const struct al_git_command *command,
                      const struct al_git_run *options, struct al_run_limits *budget,
                      struct al_git_output *ret_output, struct al_error *err);

/* `git merge` starts `git stash create` since 2.38, where airlock does not use it for this. */
int __wrap_al_git_run(const struct al_location *at, const struct al_git_command *command,
                      const struct al_git_run *options, struct al_run_limits *budget,
                      struct al_git_output *ret_output, struct al_error *err)
{
    struct al_git_command older = *command;
    int r;

    if (git_is_older && al_strv_contains(&command->argv, "merge"))
        older.starts_children = true;
    if (!git_is_older || !al_strv_contains(&command->argv, "merge-tree"))
        return __real_al_git_run(at, &older, options, budget, ret_output, err);
    older.argv = AL_STRV_INIT;
    al_strv_adds(&older.argv, "git", "merge-tree", "--no-such-option", NULL);
    r = __real_al_git_run(at, &older, options, budget, ret_output, err);
    al_strv_clear(&older.argv);
    return r;
}

static inline int older_world_setup(void **state)
{
    git_is_older = true;
    return world_setup(state);
}

static inline int older_world_teardown(void **state)
{
    git_is_older = false;
    return world_teardown(state);
}

#define OLDER_WORLD_TEST(test)                                                                     \
    {                                                                                              \
        "with an older git: " #test, test, older_world_setup, older_world_teardown, NULL           \
    }

/* A test of both ways. */
#define BOTH_WORLD_TESTS(test) WORLD_TEST(test), OLDER_WORLD_TEST(test)

#endif
