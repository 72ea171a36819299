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
    bool show_controls; /**< for a person who decides by it */
    int64_t unified;    /**< lines of context, -1: git's default */
    const char *from_ref, *to_ref;
    const struct al_strv *paths; /**< words of an agent; resolved here */
    const char *index;           /**< of an excerpt, NULL: the repository's own; borrowed */
};

/** `git diff`; a failing git is an error. */
int al_git_diff(const struct al_repo *repo, const struct al_diff_options *options, size_t max_bytes,
                struct al_budget *budget, struct al_git_output *ret_output, struct al_error *err);

/** The same diff as an excerpt for an approval, appended to `out`. */
int al_git_diff_excerpt(const struct al_repo *repo, const struct al_diff_options *options,
                        struct al_budget *budget, struct al_str *out, struct al_error *err);

/** Whether files of a directory may be replaced: asked once, for all of them, when what replaces
 * them is complete.  A negative status ends the writing. */
struct al_replacing {
    int (*check)(void *payload, const struct al_strv *names, struct al_error *err);
    void *payload;
};

/**
 * patches.c: write one patch file per changed path into the open directory `dir_fd`.  All of them
 * are written or none; more than AL_PATCHES_MAX paths are refused.
 *
 * @param replacing  For the regular files that lie in a patch's place; NULL: none may be replaced.
 *                   Anything else there is refused.  Who is killed leaves each of those files
 *                   whole, under its own name or a temporary one.
 * @param[out] ret_names  The file names.
 */
int al_git_write_patches(const struct al_repo *repo, const struct al_diff_options *options,
                         int dir_fd, const struct al_replacing *replacing, struct al_budget *budget,
                         struct al_strv *ret_names, struct al_error *err);

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

/* filters.c */

/**
 * The files a call that stages or restores `paths` (NULL: all) is about: those that differ from the
 * index and, with `untracked`, new ones.  Absolute paths in order, each once, appended to `out`.
 */
int al_git_concerned(const struct al_repo *repo, const struct al_strv *paths, bool untracked,
                     struct al_budget *budget, struct al_strv *out, struct al_error *err);

/** The same for a call that overwrites them: with the files that git takes for unchanged by what
 * the index says about them. */
int al_git_endangered(const struct al_repo *repo, const struct al_strv *paths, bool untracked,
                      struct al_budget *budget, struct al_strv *out, struct al_error *err);

/** What such files would lose, as an excerpt for an approval; nothing where there are none. */
int al_git_hidden_excerpt(const struct al_repo *repo, const struct al_strv *paths,
                          struct al_budget *budget, struct al_str *out, struct al_error *err);

/** The names of those of `files` that are in the working tree as an excerpt for an approval, one a
 * line, below `title`; nothing when there are none. */
void al_git_files_excerpt(const struct al_repo *repo, const struct al_strv *files,
                          const char *title, const struct al_budget *budget, struct al_str *out);

/** Whether any filter driver is configured. */
bool al_git_has_filters(const struct al_repo *repo);

/** Refuse when the content of one of these files would go through a configured filter driver,
 * naming file and filter. */
int al_git_check_files(const struct al_repo *repo, const struct al_strv *files,
                       struct al_budget *budget, struct al_error *err);

/* add.c */

/** Which of the three ways to stage. */
enum al_add_mode { AL_ADD_PATHS, AL_ADD_ALL, AL_ADD_UPDATE };

/** The choices of git_add; `paths` counts with AL_ADD_PATHS. */
struct al_add_options {
    enum al_add_mode mode;
    const struct al_strv *paths;
    const struct al_strv *without; /**< names relative to the top that AL_ADD_ALL passes by; NULL */
};

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

/** concludes.c: what is in progress and goes on with a commit, with the commits it is about;
 * nothing where nothing is. */
int al_git_concludes_excerpt(const struct al_repo *repo, struct al_budget *budget,
                             struct al_str *out, struct al_error *err);

/** The failure of a commit for want of a name and an address. */
int al_git_no_identity(struct al_error *err);

/**
 * `git commit` with this message; nothing staged and a missing identity are told apart.
 *
 * @param expected  What al_git_expect_commit() said when the user was shown it: a commit that
 * became another one is taken back, and is AL_ERR_EXECUTION.  NULL: whatever is staged.
 */
