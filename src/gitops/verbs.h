// SPDX-License-Identifier: Apache-2.0
/*
 * What tools ask of git, one typed function a thing.  All of them run in `repo`, take their time
 * from `budget`, give output as safe text, and leave a non-zero exit code of git to al_git_failed()
 * where they say so.
 */
#ifndef AL_GITOPS_VERBS_H
#define AL_GITOPS_VERBS_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/command.h"
#include "gitops/repo.h"

/* status.c */

/** The choices of git_status. */
struct al_status_options {
    bool porcelain, branch, untracked;
};

/** `git status`; a failing git is an error. */
int al_git_status(const struct al_repo *repo, const struct al_status_options *options,
                  size_t max_bytes, struct al_budget *budget, struct al_git_output *ret_output,
                  struct al_error *err);

/* diff.c */

/** The choices of git_diff. */
struct al_diff_options {
    bool cached, name_only, stat;
    int64_t unified; /**< lines of context, -1: git's default */
    const char *from_ref, *to_ref;
    const struct al_strv *paths; /**< words of an agent; resolved here */
};

/** `git diff`; a failing git is an error. */
int al_git_diff(const struct al_repo *repo, const struct al_diff_options *options, size_t max_bytes,
                struct al_budget *budget, struct al_git_output *ret_output, struct al_error *err);

/** patches.c: write one patch file per changed path into the open directory `dir_fd`.  All of them
 * are written or none: an existing file is refused.  *ret_names are the file names. */
int al_git_write_patches(const struct al_repo *repo, const struct al_diff_options *options,
                         int dir_fd, struct al_budget *budget, struct al_strv *ret_names,
                         struct al_error *err);

/* log.c */

/** The choices of git_log; NULL strings are not given. */
struct al_log_options {
    int64_t max_count; /**< 0: no limit */
    bool oneline;
    const char *format, *author, *since, *until, *grep, *path;
};

/** `git log`; a failing git is an error. */
int al_git_log(const struct al_repo *repo, const struct al_log_options *options, size_t max_bytes,
               struct al_budget *budget, struct al_git_output *ret_output, struct al_error *err);

/* add.c */

/** Which of the three ways to stage. */
enum al_add_mode { AL_ADD_PATHS, AL_ADD_ALL, AL_ADD_UPDATE };

/** The choices of git_add; `paths` counts with AL_ADD_PATHS. */
struct al_add_options {
    enum al_add_mode mode;
    const struct al_strv *paths;
};

/** Refuse when content would go through a configured filter driver, naming file and filter. */
int al_git_add_check(const struct al_repo *repo, const struct al_add_options *options,
                     struct al_budget *budget, struct al_error *err);

/** `git add`; a failing git is an error. */
int al_git_add(struct al_repo *repo, const struct al_add_options *options, size_t max_bytes,
               struct al_budget *budget, struct al_git_output *ret_output, struct al_error *err);

/** How many entries differ between HEAD and the index. */
int al_git_count_staged(const struct al_repo *repo, struct al_budget *budget, uint64_t *ret_count,
                        struct al_error *err);

/* commit.c */

/**
 * What must be so before anyone is asked: something is staged (or a merge is being concluded) and
 * there is an identity.  The staged change is the excerpt for the approval, appended to `out`.
 */
int al_git_commit_preview(const struct al_repo *repo, struct al_budget *budget, struct al_str *out,
                          struct al_error *err);

/** `git commit` with this message; nothing staged and a missing identity are told apart. */
int al_git_commit(struct al_repo *repo, const char *message, size_t max_bytes,
                  struct al_budget *budget, struct al_git_output *ret_output, struct al_error *err);

/* notes.c: what did not run, for the [stderr] section.  Lines without a newline at the end. */

/** Hooks of this list (NULL-terminated) that are there and would have run. */
void al_git_note_hooks(const struct al_repo *repo, const char *const *hooks, struct al_str *out);

/** Filter drivers that reading the working tree would have run. */
void al_git_note_filters(const struct al_repo *repo, struct al_str *out);

#endif
