// SPDX-License-Identifier: Apache-2.0
/*
 * Parsers for git's machine-readable output, fed while git runs.  Fields are NUL-separated, and
 * names are raw bytes.
 *
 * Each reader stores a limited number of bytes.  Beyond that limit it sets `truncated` and refuses
 * further input, which stops git.
 *
 * Source: git-status(1) "Porcelain Format Version 2", git-log(1) "PRETTY FORMATS",
 * git-for-each-ref(1) "FIELD NAMES".
 */
#ifndef AL_GITOPS_PORCELAIN_PARSE_H
#define AL_GITOPS_PORCELAIN_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "gitops/nul_records.h"
#include "util/str.h"

/** The ways in which a file differs.  Unmerged files count as modified. */
enum al_status_change { AL_STAGED, AL_MODIFIED, AL_UNTRACKED, AL_CHANGES };

/** The state of a working tree. Names are raw bytes, relative to the top. */
struct al_worktree {
    /** Called with each name. A file that is staged and modified is passed twice. */
    void (*take)(void *payload, enum al_status_change change, const char *name);
    void *payload;
    char *branch;     /**< "(detached)" when HEAD is on no branch */
    size_t conflicts; /**< number of unmerged files */
    bool truncated;
};

#define AL_WORKTREE_INIT(fn, data) ((struct al_worktree){ .take = (fn), .payload = (data) })

void al_worktree_clear(struct al_worktree *status);

/** Reader of `git status --porcelain=v2 --branch -z`. */
struct al_status_reader {
    struct al_nul_records records; /* its sink function is al_nul_records_add() */
    struct al_worktree *to;
    size_t room;
    bool skip; /* the next record is the old name of a rename */
};

/** Set up the reader, which must not be moved or copied afterwards. Release it with
 * al_nul_records_clear(). */
void al_status_reader_init(struct al_status_reader *reader, struct al_worktree *to,
                           size_t max_bytes);

/** One commit of a history. Valid only while it is passed to `take`. */
struct al_log_entry {
    const char *hash, *author, *date,
        *subject; /**< `author` is "Name <mail>"; `date` is strict ISO 8601 */
};

/** Commits, newest first. */
struct al_commits {
    void (*take)(void *payload, const struct al_log_entry *entry); /**< called with each commit */
    void *payload;
    size_t count;
    bool truncated; /**< more commits match */
};

#define AL_COMMITS_INIT(fn, data) ((struct al_commits){ .take = (fn), .payload = (data) })

/** The format that al_commits_reader parses: four fields, each followed by a NUL. */
#define AL_COMMITS_FORMAT "--format=%H%x00%an <%ae>%x00%aI%x00%s"

/** Reader of `git log -z` with AL_COMMITS_FORMAT. */
struct al_commits_reader {
    struct al_nul_records records;
    struct al_commits *to;
    size_t limit, room;
};

void al_commits_reader_init(struct al_commits_reader *reader, struct al_commits *to, size_t limit,
                            size_t max_bytes);

/** One branch. */
struct al_branch {
    char *name;     /**< without refs/heads/ or refs/remotes/ */
    char *hash;     /**< full */
    char *upstream; /**< upstream, as a name of the same form; NULL: none */
    bool current, remote;
};

/** Branches, local ones first. */
struct al_branches {
    struct al_branch *items;
    size_t count;
    bool truncated;
};

#define AL_BRANCHES_INIT ((struct al_branches){ .items = NULL })

void al_branches_clear(struct al_branches *branches);

/** The format that al_branches_reader parses. */
#define AL_BRANCHES_FORMAT "--format=%(HEAD)%(refname)%00%(objectname)%00%(upstream)%00%(symref)%00"

/** Reader of `git for-each-ref` with AL_BRANCHES_FORMAT. Symbolic references to remote branches,
 * such as origin/HEAD, are left out. */
struct al_branches_reader {
    struct al_nul_records records;
    struct al_branches *to;
    size_t room;
};

void al_branches_reader_init(struct al_branches_reader *reader, struct al_branches *to,
                             size_t max_bytes);

/** One stash entry. Its index in the list is its number. */
struct al_stash_entry {
    char *message; /**< without git's prefix "On <branch>: " */
    char *branch;  /**< NULL: HEAD was detached, or the branch is unknown */
    char *date;    /**< ISO 8601, strict */
};

/** Stash entries, newest first. */
struct al_stashes {
    struct al_stash_entry *items;
    size_t count;
    bool truncated;
};

#define AL_STASHES_INIT ((struct al_stashes){ .items = NULL })

void al_stashes_clear(struct al_stashes *stashes);

#define AL_STASHES_FORMAT "--format=%gs%x00%cI"

/** Reader of `git log -g -z` with AL_STASHES_FORMAT. */
struct al_stashes_reader {
    struct al_nul_records records;
    struct al_stashes *to;
    size_t room;
};

void al_stashes_reader_init(struct al_stashes_reader *reader, struct al_stashes *to,
                            size_t max_bytes);

/** Reader of names that are each followed by a NUL. */
struct al_file_list_reader {
    struct al_nul_records records;
    struct al_strv *to;
    size_t room;
    bool truncated;
};

void al_file_list_reader_init(struct al_file_list_reader *reader, struct al_strv *to,
                              size_t max_bytes);

#endif
