// SPDX-License-Identifier: Apache-2.0
/* For the push_*.c files only: a planned push, and its steps. */
#ifndef AL_STAGING_PUSH_PRIVATE_H
#define AL_STAGING_PUSH_PRIVATE_H

#include "gitops/plumbing/bare.h"
#include "gitops/repo/repo.h"
#include "staging/push/push.h"
#include "staging/staged.h"
#include "staging/staging.h"
#include "staging/target.h"

/** The prefix of branches. */
#define AL_HEADS "refs/heads/"

/** A version of a file.  Its mode is 0 when there is no file. */
struct al_push_version {
    unsigned mode;
    struct al_oid oid;
};

/** A planned push. */
struct al_push {
    struct al_staging *staging; /* borrowed */
    struct al_repo *repo;       /* of the target, borrowed */
    struct al_target target;
    struct al_staged staged;
    char *shown, *key;        /* the target for users, and for heads */
    char *ref;                /* full name of the branch */
    char *head;               /* its commit; "" when the branch is new */
    char *parent;             /* of the new commit; "" for a root commit */
    char *parent_ref;         /* the branch that `parent` is on; NULL: none */
    char *author;             /* "Name <mail>" */
    char commit[AL_OID_TEXT]; /* the staged commit, in the store */
    char *conflict;           /* why it cannot be pushed: safe text; NULL: it can */
    bool is_other;            /* the conflict is not that the branch moved */
    bool is_checked_out;      /* the target's working tree is on this branch */
    bool parent_moved;        /* a new branch begins at a commit that the files are not based on */
    struct al_strv lfs;       /* al_push_find_lfs(), sorted */
    struct al_strv other;     /* al_push_find_other_bases(), sorted */
    struct al_push_version *theirs; /* the branch's versions of the staged files, in their order;
                                       set by al_push_build_index() */
};

/** Files of git-lfs that a result names. */
#define AL_PUSH_LFS_NAMED 20

/** Files with another base that a question or a result names. */
#define AL_PUSH_OTHER_NAMED 5

/** The staged file of this path; SIZE_MAX: there is none. */
size_t al_push_find_file(const struct al_push *push, const char *path);

/** The id of the tree without entries, which git knows without an object. */
const char *al_push_empty_tree(const struct al_push *push);

/** A directory of the store that one push works in. */
struct al_push_dir {
    struct al_bare bare; /* the store, borrowing from the target */
    char *path;          /* absolute; NULL: not made */
    char *index;         /* absolute path of the private index */
};

#define AL_PUSH_DIR_INIT ((struct al_push_dir){ .path = NULL })

/** Make the directory, after removing what killed processes left. */
int al_push_dir_make(const struct al_push *push, struct al_push_dir *ret_dir, struct al_error *err);

/** Remove the directory, if it was made. */
void al_push_dir_remove(struct al_push_dir *dir);

/** Run a git in the store and append its standard output to `out` (NULL: dropped). */
int al_push_git(const struct al_push_dir *dir, struct al_git_command *command, struct al_str *out,
                struct al_run_limits *budget, struct al_error *err);

/** The same with a sink for standard output. */
int al_push_git_sink(const struct al_push_dir *dir, struct al_git_command *command,
                     struct al_sink sink, struct al_run_limits *budget, struct al_error *err);

/**
 * Build the commit in the store.
 *
 * @param[out] ret_commit  Caller frees.
 * @return 0; AL_ERR_EXECUTION also when the target has these changes already.
 */
int al_push_build(const struct al_push *push, const struct al_push_dir *dir,
                  struct al_run_limits *budget, char **ret_commit, struct al_error *err);

/** Set the files of the private index: those of the parent with the staged ones, as git add would
 * store them. */
int al_push_build_index(const struct al_push *push, const struct al_push_dir *dir,
                        struct al_run_limits *budget, struct al_error *err);

/** The name and address of the commit; see docs/STAGING.md.  Caller frees. */
int al_push_find_author(const struct al_push *push, struct al_run_limits *budget, char **ret_author,
                        struct al_error *err);

/** Find out why the target would refuse: *ret_refusal is NULL when it would not.  Caller frees. */
int al_push_find_refusal(const struct al_push *push, struct al_run_limits *budget,
                         char **ret_refusal, struct al_error *err);

/** Files that the target keeps with git-lfs, except pointers.  After al_push_build(), by the
 * attributes of the commit that was built. */
int al_push_find_lfs(const struct al_push *push, const struct al_push_dir *dir,
                     struct al_run_limits *budget, struct al_strv *ret_paths, struct al_error *err);

/** Files that were changed in the sandbox from another version than the branch has, for example
 * since they were pulled from another branch: the push may undo something.  After al_push_build().
 */
int al_push_find_other_bases(const struct al_push *push, const struct al_push_dir *dir,
                             struct al_run_limits *budget, struct al_strv *ret_paths,
                             struct al_error *err);

/** Add what the result of a push says about them, one safe line. */
void al_push_note_other_bases(const struct al_push *push, struct al_strv *notes);

/** Add what the result of a push says about the files of git-lfs, safe lines. */
void al_push_note_lfs(const struct al_push *push, struct al_strv *notes);

/** The same because a working tree of the target uses the branch: it has it checked out, unless it
 * is the target's own, or rebases or bisects it. */
int al_push_find_other_worktree(const struct al_push *push, char **ret_refusal,
                                struct al_error *err);

/** The files that the target ignores among those that are new.  Nothing for a bare target. */
int al_push_find_ignored(const struct al_push *push, struct al_run_limits *budget,
                         struct al_strv *ret_paths, struct al_error *err);

/** Refuse files in a git directory of the working tree, and files that make one. */
int al_push_check_gitdirs(const struct al_push *push, struct al_error *err);

/** Refuse files in a directory that is a git directory in the tree that the private index has.
 * After al_push_build_index(). */
int al_push_check_tree(const struct al_push *push, const struct al_push_dir *dir,
                       struct al_run_limits *budget, struct al_error *err);

/** Bring the objects of a commit to the target, and verify there what was brought. */
int al_push_objects(const struct al_push *push, const struct al_push_dir *dir, const char *commit,
                    struct al_run_limits *budget, struct al_error *err);

#endif
