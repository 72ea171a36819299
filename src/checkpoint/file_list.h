// SPDX-License-Identifier: Apache-2.0
/* A sorted list of files.  The names come from a repository that may be hostile. collect.h adds
 * only plain paths below the top. */
#ifndef AL_CHECKPOINT_FILE_LIST_H
#define AL_CHECKPOINT_FILE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/oid.h"
#include "util/str.h"

/** One file. */
struct al_file_name {
    size_t offset;     /* of its path in the list's text */
    bool in_index;     /* the index has it at stage 0 and without skip-worktree */
    struct al_oid oid; /* the object that the index has for it */
};

/** Files, each once.  Set up with AL_FILE_LIST_INIT. */
struct al_file_list {
    struct al_str text;
    struct al_file_name *items;
    size_t count, capacity;
};

#define AL_FILE_LIST_INIT ((struct al_file_list){ .text = AL_STR_INIT })

void al_file_list_clear(struct al_file_list *list);

/** A file's path.  Borrowed until the next file is added. */
const char *al_file_list_path(const struct al_file_list *list, const struct al_file_name *name);

/** Append a path.  The result is borrowed until the next file is added. */
struct al_file_name *al_file_list_add(struct al_file_list *list, const char *path, size_t len);

/** Sort by path, as bytes. */
void al_file_list_sort(struct al_file_list *list);

#endif