int al_git_commit(struct al_repo *repo, const char *message, const char *expected, size_t max_bytes,
                  struct al_budget *budget, struct al_git_output *ret_output, struct al_error *err);

/* show.c */

/** The choices of git_show. */
struct al_show_options {
    const char *commit;
    bool stat, name_only;
    const char *format;
};

/** `git show`; a failing git is an error. */
int al_git_show(const struct al_repo *repo, const struct al_show_options *options, size_t max_bytes,
                struct al_budget *budget, struct al_git_output *ret_output, struct al_error *err);

/* blame.c */

/** The choices of git_blame; a line of 0 is not given. */
struct al_blame_options {
    const char *path, *commit;
    int64_t start_line, end_line;
};

/** AL_ERR_SANDBOX when blame.ignoreRevsFile of the repository leads outside the roots. */
int al_git_blame_check(const struct al_repo *repo, struct al_error *err);

/** `git blame`; a failing git is an error. */
int al_git_blame(const struct al_repo *repo, const struct al_blame_options *options,
                 size_t max_bytes, struct al_budget *budget, struct al_git_output *ret_output,
                 struct al_error *err);

/* restore.c */

/** The choices of git_restore; at least one of the two is set. */
struct al_restore_options {
    const struct al_strv *paths;
    bool staged, worktree;
};

/** Refuse when content would be written through a configured filter driver. */
int al_git_restore_check(const struct al_repo *repo, const struct al_strv *paths,
                         struct al_budget *budget, struct al_error *err);

/** `git restore`; a failing git is an error. */
int al_git_restore(struct al_repo *repo, const struct al_restore_options *options, size_t max_bytes,
                   struct al_budget *budget, struct al_git_output *ret_output,
                   struct al_error *err);

/** Whether anything of these paths is staged. */
int al_git_has_staged(const struct al_repo *repo, const struct al_strv *paths,
                      struct al_budget *budget, bool *ret_staged, struct al_error *err);

/** `git checkout -- paths`: from the index, which stays as it is. */
int al_git_checkout_paths(struct al_repo *repo, const struct al_strv *paths, size_t max_bytes,
                          struct al_budget *budget, struct al_git_output *ret_output,
                          struct al_error *err);

/* checkout_from.c */

/** What to put back from a commit, into the index and the working tree. */
struct al_checkout_from {
    const char *target;
    const struct al_strv *paths;
    bool force; /**< files in conflict too */
};

/** Refuse a target that does not exist (AL_CODE_BRANCH_NOT_FOUND), and content that would be
 * written through a configured filter driver. */
int al_git_checkout_from_check(const struct al_repo *repo, const struct al_checkout_from *from,
                               struct al_budget *budget, struct al_error *err);

/** `git checkout <target> -- paths`.  `ret_files` are the files it had to write, each with a NUL
 * behind it; the caller sets its cap and clears it. */
int al_git_checkout_from(struct al_repo *repo, const struct al_checkout_from *from,
                         struct al_budget *budget, struct al_buffer *ret_files,
                         struct al_error *err);

/* branch.c: names were checked with al_arg_check_branch(); a failing git is an error. */

/** `git branch` as it lists. */
int al_git_branch_list(const struct al_repo *repo, bool all, bool remote, size_t max_bytes,
                       struct al_budget *budget, struct al_git_output *ret_output,
                       struct al_error *err);
/** What deleting a branch would lose: the commits that no other branch, tag or remote has, as an
 * excerpt appended to `out`; nothing when there are none. */
int al_git_branch_preview(const struct al_repo *repo, const char *name, struct al_budget *budget,
                          struct al_str *out, struct al_error *err);

/** Whether git would refuse to delete a branch: there is none of the name, HEAD is on it, or
 * (without `force`) it has commits that neither its upstream nor, where it has none, HEAD has. */
int al_git_branch_stays(const struct al_repo *repo, const char *name, bool force,
                        struct al_budget *budget, bool *ret_stays, struct al_error *err);

/** Append the files that say where a branch is: what an approval about it is bound to. */
void al_git_branch_files(const struct al_repo *repo, const char *name, struct al_strv *out);

/** Append the full names of the branches called `name` that remotes have: git makes a local one of
 * the only one there is. */
