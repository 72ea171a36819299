// SPDX-License-Identifier: Apache-2.0
/* The commits from which everything else in a repository is reached. */
#ifndef AL_CHECKPOINT_TIPS_H
#define AL_CHECKPOINT_TIPS_H

#include <stdbool.h>

#include "checkpoint/gitdir.h"
#include "checkpoint/refs.h"
#include "gitops/oid.h"
#include "util/str.h"

/** A list of object ids without duplicates. */
struct al_tip_list {
    struct al_strv list;
    struct al_oid_set set;
};

/** The tips of a repository. */
struct al_tips {
    bool sha256;
    struct al_tip_list references; /* commits that these reach are not lost */
    struct al_tip_list fragile;    /* a stash, a detached HEAD, heads of an operation */
    struct al_tip_list reached;    /* those of them that references were found to reach */
    struct al_str text;            /* the digest and the references' ids, for the next checkpoint */
};

void al_tip_list_clear(struct al_tip_list *list);
/** Test whether the id that a text begins with is in the list. */
bool al_tip_list_has(const struct al_tip_list *list, const char *text, bool sha256);
/** Add the id that a text begins with, if there is one. */
void al_tip_list_add(struct al_tip_list *list, const char *text, bool sha256);

void al_tips_clear(struct al_tips *tips);
/** Find the tips of a repository with these references and files.  `tips->sha256` is set. */
void al_tips_collect(struct al_tips *tips, const struct al_refs *refs,
                     const struct al_gitdir_files *files);

#endif
