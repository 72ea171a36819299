// SPDX-License-Identifier: Apache-2.0
/* A repository's references, read from its files: loose and packed ones as one list. */
#ifndef AL_CHECKPOINT_REFS_H
#define AL_CHECKPOINT_REFS_H

#include <stdbool.h>
#include <stddef.h>

#include "checkpoint/checkpoint.h"
#include "gitops/deadline.h"
#include "util/str.h"

/** More references than this in one repository are refused. */
#ifndef AL_REFS_MAX
#define AL_REFS_MAX 1000000u
#endif

/** And those below more directories than this. */
#define AL_REFS_DEPTH_MAX 64

/** References, sorted by name.  Zero-initialised is empty. */
struct al_refs {
    struct al_saved_ref *items;
    size_t count, capacity;
};

void al_refs_clear(struct al_refs *refs);

/**
 * Read them.
 *
 * @param common_fd  The common directory.
 * @param git_fd     The git directory, where it is another one: a linked working tree has some of
 *                   its own (refs/bisect, refs/worktree, refs/rewritten); else -1.
 */
int al_refs_read(int common_fd, int git_fd, bool sha256, struct al_deadline *deadline,
                 struct al_refs *ret_refs, struct al_error *err);

/** As a checkpoint keeps them: "<value> SP <name>" LF each. */
void al_refs_dump(const struct al_refs *refs, struct al_str *out);

/** And back; false when the text is none. */
bool al_refs_parse(const char *text, size_t len, struct al_refs *ret_refs);

/** What a file of one line says about a reference: an object id or "ref: <name>"; NULL when it says
 * neither.  Caller frees. */
char *al_ref_value(const char *text, bool sha256);

#endif
