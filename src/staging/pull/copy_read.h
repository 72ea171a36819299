// SPDX-License-Identifier: Apache-2.0
/* For copy.c: reading the objects that are copied, as one `git cat-file --batch` prints them. */
#ifndef AL_STAGING_PULL_COPY_READ_H
#define AL_STAGING_PULL_COPY_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gitops/command.h"
#include "gitops/oid.h"
#include "odb/pack_write.h"
#include "sandbox/sandbox.h"
#include "util/error.h"
#include "util/str.h"

struct al_repo;

/** How a pointer of git-lfs(1) begins, and what its size is below. */
#define AL_LFS_MARK      "version https://git-lfs.github.com/spec/"
#define AL_LFS_MAX_BYTES 1024u

#define AL_PULL_NO_FILE  SIZE_MAX

/** An object that is asked for. */
struct al_pull_wanted {
    char oid[AL_OID_TEXT]; /**< "": the tree of the commit, whose id is not known yet */
    enum al_object_type type;
    bool packs;
    bool *is_lfs; /**< NULL: no file */
    size_t file;  /**< in the list of created files; AL_PULL_NO_FILE: it is not created now */
};

/** The files that are created in the sandbox while their content arrives. */
struct al_pull_created {
    struct al_sandbox_file *items;
    size_t count;
    al_blob_take *take; /**< NULL until the sandbox asks for the content */
    void *payload;
};

/** Objects that are being copied.  Owns the arrays and the pack. */
struct al_pull_copying {
    bool sha256;
    struct al_pull_wanted *wanted; /**< in the order in which they are asked for */
    size_t nwanted;
    struct al_pull_created created;
    struct al_pack *pack;
    uint64_t max_bytes; /**< of the blobs that are packed or written; 0: no limit */
    struct al_error *err;

    /* Private: */
    size_t which;            /* is read */
    uint64_t bytes;          /* so far, of what `max_bytes` limits */
    struct al_str line;      /* the header that is being read */
    struct al_str beginning; /* of the object */
    struct al_hash hash;     /* of an object that is not packed */
    uint64_t size, left;     /* of the object; bytes left of it with the newline behind it */
    char tree[AL_OID_TEXT];  /* of the commit, by its content */
    int status;
};

#define AL_PULL_COPYING_INIT                                                                       \
    ((struct al_pull_copying){ .line = AL_STR_INIT, .beginning = AL_STR_INIT })

/** Frees the pack as well, with what was not finished of it. */
void al_pull_copying_clear(struct al_pull_copying *copying);

/**
 * Read the objects.  Each is compared with its id; what is packed is in the pack then, and what is
 * created in the sandbox.
 *
 * @param words  What is asked for, one a line.
 * @return as al_pull_copy_blobs().
 */
int al_pull_read_objects(const struct al_repo *repo, const struct al_str *words,
                         struct al_pull_copying *copying, struct al_run_limits *budget,
                         struct al_error *err);

#endif
