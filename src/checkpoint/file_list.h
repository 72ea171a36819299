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

#include "gitops/oid.h"
#include "util/str.h"

/** One name. */
struct al_file_name {
    size_t offset;     /* its bytes, in the list's text */
    bool in_index;     /* at stage 0, and to be on the disk */
    struct al_oid oid; /* what the index has there */
};

/** Names in order, each once.  Set up with AL_FILE_LIST_INIT. */
struct al_file_list {
    struct al_str text;
    struct al_file_name *items;
    size_t count, capacity;
};

#define AL_FILE_LIST_INIT ((struct al_file_list){ .text = AL_STR_INIT })

void al_file_list_clear(struct al_file_list *list);

/** The bytes of a name; borrowed until the next name is added. */
const char *al_file_list_path(const struct al_file_list *list, const struct al_file_name *name);

/** Append a path.  Borrowed until the next name is added. */
struct al_file_name *al_file_list_add(struct al_file_list *list, const char *path, size_t len);

/** Sort by path, as bytes. */
void al_file_list_sort(struct al_file_list *list);

#endif