int al_git_remote_branches(const struct al_repo *repo, const char *name, struct al_budget *budget,
                           struct al_strv *out, struct al_error *err);

/** `git branch <name>`, at HEAD. */
int al_git_branch_create(struct al_repo *repo, const char *name, size_t max_bytes,
                         struct al_budget *budget, struct al_git_output *ret_output,
                         struct al_error *err);
int al_git_branch_delete(struct al_repo *repo, const char *name, bool force, size_t max_bytes,
                         struct al_budget *budget, struct al_git_output *ret_output,
                         struct al_error *err);
int al_git_branch_rename(struct al_repo *repo, const char *from, const char *to, size_t max_bytes,
                         struct al_budget *budget, struct al_git_output *ret_output,
                         struct al_error *err);

/* checkout.c */

/** Where to go: the first of the three that is set. */
struct al_checkout_options {
    const char *create, *branch, *commit;
    bool force; /**< local changes are lost */
};

/** Refuse when going to this branch or commit would write content through a configured filter
 * driver. */
int al_git_checkout_check(const struct al_repo *repo, const struct al_checkout_options *options,
                          struct al_budget *budget, struct al_error *err);

/** `git checkout`; a failing git is an error. */
int al_git_checkout(struct al_repo *repo, const struct al_checkout_options *options,
                    size_t max_bytes, struct al_budget *budget, struct al_git_output *ret_output,
                    struct al_error *err);

/** What `git checkout <word>` goes to. */
struct al_checkout_target {
    char *branch; /**< "refs/heads/main" of a local branch; NULL: HEAD becomes detached … */
    char *oid;    /**< … at this commit, or the branch is there; NULL: there is neither … */
    char *guess;  /**< … and these are the branches of remotes git may make one of, "" for none */
};

void al_checkout_target_clear(struct al_checkout_target *target);

/** Say what `git checkout <word>` would go to; a word that names nothing is no error. */
int al_git_resolve_checkout(const struct al_repo *repo, const char *word, struct al_budget *budget,
                            struct al_checkout_target *ret_target, struct al_error *err);

/* stash.c */

/** What to do with the stash, beside list and show. */
enum al_stash_action {
    AL_STASH_PUSH,
    AL_STASH_POP,
    AL_STASH_APPLY,
    AL_STASH_DROP,
    AL_STASH_CLEAR,
};

/** The choices of git_stash; `message` and `include_untracked` count with AL_STASH_PUSH. */
struct al_stash_options {
    enum al_stash_action action;
    const char *message;
    bool include_untracked;
    int64_t index;
};

/** `git stash list`, its bytes without its child processes. */
int al_git_stash_list(const struct al_repo *repo, size_t max_bytes, struct al_budget *budget,
                      struct al_git_output *ret_output, struct al_error *err);
int al_git_stash_show(const struct al_repo *repo, int64_t index, size_t max_bytes,
                      struct al_budget *budget, struct al_git_output *ret_output,
                      struct al_error *err);

/**
 * stash_preview.c: what a person should see: the files a push takes away (`files`, as
 * al_git_endangered() lists them), or all that is in the entries that would come back or go.
 *
 * @param[out] ret_any  Something would come of it: there is a change to put aside, or the entry.
 */
int al_git_stash_preview(const struct al_repo *repo, const struct al_stash_options *options,
                         const struct al_strv *files, struct al_budget *budget, struct al_str *out,
                         bool *ret_any, struct al_error *err);

/** What can be refused before anyone is asked: no entries, filters, merge drivers. */
int al_git_stash_check(const struct al_repo *repo, const struct al_stash_options *options,
                       struct al_budget *budget, struct al_error *err);

/** `git stash push|pop|apply|drop|clear`; a failing git is an error, a conflict says so. */
int al_git_stash(struct al_repo *repo, const struct al_stash_options *options, size_t max_bytes,
                 struct al_budget *budget, struct al_git_output *ret_output, struct al_error *err);

/* notes.c: what did not run, for the [stderr] section.  Lines without a newline at the end. */

/** Hooks of this list (NULL-terminated) that are there and would have run. */
void al_git_note_hooks(const struct al_repo *repo, const char *const *hooks, struct al_str *out);

/** Filter drivers that reading the working tree would have run. */
void al_git_note_filters(const struct al_repo *repo, struct al_budget *budget, struct al_str *out);

#endif
