// SPDX-License-Identifier: Apache-2.0
/*
 * git in a bare repository of airlock's own, outside every root.
 *
 * The child may write only there.  It may read the roots only for a command that borrows objects
 * from a repository in them.  The borrowing is set in the environment of that one child and never
 * stored, so that objects forged in a repository are not trusted later.
 */
#ifndef AL_GIT_PLUMBING_BARE_H
#define AL_GIT_PLUMBING_BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "git/oid.h"
#include "git/plumbing/diff_raw.h"
#include "git/repo/repo.h"
#include "proc/proc.h"

/** Its directory of objects that the lender may have lost. */
#define AL_BARE_HELD "held"

/**
 * Make a bare repository in an empty directory, unless there is one, and set its location: git gets
 * no settings of the user's there.  Processes that do so at the same time make the same one.  It
 * has no branch and never collects garbage by itself.  Its files are synchronised.
 *
 * @param at          `dir_fd` is its directory, open.
 * @param refs        Directories of references, ended by NULL.
 * @param settings    More of its config.
 * @param attributes  Its info/attributes; NULL: none.
 * @return 0 or a negative errno.  The caller clears the location, after a failure too.
 */
int al_bare_open(struct al_location *at, bool sha256, const char *const *refs, const char *settings,
                 const char *attributes);

/** Gets the bytes of objects in the order of the request, each object in pieces; `last` is set with
 * its final piece.  A negative status ends the reading. */
typedef int (*al_object_fn)(void *payload, size_t which, const char *data, size_t len, bool last,
                            struct al_error *err);

/** Read objects of the bare repository, and of the lender.  AL_ERR_EXECUTION when one is missing,
 * or is not what its id says. */
int al_bare_read(const struct al_location *at, const char *const *oids, size_t noids,
                 al_object_fn take, void *payload, struct al_error *err);

/** Append those names (full ids, or "<revision>:<path>") of objects that a repository, or its
 * lender, has, with `blobs` only those of blobs; and those that it lacks.  Either list may be NULL.
 */
int al_git_find_objects(const struct al_location *at, const struct al_strv *names, bool blobs,
                        struct al_strv *ret_there, struct al_strv *ret_missing,
                        struct al_error *err);

/**
 * Pack objects, borrowed ones included, into the bare repository.
 *
 * @param lines  One a line: if `reachable`, revisions as rev-list takes them and before them
 *               "--shallow <id>" for commits whose parents do not count; else object ids.  NULL:
 *               what the references lead to, with nothing borrowed and without kept packs.
 * @param[out] ret_hash  The hash in the name of the pack, pack-<hash>; "" when there was nothing to
 *                       pack.
 */
int al_bare_pack(const struct al_location *at, const struct al_str *lines, bool reachable,
                 char **ret_hash, struct al_error *err);

/** Build the command that al_bare_pack() runs, for a caller that works beside it.  `lines` is
 * borrowed until it has started. */
void al_bare_pack_command(struct al_git_command *command, const struct al_str *lines,
                          bool reachable);

/** List the files of a tree recursively, or those below some paths, which end with NULL: "<mode> SP
 * blob SP <oid> TAB <path>" NUL each. */
int al_bare_list_tree(const struct al_location *at, const char *treeish, const char *const *paths,
                      al_record_fn take, void *payload, struct al_error *err);

/** Gets a change; false: no more are wanted. */
typedef bool (*al_bare_change_fn)(void *payload, const struct al_change *change);

/** Read the message of a commit, appended, and what it changes of its only parent; one without a
 * parent adds all of its files.  Sorted by the bytes of the paths. */
int al_bare_read_commit(const struct al_location *at, const char *commit,
                        struct al_str *ret_message, al_bare_change_fn take, void *payload,
                        struct al_error *err);

/** Read what differs below some paths, which end with NULL, between two commits. */
int al_bare_read_changes(const struct al_location *at, const char *from, const char *to,
                         const char *const *paths, al_bare_change_fn take, void *payload,
                         struct al_error *err);

