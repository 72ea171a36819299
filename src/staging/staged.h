// SPDX-License-Identifier: Apache-2.0
/*
 * Staged commits: a commit in the store, pinned by refs/staged/<uuid>, and a record of it,
 * staged/<uuid>.json.  The commit's parent is what the sandbox was based on with the earlier staged
 * commits of this sandbox applied, so `git diff parent commit` is what the agent staged.
 */
#ifndef AL_STAGING_STAGED_H
#define AL_STAGING_STAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "git/oid.h"
#include "staging/sandbox/sandbox.h"

struct al_run_limits;
struct al_staging;

#define AL_STAGED_ID_TEXT    37 /**< a UUID with its NUL */
#define AL_STAGED_SHORT_ID   8  /**< digits of an id that texts show */
#define AL_STAGED_PREFIX_MIN 6  /**< digits of an id that name a staged commit */

struct al_staged {
    char id[AL_STAGED_ID_TEXT];
    char *message;
    char created_at[25];           /**< ISO 8601, UTC */
    int64_t order;                 /**< the time in nanoseconds since 1970; grows with every staged
                                      commit of the store */
    struct al_oid commit;          /**< in the store */
    char *sandbox;                 /**< key of the sandbox it was made from */
    char *worker;                  /**< the worker's name; NULL: none */
    struct al_sandbox_file *files; /**< sorted by path, with what is done to each */
    size_t count;
    json_t *heads; /**< what its files were based on when it was staged, and our own pushes
                              since */
};

/** Oldest first.  Zero-initialised, it is empty. */
struct al_staged_list {
    struct al_staged *items;
    size_t count;
};

void al_staged_clear(struct al_staged *staged);
void al_staged_list_clear(struct al_staged_list *list);

/** The message without empty lines at its beginning, borrowed from `given`; "" when it has no
 * others.
 */
const char *al_staged_message(const char *given);

/** List every staged commit of the store, whatever sandbox it was made from. */
int al_staged_list(struct al_staging *staging, struct al_run_limits *budget,
                   struct al_staged_list *ret_list, struct al_error *err);

/**
 * Find a staged commit by its id or by a unique beginning of at least six characters.
 *
 * @return 0; AL_ERR_EXECUTION with the reason "not_found" when nothing matches or several do.
 */
int al_staged_find(struct al_staging *staging, const char *given, struct al_run_limits *budget,
                   struct al_staged *ret_staged, struct al_error *err);

/** Forget a staged commit.  The sandbox keeps its files, which count as changed again. */
int al_staged_discard(struct al_staging *staging, const struct al_staged *staged,
                      struct al_run_limits *budget, struct al_error *err);

/** Test whether a staged commit was made again after a pull: a newer one of the same sandbox has
 * one of its files, and is based on another commit of a branch. */
bool al_staged_supersedes(const struct al_staged *newer, const struct al_staged *older);

/** The first staged commit that was made from the same sandbox before this one, touches one of its
 * files, and is not superseded by it; NULL: none.  Borrowed from the list.  `ret_path` gets the
 * file, borrowed as well. */
const struct al_staged *al_staged_earlier(const struct al_staged_list *list,
                                          const struct al_staged *staged, const char **ret_path);

/** A push of ours that moved a branch. */
struct al_staged_push {
    const char *target;   /**< al_target_key() */
    const char *branch;   /**< the full name */
    const char *old_head; /**< NULL: the branch is new */
    const char *commit;   /**< where the branch is now */
};

/**
 * A staged commit was pushed: it is staged no longer, its files become the base of its sandbox, and
 * the head of the branch advances for this base and for those commits of this sandbox that were
 * based on the old head.  A process that is killed in between leaves this to the next one.
 */
int al_staged_pushed(struct al_staging *staging, const struct al_staged *staged,
                     const struct al_staged_push *pushed, struct al_run_limits *budget,
                     struct al_error *err);

/** The mark of an operation in texts: '+', 'M' or '-'. */
char al_staged_mark(enum al_sandbox_operation operation);

/** The title of a staged commit in texts: `abc12345 "<first line of the message>"`, one safe line.
 * Caller frees. */
char *al_staged_title(const struct al_staged *staged);

/** The StagedCommit of the tools: `{id, message, files, createdAt}`.  Caller owns the reference. */
json_t *al_staged_to_json(const struct al_staging *staging, const struct al_staged *staged);

/* --- The diff --- */

/* The diff of a staged commit, as git_diff shows it. */

/**
 * Append the unified diff of a staged commit, as safe text: `Staged commit: abc12345 "message"`,
 * then the files with their names in the workspace.
 *
 * @param max_bytes      Of this text.  A longer one ends with the number of lines left out and
 *                       AL_TEXT_MARKER.
 * @param ret_truncated  Set when something was left out.
 */
int al_staged_diff(struct al_staging *staging, const struct al_staged *staged, size_t max_bytes,
                   struct al_run_limits *budget, struct al_str *out, bool *ret_truncated,
                   struct al_error *err);

/* --- Sizes --- */

/* Sizes of files for people. */

/** Append a size as "0.8 KB", "1.2 KB" or "3.0 MB"; less than 0.1 KB as "12 B".  A kilobyte has
 * 1024 bytes. */
void al_size_add(struct al_str *out, uint64_t bytes);

#endif
