// SPDX-License-Identifier: Apache-2.0
/* The holder of the files, for sandbox/ only. */
#ifndef AL_STAGING_SANDBOX_BACKEND_H
#define AL_STAGING_SANDBOX_BACKEND_H

#include <pthread.h>

#include "staging/sandbox/sandbox.h"

/** The functions of a backend; see sandbox.h for their contracts.  All but read, which locks for
 * itself as long as it must, are called with the lock held. */
struct al_sandbox_backend {
    void (*free)(void *state);
    int (*read)(struct al_sandbox *sandbox, const char *path, uint64_t offset, size_t max,
                struct al_str *ret, uint64_t *ret_size, struct al_error *err);
    int (*read_link)(struct al_sandbox *sandbox, const char *path, struct al_str *ret_target,
                     struct al_error *err); /**< NULL: links have no content here */
    /** Create or replace a file.  Mode 0 means that an agent writes: the file keeps its mode, and
     * no link is replaced.  `content` is NULL only where `reads_later` is set. */
    int (*put)(struct al_sandbox *sandbox, const struct al_sandbox_file *file,
               const struct al_str *content, struct al_error *err);
    int (*remove)(struct al_sandbox *sandbox, const char *path,
                  const struct al_sandbox_version *over, struct al_error *err);
    /** All files in `dir`, sorted; their ids with `with_ids`. */
    int (*list)(struct al_sandbox *sandbox, const char *dir, bool with_ids,
                struct al_sandbox_files *ret_files, struct al_error *err);
    bool reads_later; /**< what a store has is read when it is needed */
};

/** A sandbox; what is not commented is as in struct al_sandbox_options. */
struct al_sandbox {
    const struct al_sandbox_backend *backend;
    void *state; /* the backend's; protected by `lock` */
    pthread_mutex_t lock;
    char *dir; /* NULL: in memory */
    uint64_t max_bytes;
    bool sha256, allow_symlinks;
    struct al_blob_source source;
};

/** Set up a backend in `sandbox`, whose other members are set. */
int al_sandbox_memory_init(struct al_sandbox *sandbox, struct al_error *err);
int al_sandbox_directory_init(struct al_sandbox *sandbox, const struct al_sandbox_options *options,
                              struct al_error *err);

/* Failures that the backends share.  `path` is the path in the sandbox. */

/** "no such file '/workspace/…'"; returns AL_ERR_NOT_FOUND. */
int al_sandbox_missing(const char *path, struct al_error *err);

/** A symbolic link where a file has to be. */
int al_sandbox_is_link(const char *path, struct al_error *err);

/** AL_ERR_EXECUTION about one path: "'/workspace/…'" and the text behind it. */
int al_sandbox_fail(const char *path, const char *text, struct al_error *err);

/** Such texts: a directory where a file has to be, a file where a directory is listed, a file that
 * is not in the version that the caller knows. */
#define AL_SANDBOX_IS_DIRECTORY " is a directory; name a file"
#define AL_SANDBOX_IS_FILE      " is a file; name a directory"
#define AL_SANDBOX_CHANGED      " was changed meanwhile by somebody else; try again"

/** More bytes than max_bytes: `used` are needed. */
int al_sandbox_full(const struct al_sandbox *sandbox, uint64_t used, struct al_error *err);

/** More files than AL_SANDBOX_FILES_MAX. */
int al_sandbox_too_many(struct al_error *err);

/** Check a path that comes from a store: no empty, `.`, `..` or `.git` component. */
int al_sandbox_check_stored(const char *path, struct al_error *err);

#endif