/** The way al_bare_diff() compares. */
enum al_bare_diff {
    AL_BARE_LINES = 1,    /**< a patch instead of a diffstat */
    AL_BARE_WORKTREE = 2, /**< only what is below the directory "worktree" of both */
};

/** The differences of two trees or commits, of this repository or the borrowed one, as safe text.
 * `how`: of enum al_bare_diff. */
int al_bare_diff(const struct al_location *at, const char *from, const char *to, unsigned how,
                 size_t max_bytes, struct al_str *ret_text, struct al_error *err);

/** The patch from a commit's only parent to the commit, as git prints it.  Names begin with
 * `a<below>` and `b<below>`: "/workspace/". */
int al_bare_commit_patch(const struct al_location *at, const char *commit, const char *below,
                         struct al_sink sink, struct al_error *err);

/** Write the tree of an index file's entries, all of it into the bare repository unless it borrows.
 * AL_ERR_EXECUTION when they form no tree, for example in a conflict. */
int al_bare_index_tree(const struct al_location *at, const char *index, bool borrows,
                       char ret_tree[AL_OID_TEXT], struct al_error *err);

/** The same of the content of an index file; it borrows. */
int al_bare_write_tree(const struct al_location *at, const struct al_str *index,
                       char ret_tree[AL_OID_TEXT], struct al_error *err);

/** List the references: "<name> SP <commit message without its first paragraph>" LF each, sorted by
 * that message. */
int al_bare_refs(const struct al_location *at, struct al_sink sink, struct al_error *err);

/** Delete references, packed or not. */
int al_bare_delete_refs(const struct al_location *at, const struct al_strv *names,
                        struct al_error *err);

/** Combine small packs (geometric repack), and with `refs` pack the references. */
int al_bare_tidy(const struct al_location *at, bool refs, struct al_error *err);

/** Join all packs.  Objects that no reference holds are deleted if they are older than `expiry`, a
 * date as git takes it. */
int al_bare_expire(const struct al_location *at, const char *expiry, struct al_error *err);

/* --- Cat file --- */

/*
 * Reader of the output of `git cat-file --batch`: objects, in the order of the request.  git does
 * not check an id when it reads an object, so a forged file below objects/ would be taken for the
 * object.
 *
 * Source: git-cat-file(1) "BATCH OUTPUT".
 */

/** The reader.  Set up with AL_CAT_FILE_INIT().  Either function ends the reading with false. */
struct al_cat_file {
    /** Called with each object: its id, and "blob" or the like.  `type` is NULL for a word that
     * names none, which is the word then.  May be NULL. */
    bool (*begin)(void *payload, const char *oid, const char *type, uint64_t size);
    /** Gets its bytes in pieces, at least one; `last` is set with the final one. */
    bool (*add)(void *payload, const char *data, size_t len, bool last);
    void *payload;
    bool
        verifies; /**< an object whose hash is not its id ends the reading, before its last piece */
    bool mismatch;        /**< there was one */
    char id[AL_OID_TEXT]; /**< of the object that is read, or was read last; with `verifies` */

    /* Private. */
    struct al_hash hash; /* of that object so far */
    struct al_str line;  /* the header being read */
    uint64_t left;       /* bytes left of the object, with the newline after it */
    bool broken;
};

#define AL_CAT_FILE_INIT(begin_fn, add_fn, data)                                                   \
    ((struct al_cat_file){                                                                         \
        .begin = (begin_fn), .add = (add_fn), .payload = (data), .line = AL_STR_INIT })

void al_cat_file_clear(struct al_cat_file *reader);

/** Sink function: parse the next bytes, split anywhere.  `payload` is the reader. */
bool al_cat_file_add(void *payload, const char *data, size_t len);

/** Test whether the input so far is whole objects. */
bool al_cat_file_is_whole(const struct al_cat_file *reader);

#endif
