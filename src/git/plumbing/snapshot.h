// SPDX-License-Identifier: Apache-2.0
/*
 * The git commands that record files and references in a bare repository of airlock's own.
 *
 * The bare repository has an index of its own over a directory of the user's.  Its info/attributes
 * unset every attribute that converts content, and outrank those of the user's directory, so what
 * is recorded are the bytes of the files, and no filter runs.  New blobs go into the bare
 * repository.
 *
 * Source: git-ls-files(1), git-update-index(1), git-fast-import(1),
 * gitattributes(5).
 */
#ifndef AL_GIT_PLUMBING_SNAPSHOT_H
#define AL_GIT_PLUMBING_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "git/plumbing/bare.h"
#include "git/repo/repo.h"

struct al_spawned;

/** The content of info/attributes. */
#define AL_SNAPSHOT_ATTRIBUTES "* -text -eol -crlf -filter -ident -working-tree-encoding\n"

/** A git child that works while its caller does other work. */
struct al_beside {
    struct al_spawned *child;
    int in_fd;          /* for its input, if it gets that piece by piece */
    int out_fd, err_fd; /* files that have what it has written; -1: a pipe of its own has it */
};
#define AL_BESIDE_INIT ((struct al_beside){ .in_fd = -1, .out_fd = -1, .err_fd = -1 })

/** End the child if it works still.  One that gets its input piece by piece has a moment to end by
 * itself. */
void al_beside_clear(struct al_beside *beside);

/** Run two commands at the same time.  The output of the first waits in a file, and its sink gets
 * it last. */
int al_git_read_both(const struct al_location *at, const struct al_git_command *first,
                     struct al_sink first_sink, const struct al_git_command *second,
                     struct al_sink second_sink, struct al_error *err);

/** Begin to pack what revisions reach, one a line as for al_bare_pack(), borrowed objects included,
 * and search no deltas.  al_beside_clear() is due in each case.
 * Threads: the child ends with the thread that started it. */
int al_snapshot_pack_begin(const struct al_location *at, const struct al_str *lines,
                           struct al_beside *ret_beside, struct al_error *err);

/** Wait for the pack.
 * @param[out] ret_hash  As in al_bare_pack().  Caller frees it, after an error too. */
int al_snapshot_pack_end(const struct al_location *at, struct al_beside *beside, char **ret_hash,
                         struct al_error *err);

/** A directory of the user's, and the index over it.  All members are borrowed. */
struct al_snapshot_dir {
    struct al_location at; /**< of the bare repository */
    int fd;                /**< the directory, open */
    const char *index;     /**< the index file: an absolute path in the bare repository */
    const char *excludes;  /**< the user's core.excludesFile; NULL: none */
    bool ignores_nothing;  /**< files that the ignore rules match count as well */
};

/** Copy the files of a commit that the lender has, as far as they are there and a part of the time
 * allows, and begin the index with them: files that are as the commit has them will not be recorded
 * again. */
int al_snapshot_begin(const struct al_snapshot_dir *dir, const char *commit, struct al_error *err);

/** Gets a path that the index has in another form, or has not: relative to the directory, with a
 * final '/' for a nested repository.  A negative status stops the listing. */
typedef int (*al_snapshot_fn)(void *payload, const char *path, struct al_error *err);

/** Look at the times of all files: those with the same content need not be read next time. */
int al_snapshot_refresh(const struct al_snapshot_dir *dir, struct al_error *err);

/** List the paths whose stat data differs from what the index has, and those that it lacks. */
int al_snapshot_list(const struct al_snapshot_dir *dir, al_snapshot_fn take, void *payload,
                     struct al_error *err);

/** List the paths that the ignore rules match: those that the index lacks, or with `known` those
 * that it has. */
int al_snapshot_list_ignored(const struct al_snapshot_dir *dir, bool known, al_snapshot_fn take,
                             void *payload, struct al_error *err);

/** Begin to list the paths that the ignore rules match, relative to the top: those of the
 * repository's own index, or without `tracked` those that it lacks, a directory of nothing else as
 * one.  al_beside_clear() is due in each case.
 * Threads: the child ends with the thread that started it. */
int al_snapshot_ignored_begin(const struct al_repo *repo, int top_fd, bool tracked,
                              struct al_beside *ret_beside, struct al_error *err);

/** Append those paths. */
int al_snapshot_ignored_end(const struct al_repo *repo, struct al_beside *beside,
                            struct al_strv *ret_paths, struct al_error *err);

/** Bring the index up to date for some paths, NUL after each, and record their content.  `drop`
 * takes them out of the index instead. */
