// SPDX-License-Identifier: Apache-2.0
/*
 * Objects in the packs of a repository, read without git.
 *
 * The files may be anybody's: every number in them is checked, nothing is mapped, and an object is
 * only given if its content has the id.  What is larger than a few limits is left to git.
 *
 * Source: gitformat-pack(5).
 */
#ifndef AL_GITOPS_PLUMBING_PACKED_OBJECT_H
#define AL_GITOPS_PLUMBING_PACKED_OBJECT_H

#include "gitops/plumbing/loose_object.h"

/** More packs are left to git. */
#define AL_PACKS_MAX 32u
/** The most deltas from one object to its base. */
#define AL_DELTAS_MAX 64u

/** A pack whose index is open. */
struct al_packed_file {
    int index_fd, pack_fd; /* the pack is opened when an object is read; -1 before */
    char *name;            /* of the index */
    uint32_t count;        /* objects */
};

/** The packs of a repository.  Zero-initialised, none were opened. */
struct al_packed_files {
    struct al_packed_file *items;
    size_t count;
    size_t work; /* bytes that were made */
    bool opened;
};

void al_packed_files_clear(struct al_packed_files *files);

/**
 * Read an object.  The packs are opened first, if they were not.
 *
 * @param common_fd  The common directory of the repository.
 * @return false: it is in no pack, too large, or not what its id says.
 */
bool al_packed_object_read(struct al_packed_files *files, int common_fd, const struct al_oid *oid,
                           bool sha256, size_t max_bytes, struct al_loose_object *ret_object);

#endif
