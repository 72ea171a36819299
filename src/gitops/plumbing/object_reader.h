// SPDX-License-Identifier: Apache-2.0
/*
 * The objects of a repository, loose or packed, read without git for a question that takes few of
 * them.  What cannot be read is left to git: objects of alternates, of many packs, large ones, and
 * more than some hundreds.
 *
 * Threads: one thread uses a reader.
 */
#ifndef AL_GITOPS_PLUMBING_OBJECT_READER_H
#define AL_GITOPS_PLUMBING_OBJECT_READER_H

#include "gitops/location.h"
#include "gitops/plumbing/packed_object.h"

/** So many objects are read, with so many bytes in total. */
#define AL_READER_OBJECTS_MAX 256u
#define AL_READER_BYTES_MAX   (16u << 20)

/** Set up with al_object_reader_open(); the members are private. */
struct al_object_reader {
    int common_fd;
    int new_fd; /* has the directory of new objects (al_location.objects); -1: there is none */
    bool sha256;
    struct al_packed_files packs;
    size_t objects, bytes; /* that were read */
};

#define AL_OBJECT_READER_INIT ((struct al_object_reader){ .common_fd = -1, .new_fd = -1 })

/** Open the repository, with the new objects that git would read for this location as well.  False
 * when it cannot be opened. */
bool al_object_reader_open(struct al_object_reader *reader, const struct al_location *at,
                           bool sha256);
void al_object_reader_clear(struct al_object_reader *reader);

/** Read an object; false when it cannot be read here, or is of another type. */
bool al_object_reader_get(struct al_object_reader *reader, const struct al_oid *oid,
                          enum al_object_type type, struct al_loose_object *ret_object);

/** The tree of a commit, and its parents as hex, appended (NULL: not wanted); false when the commit
 * cannot be read. */
bool al_object_reader_commit(struct al_object_reader *reader, const char *commit,
                             struct al_oid *ret_tree, struct al_strv *parents);

/** An entry of a tree. */
struct al_tree_item {
    unsigned mode; /**< as al_index_entry.mode */
    const char *name;
    struct al_oid oid;
};

/** Take the next entry of a tree from `*at`, which ends at `end`; false at the end, and with `*at`
 * NULL where the bytes are not understood: a mode that no git writes, a name with a slash or
 * without a byte, ".", "..", ".git". */
bool al_tree_item_next(const char **at, const char *end, bool sha256,
                       struct al_tree_item *ret_item);

#endif
