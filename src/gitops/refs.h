// SPDX-License-Identifier: Apache-2.0
/*
 * HEAD and references, read from the files of a repository: no git is started for them.
 *
 * Source: gitrepository-layout(5), git-pack-refs(1).
 */
#ifndef AL_GITOPS_REFS_H
#define AL_GITOPS_REFS_H

#include "gitops/location.h"
#include <stdbool.h>
#include <stddef.h>

/** Whether a name that a repository holds may be followed to a file: below refs/, and not
 * up again. */
bool al_is_reference(const char *name);

/** Whether a text that git or a file of a repository gave for an object's id is hex digits
 * and nothing else, of whatever length: nothing that git could take for an option or a path. */
bool al_is_oid(const char *text, size_t len);

/** What HEAD and a loose reference hold, without the newline; NULL when there is none or
 * it leads outside the roots.  Caller frees. */
char *al_ref_read_head(const struct al_location *at);
char *al_ref_read_loose(const struct al_location *at, const char *ref);

/** Append the references that HEAD leads through, by what they hold and by old links; at
 * most five, none when HEAD is a commit. */
void al_ref_follow_head(const struct al_location *at, struct al_strv *ret_refs);

/** Whether a full ref name ("refs/heads/main") exists, from the files. */
bool al_ref_exists(const struct al_location *at, const char *ref);

/** HEAD's object id from the files, "" on an unborn branch.  Caller frees. */
char *al_ref_head(const struct al_location *at);

/** The same for a full ref name; "" where there is none. */
char *al_ref_oid(const struct al_location *at, const char *ref);

/**
 * Append the branches that a commit would move: the one HEAD is on, and where that is a symbolic
 * reference those it leads to.  "HEAD" when it is on none, and the branch of a stopped rebase,
 * which moves when that has gone on to its end.
 */
void al_ref_head_branches(const struct al_location *at, struct al_strv *ret_names);

#endif
