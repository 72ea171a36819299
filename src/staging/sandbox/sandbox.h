// SPDX-License-Identifier: Apache-2.0
/*
 * The sandbox: the files that an agent writes before any of them leaves for a repository.
 *
 * Agents name them below "/workspace".  Every other function of this header takes the part behind
 * it, "reports/q3.md", as al_sandbox_path() returns it.  Files are in memory or in a directory; the
 * two behave the same unless a comment says otherwise.
 *
 * - A file has content, a mode (0100644, 0100755 or, for a symbolic link, 0120000) and, as the blob
 *   of its content, an object id.
 * - Directories exist as far as files are in them.
 * - A symbolic link is never followed.  It comes from a repository, or from whoever else writes
 *   into the directory.
 *
 * Failures are AL_ERR_EXECUTION unless stated otherwise; AL_ERR_NOT_FOUND means that there is no
 * such file, and `err` then has the status AL_ERR_EXECUTION and the reason "not_found".
 *
 * Threads: all functions but new, set_source and free may be called at the same time.
 */
#ifndef AL_STAGING_SANDBOX_SANDBOX_H
#define AL_STAGING_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "git/oid.h"

struct al_roots;
struct al_sandbox;

/** The name of the directory that agents see. */
#define AL_SANDBOX_ROOT "/workspace"

/** The size that a file counts beside its name and content. */
#define AL_SANDBOX_FILE_BYTES 128u

/** The most files, and the most directories, that a sandbox has. */
#ifndef AL_SANDBOX_FILES_MAX /* tests compile with a smaller limit */
#define AL_SANDBOX_FILES_MAX 1000000u
#endif

/** The modes of files, as in git's trees. */
#define AL_SANDBOX_MODE_FILE       0100644u
#define AL_SANDBOX_MODE_EXECUTABLE 0100755u
#define AL_SANDBOX_MODE_LINK       0120000u

struct al_sandbox_options {
    bool in_directory; /**< else in memory */
    const char *path;  /**< of the directory, absolute; created if it is missing */
    /** The most bytes in memory; in a directory, the most that writes add, and the most of one
     * imported file. */
    uint64_t max_bytes;
    bool sha256; /**< the format of object ids */
    /** The answer of al_sandbox_allows_symlinks(). */
    bool allow_symlinks;
    /** Links on the way to `path` are not followed inside a root, where an agent can make them.
     * NULL: there is no root. */
    const struct al_roots *roots;
};

/** Create a sandbox; an existing directory keeps its files. */
int al_sandbox_new(const struct al_sandbox_options *options, struct al_sandbox **ret_sandbox,
                   struct al_error *err);
void al_sandbox_free(struct al_sandbox *sandbox);

/** The directory of the directory backend, canonical; NULL: the files are in memory. */
const char *al_sandbox_dir(const struct al_sandbox *sandbox);

/** Whether symbolic links may be staged. */
bool al_sandbox_allows_symlinks(const struct al_sandbox *sandbox);

/**
 * Check a path of an agent and strip "/workspace/" from it.
 *
 * One '/' at the end is removed: it may name a directory only, which the caller has to check.
 *
 * @param[out] ret_path  "" for /workspace itself.  Caller frees.
 * @return 0; AL_ERR_BAD_ARGS for a path that is malformed (empty or over-long components, control
 *         characters); AL_ERR_SANDBOX for one outside /workspace, for `.` and `..` components and,
 *         with AL_CODE_PROTECTED_PATH, for `.git` in any spelling that a file system takes for it.
 */
int al_sandbox_path(const char *given, char **ret_path, struct al_error *err);

/**
 * Read a file, or a part of it.
 *
 * @param      offset   Where to begin; at or after the end nothing is read.
 * @param      max      The most bytes to read.
 * @param[out] ret      The bytes.  Cleared first.
 * @param[out] ret_size The size of the whole file; may be NULL.
 */
int al_sandbox_read(struct al_sandbox *sandbox, const char *path, uint64_t offset, size_t max,
                    struct al_str *ret, uint64_t *ret_size, struct al_error *err);

/**
 * Read where a symbolic link of a directory leads, which is its content in a repository.  In memory
 * all links are imported, and their content is in the store.
 *
 * @param[out] ret_target  Cleared first.
 */
int al_sandbox_read_link(struct al_sandbox *sandbox, const char *path, struct al_str *ret_target,
                         struct al_error *err);

/** Create or replace a file.  It keeps its mode if it exists.  On failure it is as it was. */
int al_sandbox_write(struct al_sandbox *sandbox, const char *path, const void *data, size_t len,
                     struct al_error *err);

