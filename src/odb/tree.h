// SPDX-License-Identifier: Apache-2.0
/* Writing tree objects, and the modes in them. */
#ifndef AL_ODB_TREE_H
#define AL_ODB_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/oid.h"
#include "odb/objects.h"
#include "util/error.h"
#include "util/str.h"

/** A file whose blob is in the store. */
struct al_tree_file {
    const char *path; /**< borrowed from the list */
    unsigned mode;    /**< st_mode */
    struct al_oid oid;
};

/** Parse an octal mode, as git prints it.  `ret_end` is where it ends, `text` itself if there is
 * none.
 */
unsigned al_tree_parse_mode(const char *text, const char **ret_end);

/** Append an entry to the bytes of a tree object.  Entries must come in git's order. */
void al_tree_add(struct al_str *tree, unsigned mode, const char *name, const struct al_oid *oid,
                 bool sha256);

/**
 * Write the trees of some files, which are sorted by path.
 *
 * @return 0; AL_ERR_AGAIN when one path is both a file and a directory: the working tree changed
 *         while it was read.
 */
int al_tree_put(struct al_objects *objects, const struct al_tree_file *files, size_t count,
                struct al_oid *ret_tree, struct al_error *err);

#endif
