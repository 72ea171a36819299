// SPDX-License-Identifier: Apache-2.0
/*
 * Merging and replaying commits without a working tree and without an index.
 *
 *     struct al_inmemory *memory = NULL;
 *
 *     r = al_inmemory_open(repo, &memory, err);
 *     r = al_inmemory_merge(memory, ours, theirs, &merged, err);
 *     r = al_inmemory_commit(memory, &commit, &oid, err);
 *     ... show al_inmemory_repo(memory) to the user, who accepts ...
 *     r = al_inmemory_accept(memory, oid, err);
 *     ... move a reference to oid ...
 *     al_inmemory_free(memory);
 *
 * New objects are written into a directory below airlock's own, where git reads them together with
 * those of the repository.  The children that merge cannot write into the repository at all.  It
 * gets the objects that are needed with al_inmemory_accept(), and no object before.
 *
 * Every commit and tree is given by its full id.  Attributes are those of the tree of our side, as
 * git has them in a working tree of that commit, and those in info/attributes and of the user.  A
 * path that goes through a configured merge driver is refused; no program runs.
 *
 * Not safe for several threads at once.
 *
 * Source: git-merge-tree(1), git-merge(1), git-receive-pack(1) "Quarantine environment",
 * gitattributes(5).
 */
#ifndef AL_VERBS_INMEMORY_INMEMORY_H
#define AL_VERBS_INMEMORY_INMEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"
#include "git/oid.h"
#include "git/repo/repo.h"
#include "verbs/sequencer/conflict.h"

/* --- Merge output --- */

/*
 * The output of `git merge-tree --write-tree -z --no-messages`: a tree, and the stages of each path
 * in conflict.  Its messages are words for people, and some are no fields.
 *
 * Source: git-merge-tree(1) "OUTPUT".
 */

/** The outcome of a merge.  Set up with AL_MERGED_INIT. */
struct al_merged {
    char *tree; /**< of a merge with conflicts it contains their markers */
    bool conflicted;
    struct al_conflicts files; /**< sorted by path, each once.  None although there is a
                                      conflict: git cannot tell where a directory went */
};

#define AL_MERGED_INIT ((struct al_merged){ .tree = NULL })

void al_merged_clear(struct al_merged *merged);

/** The kind of a conflict by its stages, in git's words: "contents", "modify/delete". */
const char *al_merge_conflict_kind(const struct al_conflict *conflict);

/** Parse the output; false, with nothing to clear, for what git does not print.  `conflicted` is
 * for the caller to set. */
bool al_merge_output_parse(const char *data, size_t len, bool sha256, struct al_merged *ret_merged);

/* --- Inmemory --- */

struct al_inmemory;

/**
 * Make the directory.  Starts no process.
 *
 * @param repo  Borrowed; outlives the result.
 */
int al_inmemory_open(const struct al_repo *repo, struct al_inmemory **ret_memory,
                     struct al_error *err);

/** Say that no side of the merges to come has a .gitattributes file, so that none is looked for. */
void al_inmemory_without_attributes(struct al_inmemory *memory);

/** Remove the directory and everything in it.  NULL is fine. */
void al_inmemory_free(struct al_inmemory *memory);

/** The repository together with the new objects, for every function that reads.  Borrowed. */
const struct al_repo *al_inmemory_repo(const struct al_inmemory *memory);

/**
 * Merge two commits, as `git merge --strategy=ort` does.  git finds the merge base, and makes a
 * virtual one of several.
 *
 * @return 0, with conflicts too; AL_ERR_EXECUTION for unrelated histories and a merge driver.
 */
int al_inmemory_merge(struct al_inmemory *memory, const char *ours, const char *theirs,
                      struct al_merged *ret_merged, struct al_error *err);

/** Merge two trees with a given base, as picking a commit does: the ids of three trees, by side.
 * al_git_empty_tree() is the base of a commit without parents. */
int al_inmemory_merge_trees(struct al_inmemory *memory, const char *const trees[AL_STAGES],
                            struct al_merged *ret_merged, struct al_error *err);

/** The id of the tree of a commit, or of a tree itself; NULL: of the empty tree.  Caller frees. */
int al_inmemory_tree(const struct al_inmemory *memory, const char *oid, char **ret_tree,
                     struct al_error *err);

/** The tree of what is staged, as `git write-tree` has it; AL_ERR_EXECUTION with conflicts.  Caller
 * frees.
 *
 * @param index  An index file, which git may write; NULL: a copy of the repository's. */
int al_inmemory_index_tree(struct al_inmemory *memory, const char *index, char **ret_tree,
                           struct al_error *err);

