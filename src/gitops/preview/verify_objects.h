// SPDX-License-Identifier: Apache-2.0
/*
 * Verify objects against their ids.  git does not check an id when it reads an object, so a forged
 * file below objects/ would be shown as if it were the object.
 *
 * Source: git-cat-file(1) "BATCH OUTPUT", gitformat-pack(5).
 */
#ifndef AL_GITOPS_PREVIEW_VERIFY_OBJECTS_H
#define AL_GITOPS_PREVIEW_VERIFY_OBJECTS_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** At most this many bytes are verified in one call. */
#ifndef AL_VERIFY_MAX_BYTES /* tests compile with a smaller limit */
#define AL_VERIFY_MAX_BYTES (128u << 20)
#endif

/**
 * Hash objects, compare the hashes with their ids, and add the ids to budget->stable_read.
 *
 * @param words         Object names for `git cat-file`, one a line.  Missing objects are ignored.
 * @param ret_complete  Set to false when there were too many bytes to verify all; else unchanged.
 * @return 0, or AL_ERR_EXECUTION naming the first object whose hash differs.
 */
int al_git_verify_objects(const struct al_repo *repo, const struct al_str *words,
                          struct al_run_limits *budget, bool *ret_complete, struct al_error *err);

/** Verify a commit, its root tree and all trees below: which files the commit has. */
int al_git_verify_tree(const struct al_repo *repo, const char *commit, struct al_run_limits *budget,
                       bool *ret_complete, struct al_error *err);

/** Verify the commits that `git rev-list` prints for these arguments (ending with NULL). */
int al_git_verify_commits(const struct al_repo *repo, const char *const *words,
                          struct al_run_limits *budget, bool *ret_complete, struct al_error *err);

/** Verifier for the output of `git cat-file --batch`. */
struct al_object_verifier {
    struct al_str line; /* header being read */
    struct al_str id;   /* id of the current object */
    void *hash;         /* hash of the current object so far */
    uint64_t left;      /* bytes left of it, with the newline after it */
    uint64_t bytes;     /* bytes read in all */
    bool sha256, broken, too_many;
    char *mismatch;       /* id of the first object whose hash differs; NULL: none */
    struct al_strv *oids; /* receives the id of each object; may be NULL; borrowed */
};

void al_object_verifier_clear(struct al_object_verifier *verifier);

/** Sink function: parse the next bytes, split anywhere. `payload` is the reader. */
bool al_object_verifier_add(void *payload, const char *data, size_t len);

#endif
