// SPDX-License-Identifier: Apache-2.0
/*
 * The names a checkpoint looks at: entries of the index, files beside it, and what is in nested
 * repositories.  Names come from a repository that may be hostile; what is not a plain path below
 * the top is not kept.
 */
#ifndef AL_CHECKPOINT_FILE_LIST_H
#define AL_CHECKPOINT_FILE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "checkpoint/checkpoint.h"
#include "gitops/deadline.h"
#include "gitops/oid.h"
#include "gitops/repo/repo.h"
#include "util/str.h"

/** A nested repository with more levels of directories than this is refused. */
#define AL_FILE_LIST_DEPTH_MAX 256

/** One name. */
struct al_name {
    size_t at;         /* its bytes, in the list's text */
    bool in_index;     /* at stage 0, and to be on the disk */
    struct al_oid oid; /* what the index has there */
};

/** Names in order, each once.  Set up with AL_FILE_LIST_INIT. */
struct al_file_list {
    struct al_str text;
    struct al_name *items;
    size_t count, capacity;
};

#define AL_FILE_LIST_INIT ((struct al_file_list){ .text = AL_STR_INIT })

void al_file_list_clear(struct al_file_list *names);

/** The bytes of a name; borrowed until the next name is added. */
const char *al_file_list_path(const struct al_file_list *names, const struct al_name *name);

/** What the index and the disk said, before it is put in order. */
struct al_gathered {
    struct al_file_list names; /**< the result */
    struct al_oid *staged;     /**< objects of entries in a conflict: no file can stand for them */
    size_t nstaged;
    struct al_oid entries; /**< digest of the index's entries */
};

#define AL_GATHERED_INIT ((struct al_gathered){ .names = AL_FILE_LIST_INIT })

void al_gathered_clear(struct al_gathered *gathered);

/**
 * Ask git for the names and walk into nested repositories.
 *
 * @param include_ignored  Globs of ignored files to take as well; may be NULL.
 * @param digests          Make the digest of the entries; it takes some milliseconds.
 * @return 0; AL_ERR_EXECUTION beyond AL_CHECKPOINT_FILES_MAX names or when git failed;
 *         AL_ERR_TIMEOUT, AL_ERR_CANCELLED.
 */
int al_gather_names(const struct al_repo *repo, int top_fd, const struct al_strv *include_ignored,
                    bool digests, struct al_deadline *watch, struct al_gathered *ret_gathered,
                    struct al_error *err);

#endif