/** A version of a file. */
struct al_sandbox_version {
    unsigned mode; /**< one of AL_SANDBOX_MODE_…; 0: there is no file */
    struct al_oid oid;
};

/** Test whether two versions are the same; so are two that are no file. */
bool al_sandbox_version_equal(const struct al_sandbox_version *a,
                              const struct al_sandbox_version *b);

/**
 * Remove a file or a symbolic link, and the directories that are empty then.
 *
 * @param over  The version to remove; another one stays, and the call fails.  A directory looks at
 *              the file once more, just before.  NULL: whatever is there is removed.
 */
int al_sandbox_remove(struct al_sandbox *sandbox, const char *path,
                      const struct al_sandbox_version *over, struct al_error *err);

/**
 * List files, sorted by their bytes.
 *
 * A pattern with a '/' has to match the path below `dir`, where `**` stands for any number of
 * components.  A pattern without one has to match the last component.  `*`, `?` and `[…]` match
 * within one component.
 *
 * @param      dir        "" is the whole sandbox, which may be empty.
 * @param      globs      A file is listed if any of them matches; NULL or empty: every file.
 * @param[out] ret_paths  Paths in the sandbox, not below `dir`.  Appended.
 */
int al_sandbox_list(struct al_sandbox *sandbox, const char *dir, const struct al_strv *globs,
                    struct al_strv *ret_paths, struct al_error *err);

/** The effect of a change on a file. */
enum al_sandbox_operation {
    AL_STAGED_CREATE,
    AL_STAGED_UPDATE,
    AL_STAGED_DELETE,
};

/** One file, or a change of one. */
struct al_sandbox_file {
    char *path;                          /**< below the workspace: "a/b" */
    enum al_sandbox_operation operation; /**< of a change */
    unsigned mode;                       /**< one of AL_SANDBOX_MODE_…; 0: it is deleted */
    struct al_oid oid;                   /**< of the blob; zeros: it is deleted */
    uint64_t size; /**< in bytes; 0: it is deleted, or was imported and never read */
    /** The content, for al_sandbox_import() only; NULL: the store has it.  Borrowed. */
    const struct al_str *content;
    /** The version to replace, for al_sandbox_import() only, as al_sandbox_remove() takes it. */
    const struct al_sandbox_version *over;
};

/** Some files, sorted by their paths as bytes. */
struct al_sandbox_files {
    struct al_sandbox_file *items;
    size_t count;
};

#define AL_SANDBOX_FILES_INIT ((struct al_sandbox_files){ .items = NULL })

void al_sandbox_files_clear(struct al_sandbox_files *files);

/** Append a file; its path is taken over.  Bring them into order afterwards. */
void al_sandbox_files_add(struct al_sandbox_files *files, const struct al_sandbox_file *file);
void al_sandbox_files_sort(struct al_sandbox_files *files);

/** The version of the file of this path; mode 0: there is none. */
struct al_sandbox_version al_sandbox_files_find(const struct al_sandbox_files *files,
                                                const char *path);

/** All files with their object ids.  Release the result with al_sandbox_files_clear(). */
int al_sandbox_snapshot(struct al_sandbox *sandbox, struct al_sandbox_files *ret_files,
                        struct al_error *err);

/** Takes the content of objects, in pieces.  `which` is the index in the list of ids; `last` ends
 * an object, and comes for an empty one too. */
typedef int al_blob_take(void *payload, size_t which, const char *data, size_t len, bool last,
                         struct al_error *err);

/** A store that has the content of files. */
struct al_blob_source {
    /** Read objects, whose ids are given as hex, in the order of the list. */
    int (*read)(void *payload, const char *const *oids, size_t count, al_blob_take *take,
                void *take_payload, struct al_error *err);
    void *payload;
};

/**
 * Create or replace files, with their modes.  Those before a failure stay.
 *
 * Content of the store is read from the source that al_sandbox_set_source() names: in memory when
 * it is needed, for a directory now.  A file appears when it is complete.
 *
 * @param files  A path at most once.  `size` is not used.
 */
int al_sandbox_import(struct al_sandbox *sandbox, const struct al_sandbox_file *files, size_t count,
                      struct al_error *err);

/** The source of imported files.  Borrowed; it is called without any lock of the sandbox, and by
 * several threads. */
void al_sandbox_set_source(struct al_sandbox *sandbox, const struct al_blob_source *source);

/** Test whether a pattern matches a path; see al_sandbox_list(). */
bool al_sandbox_match(const char *pattern, const char *path);

/** The end of the message that a pattern matches nothing, if it looks as if a shell was to expand
 * it: "; '{…}' is not expanded, …".  Else "". */
const char *al_sandbox_pattern_hint(const char *pattern);

#endif
