// SPDX-License-Identifier: Apache-2.0
/* The references of a repository, read from its files.  Loose and packed references are one list.
 */
#ifndef AL_CHECKPOINT_REFS_H
#define AL_CHECKPOINT_REFS_H

#include <stdbool.h>
#include <stddef.h>

#include "checkpoint/checkpoint.h"
#include "gitops/deadline.h"
#include "util/str.h"

/** A repository with more references than this is refused. */
#ifndef AL_REFS_MAX
#define AL_REFS_MAX 1000000u
#endif

/** A repository with references below more directories than this is refused. */
#define AL_REFS_DEPTH_MAX 64

/** References, sorted by name.  Zero-initialised is empty. */
struct al_refs {
    struct al_saved_ref *items;
    size_t count, capacity;
};

void al_refs_clear(struct al_refs *refs);

/**
 * Read the references of a repository.
 *
 * @param common_fd  The common directory.
 * @param git_fd     The git directory of a linked working tree, else -1.  It has references of its
 *                   own: refs/bisect, refs/worktree and refs/rewritten.
 */
int al_refs_read(int common_fd, int git_fd, bool sha256, struct al_deadline *deadline,
                 struct al_refs *ret_refs, struct al_error *err);

/** Append the references as a checkpoint has them: "<value> SP <name>" LF each. */
void al_refs_dump(const struct al_refs *refs, struct al_str *out);

/** Parse what al_refs_dump() wrote.  False when the text is not in that form. */
bool al_refs_parse(const char *text, size_t len, struct al_refs *ret_refs);

/** The value of a reference whose file has this text: an object id or "ref: <name>".  NULL when the
 * text is neither.  Caller frees. */
char *al_ref_value(const char *text, bool sha256);

#endif
