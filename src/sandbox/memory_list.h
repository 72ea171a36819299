// SPDX-License-Identifier: Apache-2.0
/* For the memory backend only: the list of its files. */
#ifndef AL_SANDBOX_MEMORY_LIST_H
#define AL_SANDBOX_MEMORY_LIST_H

#include "sandbox/backend.h"

/** One file.  One that came from a store is only its id and mode until it is written. */
struct al_memory_file {
    char *path;
    char *data; /* NULL: in the store */
    uint64_t size;
    struct al_oid oid;
    unsigned mode;
    bool has_size, has_oid;
};

/** The files, sorted by path. */
struct al_memory_list {
    struct al_memory_file **items;
    size_t count, capacity;
    uint64_t used; /* the sum of al_memory_file_cost() */
};

void al_memory_file_free(struct al_memory_file *file);

/** Test whether a file is in this version. */
bool al_memory_file_is(const struct al_memory_file *file, const struct al_sandbox_version *version,
                       bool sha256);

/** The bytes that a file counts towards max_bytes. */
uint64_t al_memory_file_cost(const struct al_memory_file *file);

/** The number of files whose paths come before `path`. */
size_t al_memory_list_lower_bound(const struct al_memory_list *list, const char *path);

/** The file of this path; NULL: there is none. */
struct al_memory_file *al_memory_list_find(const struct al_memory_list *list, const char *path);

/** Add a file, which is taken over, at its place. */
void al_memory_list_insert(struct al_memory_list *list, struct al_memory_file *file);

/** Test whether files are below a path. */
bool al_memory_list_has_directory(const struct al_memory_list *list, const char *path);

/** Check that a file may have this path: it must not be above or below another one. */
int al_memory_list_check_place(const struct al_memory_list *list, const char *path,
                               struct al_error *err);

/** Check that a list of this many bytes and files is not too large. */
int al_memory_list_check_room(const struct al_sandbox *sandbox, uint64_t used, size_t count,
                              struct al_error *err);

/** `import` of struct al_sandbox_backend. */
int al_memory_import(struct al_sandbox *sandbox, const struct al_sandbox_file *files, size_t count,
                     const struct al_blob_source *source, struct al_error *err);

#endif