int al_snapshot_update(const struct al_snapshot_dir *dir, const struct al_str *paths, bool drop,
                       struct al_error *err);

/**
 * Write objects and references from a stream of git-fast-import(1), which may name objects of the
 * lender.  Packs and references are synchronised, their directories not.
 *
 * @param ret_output  What the stream's commands print, appended.
 */
int al_snapshot_import(const struct al_location *at, const struct al_str *stream,
                       struct al_str *ret_output, struct al_error *err);

/** The same with a stream that is in a file, from its position on, and names no such objects. */
int al_bare_import(const struct al_location *at, int stream_fd, struct al_str *ret_output,
                   struct al_error *err);

/**
 * Write a commit in the same way, to `reference`, with a git that stays for the next one: starting
 * it takes longer than the rest.  It ends meanwhile once its in_fd is closed, and another one is
 * started for the next.
 *
 * @param import     For al_beside_clear(), in the thread that started it.
 * @param stream     What is to be done last is appended.
 * @param reference  NULL: only start that git, which gets ready meanwhile; the stream is empty.
 */
int al_snapshot_commit(const struct al_location *at, struct al_beside *import,
                       struct al_str *stream, const char *reference, struct al_str *ret_output,
                       struct al_error *err);

/** Tell such a stream that a file has this content.  Its path is `dir`, which ends with '/' or is
 * empty, and `path`.
 * @param mode  st_mode, of which git records the type and whether its owner may run it. */
void al_import_content(struct al_str *stream, unsigned mode, const char *dir, const char *path,
                       const struct al_str *content);

/** In the same way: it is this object; or with mode 0 that there is none. */
void al_import_object(struct al_str *stream, unsigned mode, const char *oid, const char *dir,
                      const char *path);

/** Append a path of such a stream, in quotes. */
void al_import_quote(struct al_str *stream, const char *dir, const char *path);

/**
 * List the references of a repository: "<value> SP <name>" LF each, sorted by name.  The value is
 * an object id or, for a symbolic reference, "ref: <name>".
 */
int al_snapshot_references(const struct al_repo *repo, struct al_str *ret_lines,
                           struct al_error *err);

/** The digest of the entries of a repository's index, whatever form it has: see
 * al_index_digest(). */
int al_snapshot_index_digest(const struct al_repo *repo, int top_fd, bool sha256,
                             char ret_digest[AL_OID_TEXT], struct al_error *err);

/* --- Rollback --- */

/*
 * The git commands of a rollback in the user's repository: store objects, move references.  No hook
 * runs for any of them.
 *
 * Source: git-update-ref(1) --stdin, git-index-pack(1), git-check-ignore(1),
 * gitrepository-layout(5).
 */

/** An entry of an index: a line "<s or -><a or -><n or -> SP <mode> SP <oid> SP <stage>" for each
 * stage, with the letters of skip-worktree, assume-unchanged and intent-to-add; NULL: none. */
struct al_entry_lines {
    const char *path, *lines;
};

/** Change entries of an index file.  intent-to-add cannot be set. */
int al_git_put_entries(const struct al_repo *repo, int top_fd, const char *index_path,
                       const struct al_entry_lines *entries, size_t count, struct al_error *err);

/** Store the objects of a pack, a file in a directory. */
int al_git_store_pack(const struct al_repo *repo, int dir_fd, const char *name,
                      struct al_error *err);

/** A move of a reference.  Values are object ids, or "ref: <name>"; NULL: the reference does not
 * exist. */
struct al_ref_move {
    const char *name, *from, *to;
};

/** Move references, all or none; an error if one does not have its `from` value any more.  Symbolic
 * references are moved one by one, after the others. */
int al_git_move_refs(const struct al_repo *repo, const struct al_ref_move *moves, size_t nmoves,
                     struct al_error *err);

/**
 * Check that git can read HEAD, packed-refs, these references, and the index.
 *
 * @param looks      Ask git too, where HEAD and the references look well.
 * @param put_aside  Move what it cannot read to airlock/damaged in the common git directory, and
 *                   say so; HEAD then leads to a branch without commits.  What is there
 *                   from before gets a number.  A reference is locked as git does.
 * @return 0; AL_ERR_EXECUTION naming what git cannot read.
 */
int al_git_check_damage(const struct al_repo *repo, const struct al_strv *refs, bool looks,
                        bool put_aside, struct al_error *err);

/** Append those of `paths` (relative to the top) that the ignore rules on disk match, tracked or
 * not. */
int al_git_ignored_paths(const struct al_repo *repo, int top_fd, const struct al_strv *paths,
                         struct al_strv *ret_ignored, struct al_error *err);

#endif