/** A commit to write.  Borrowed. */
struct al_new_commit {
    const char *tree;
    const struct al_strv *parents; /**< NULL: a root commit */
    const char *author; /**< "Name <mail> <seconds> <zone>"; without a date: at this time; NULL: the
                           user, at this time, as git finds it */
    const char *message; /**< kept to the byte, but what is no UTF-8 is taken for Latin-1 */
};

/**
 * Write a commit.  The committer is the user, as git finds it, at the time of the first commit that
 * `memory` wrote.
 *
 * @return 0; AL_ERR_EXECUTION without an identity, and if the user accepts only signed commits.
 *         Caller frees *ret_oid.
 */
int al_inmemory_commit(struct al_inmemory *memory, const struct al_new_commit *commit,
                       char **ret_oid, struct al_error *err);

/** Write an empty commit without parents and without a message, which stands for nothing: a history
 * that begins anew is replayed onto it.  Caller frees *ret_oid. */
int al_inmemory_nothing(struct al_inmemory *memory, char **ret_oid, struct al_error *err);

/** Remove space at the ends of lines, empty lines at both ends, and all but one of several in a
 * row; as git-stripspace(1) does. */
void al_message_strip_space(const char *message, struct al_str *out);

/** The subject of a message: its first paragraph, in one line.  Caller frees. */
char *al_message_subject(const char *message);

/** The message of two commits that become one, as git-rebase(1) has it. */
void al_message_squash(const char *first, const char *second, struct al_str *out);

/** A commit.  Author and message are in UTF-8, as far as git knows their encoding: it encodes them
 * so when it picks a commit. */
struct al_commit_read {
    char *oid, *tree, *author, *message;
    struct al_strv parents;
    bool is_made; /**< it was written here */
};

/** Read commits, with one git child at most; those that are known already are not read again.
 * "<id>^1" is a parent, which there need not be. */
int al_inmemory_read(struct al_inmemory *memory, const struct al_strv *oids, struct al_error *err);

/** The commit of an id, if it was read or written; else NULL.  Borrowed. */
const struct al_commit_read *al_inmemory_known(const struct al_inmemory *memory, const char *oid);

/** The effect of a step; git-rebase(1) "INTERACTIVE MODE" and git-revert(1). */
enum al_replay_kind {
    AL_REPLAY_PICK,
    AL_REPLAY_REWORD, /**< as pick, with another message */
    AL_REPLAY_SQUASH, /**< into the commit before; both messages, or the given one.  One that
                         changes nothing any more and has none is dropped as a pick is */
    AL_REPLAY_FIXUP,  /**< into the commit before, which keeps its message */
    AL_REPLAY_REVERT, /**< its change is taken back; git's message, or the given one */
};

struct al_replay_step {
    char *commit; /**< full id */
    enum al_replay_kind kind;
    char *message;     /**< of reword, squash and revert; NULL: see the kind */
    unsigned mainline; /**< of a merge: the parent to compare with, from 1; else 0 */
    char *part_of;     /**< for the caller: the commit that was split; NULL: it is a whole one */
};

/** Test whether a step goes into the commit before. */
bool al_replay_melds(const struct al_replay_step *step);

struct al_replay {
    const char *onto; /**< full id of a commit */
    bool is_root;     /**< `onto` is of al_inmemory_nothing(): the first commit has no parents */
    const struct al_replay_step *steps;
    size_t nsteps;
    bool fast_forwards; /**< a pick that is already in its place stays the commit it is */
};

/** The outcome of a replay. */
struct al_replayed {
    char *tip;              /**< the last commit; `onto` if there is none */
    struct al_strv commits; /**< for each step that was done the commit that has its change; "": it
                               was dropped */
    struct al_strv tips;    /**< for each step that was done the last commit then */
    bool stopped;           /**< at step number `commits.count`, from 0 */
    struct al_merged conflict;
};

#define AL_REPLAYED_INIT ((struct al_replayed){ .conflict = AL_MERGED_INIT })

void al_replayed_clear(struct al_replayed *replayed);

/**
 * Replay commits onto a commit.  The first step that conflicts ends it, which is a success.  A step
 * that changes nothing any more is dropped; a commit without changes of its own is kept.
 *
 * @return as al_inmemory_merge() and al_inmemory_commit(); AL_ERR_EXECUTION also for a merge
 * without `mainline`, for a squash or fixup as the first step, and with `is_root` when no commit is
 * left or the first one conflicts.
 */
int al_inmemory_replay(struct al_inmemory *memory, const struct al_replay *replay,
                       struct al_replayed *ret_replayed, struct al_error *err);

/** Bring the objects that a new commit needs into the repository, and verify there what came.  The
 * caller holds the write lock.  Nothing to bring is a success. */
int al_inmemory_accept(struct al_inmemory *memory, const char *commit, struct al_error *err);

#endif
