// SPDX-License-Identifier: Apache-2.0
/*
 * Objects in the loose form, which git gives to new ones, read without git.
 *
 * The file may be anybody's, so an object is only given if its content has the id.
 *
 * Source: gitrepository-layout(5), "objects/[0-9a-f][0-9a-f]".
 */
#ifndef AL_GITOPS_PLUMBING_LOOSE_OBJECT_H
#define AL_GITOPS_PLUMBING_LOOSE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/oid.h"
#include "util/str.h"

/** A larger object, or one whose file is larger, is left to git. */
#define AL_LOOSE_MAX_BYTES (4u << 20)

/** An object in memory. */
struct al_loose_object {
    enum al_object_type type;
    const char *data; /**< its content; a NUL follows */
    size_t len;
    unsigned char *memory; /**< private */
};

void al_loose_object_clear(struct al_loose_object *object);

/**
 * Read an object.
 *
 * @param common_fd  The common directory of the repository.
 * @return false: it is not there in this form, larger, or not what its id says.
 */
bool al_loose_object_read(int common_fd, const struct al_oid *oid, bool sha256, size_t max_bytes,
                          struct al_loose_object *ret_object);

/** Find the tree of a commit, and add its parents, as hex (NULL: not wanted).  False when the
 * object is none. */
bool al_loose_object_parse_commit(const struct al_loose_object *object, bool sha256,
                                  struct al_oid *ret_tree, struct al_strv *parents);

/** Add the parents of a commit, as hex; false when it is not there in this form. */
bool al_loose_object_parents(int common_fd, const char *commit, bool sha256,
                             struct al_strv *parents);

#endif
