// SPDX-License-Identifier: Apache-2.0
/* The parts that the files of verbs/inmemory/ share. */
#ifndef AL_VERBS_INMEMORY_PRIVATE_H
#define AL_VERBS_INMEMORY_PRIVATE_H

#include "verbs/inmemory/inmemory.h"

/** Merging in memory, from al_inmemory_open() to al_inmemory_free(). */
struct al_inmemory {
    const struct al_repo *real; /* borrowed */
    struct al_repo view;        /* the same with the new objects; borrows everything from `real` */
    char *dir;                  /* <private>/tmp/inmemory-<n>, which holds: */
    char *objects;              /* new objects */
    char *top;                  /* a working tree with nothing but .gitattributes files */
    int objects_fd, top_fd;
    bool keeps_attributes;    /* every tree to come has the .gitattributes files of the first one */
    char *attributes_of;      /* the tree whose .gitattributes are in `top`; NULL: none yet */
    char *author, *committer; /* of new commits; NULL: not asked for yet */
    struct al_strv bounds;    /* commits of the repository that new ones build on */
    struct al_commit_read **commits; /* those that were read or written */
    size_t ncommits;
};

/** Run a command on the view, in `top`, and keep its output as it is.  The class is
 * AL_GIT_SCRATCH.
 *
 * @param[out] ret_exit  NULL: a git that fails is an error.
 */
int al_inmemory_git(const struct al_inmemory *memory, struct al_git_command *command,
                    struct al_str *ret_out, int *ret_exit, struct al_error *err);

/** Write an object as a loose one among the new ones, without git. */
int al_inmemory_write(struct al_inmemory *memory, enum al_object_type type, const char *data,
                      size_t len, char ret_oid[AL_OID_TEXT], struct al_error *err);

/** Give `top` the .gitattributes files of a tree, or of a commit. */
int al_inmemory_set_attributes(struct al_inmemory *memory, const char *tree, struct al_error *err);

/** Test whether one of some commits changes a .gitattributes file, against any of its parents.
 * None is looked for from now on where a tree has none either. */
int al_inmemory_change_attributes(struct al_inmemory *memory, const struct al_strv *commits,
                                  const char *tree, bool *ret_change, struct al_error *err);

/** Free the commits that are known. */
void al_inmemory_forget(struct al_inmemory *memory);

/** Note that new commits build on a commit. */
void al_inmemory_add_bound(struct al_inmemory *memory, const char *commit);

#endif
