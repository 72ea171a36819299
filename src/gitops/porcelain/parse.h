// SPDX-License-Identifier: Apache-2.0
/*
 * What git prints for programs, read as it comes: NUL-separated, names as raw bytes.
 *
 * Every reader is given a number of bytes to keep.  When there is more it sets `truncated` and
 * refuses further bytes, which stops the git that prints them.
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

/** How a file differs; unmerged files are modified. */
enum al_status_change { AL_STAGED, AL_MODIFIED, AL_UNTRACKED, AL_CHANGES };

/** What a working tree is like.  Names are relative to the top, bytes as they are. */
struct al_worktree {
    /** Each name as it comes; a file that is staged and modified comes as both. */
    void (*take)(void *payload, enum al_status_change change, const char *name);
    void *payload;
    char *branch;     /**< "(detached)" when there is none */
    size_t conflicts; /**< unmerged files */
    bool truncated;
};

#define AL_WORKTREE_INIT(fn, data) ((struct al_worktree){ .take = (fn), .payload = (data) })

void al_worktree_clear(struct al_worktree *status);

/** Reads `git status --porcelain=v2 --branch -z`. */
struct al_status_reader {
    struct al_nul_records records; /* the sink is al_nul_records_add() on it */
    struct al_worktree *to;
    size_t room;
    bool skip; /* the next record is the old name of a rename */
};

/** Set up; the reader must not move afterwards.  Release with al_nul_records_clear(). */
void al_status_reader_init(struct al_status_reader *reader, struct al_worktree *to,
                           size_t max_bytes);

/** One commit of a history.  Lasts while it is taken. */
struct al_log_entry {
    const char *hash, *author, *date, *subject; /**< "Name <mail>"; ISO 8601, strict */
};

/** Commits, newest first. */
struct al_commits {
    void (*take)(void *payload, const struct al_log_entry *entry); /**< each as it comes */
    void *payload;
    size_t count;
    bool truncated; /**< more commits match */
};

#define AL_COMMITS_INIT(fn, data) ((struct al_commits){ .take = (fn), .payload = (data) })

/** What al_commits_reader wants: four fields, each with a NUL behind it. */
#define AL_COMMITS_FORMAT "--format=%H%x00%an <%ae>%x00%aI%x00%s"

/** Reads `git log -z` in that format. */
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
    char *upstream; /**< the same kind of name; NULL: none */
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

/** What al_branches_reader wants. */
#define AL_BRANCHES_FORMAT "--format=%(HEAD)%(refname)%00%(objectname)%00%(upstream)%00%(symref)%00"

/** Reads `git for-each-ref` in that format.  What only names another remote branch, as origin/HEAD
 * does, is left out. */
struct al_branches_reader {
    struct al_nul_records records;
    struct al_branches *to;
    size_t room;
};

void al_branches_reader_init(struct al_branches_reader *reader, struct al_branches *to,
                             size_t max_bytes);

/** One entry of the stash; its number is its place. */
struct al_stash_entry {
    char *message; /**< without the "On <branch>: " git puts before it */
    char *branch;  /**< NULL: made on none, or git does not say */
    char *date;    /**< ISO 8601, strict */
};

/** The stash, newest entry first. */
struct al_stashes {
    struct al_stash_entry *items;
    size_t count;
    bool truncated;
};

#define AL_STASHES_INIT ((struct al_stashes){ .items = NULL })

void al_stashes_clear(struct al_stashes *stashes);

#define AL_STASHES_FORMAT "--format=%gs%x00%cI"

/** Reads `git log -g -z` in that format. */
struct al_stashes_reader {
    struct al_nul_records records;
    struct al_stashes *to;
    size_t room;
};

void al_stashes_reader_init(struct al_stashes_reader *reader, struct al_stashes *to,
                            size_t max_bytes);

/** Reads names, each with a NUL behind it. */
struct al_file_list_reader {
    struct al_nul_records records;
    struct al_strv *to;
    size_t room;
    bool truncated;
};

void al_file_list_reader_init(struct al_file_list_reader *reader, struct al_strv *to,
                              size_t max_bytes);

#endif
