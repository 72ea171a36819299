// SPDX-License-Identifier: Apache-2.0
/*
 * Whether objects are what their ids say.  git does not look when it reads one, so a file below
 * objects/ that was written by somebody else is shown as if it were the object.
 *
 * Source: git-cat-file(1) "BATCH OUTPUT", gitformat-pack(5).
 */
#ifndef AL_GITOPS_PREVIEW_VERIFY_OBJECTS_H
#define AL_GITOPS_PREVIEW_VERIFY_OBJECTS_H

#include <stdbool.h>

#include "gitops/repo/repo.h"
#include "util/str.h"

/** More bytes than this are not looked at in one call. */
#define AL_VERIFY_MAX_BYTES (128u << 20)

/**
 * Hash objects and hold them against their ids, and add these to budget->stable_read.
 *
 * @param words     What `git cat-file` knows them by, a line each; those that are missing are left
 *                  to who reads them.
 * @param ret_all   All of them were looked at: there were not too many bytes.
 * @return 0, or AL_ERR_EXECUTION naming the object that is another one.
 */
int al_git_verify_objects(const struct al_repo *repo, const struct al_str *words,
                          struct al_run_limits *budget, bool *ret_complete, struct al_error *err);

/** The same for a commit, its tree and all trees below that: which files a commit has. */
int al_git_verify_tree(const struct al_repo *repo, const char *commit, struct al_run_limits *budget,
                       bool *ret_complete, struct al_error *err);

/** The same for the commits that `git rev-list` gives for these words (ending with NULL). */
int al_git_verify_commits(const struct al_repo *repo, const char *const *words,
                          struct al_run_limits *budget, bool *ret_complete, struct al_error *err);

/** The reader of `git cat-file --batch`. */
struct al_object_verifier {
    struct al_str line; /* the header being read */
    struct al_str id;   /* of the object being read */
    void *hash;         /* of it so far */
    uint64_t left;      /* of its bytes, with the newline behind them */
    uint64_t bytes;     /* of all */
    bool sha256, broken, too_many;
    char *mismatch;       /* the first that is another one, NULL */
    struct al_strv *oids; /* gets the id of each, NULL; borrowed */
};

void al_object_verifier_clear(struct al_object_verifier *verifier);

/** Feed bytes, split anywhere.  The form of a sink. */
bool al_object_verifier_add(void *payload, const char *data, size_t len);

#endif
