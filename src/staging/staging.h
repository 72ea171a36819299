// SPDX-License-Identifier: Apache-2.0
/*
 * Staging: the only way out of an agent's sandbox.  The files that the agent stages are a commit in
 * a store of airlock's own, <state>/staging/<id>; what a user approves is pushed from there.
 *
 * docs/STAGING.md describes the store.  Several processes may use one store at the same time.
 */
#ifndef AL_STAGING_STAGING_H
#define AL_STAGING_STAGING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct al_git;
struct al_roots;
struct al_run_limits;
struct al_sandbox;
struct al_target;

/** The staging of one session. */
struct al_staging;

/** Everything is borrowed and outlives the struct al_staging. */
struct al_staging_options {
    const char *state_dir;        /**< the store is <state_dir>/staging/<id> */
    struct al_git *git;           /**< runs git in the store */
    const struct al_roots *roots; /**< the first one names the store */
    bool sha256;                  /**< object format of the repository at the first root */
    struct al_sandbox *sandbox;   /**< the agent's files; NULL: only staged commits are looked at */
    uint64_t max_bytes;           /**< the most content of one staged commit */
    const char *author;           /**< "Name <mail>" for pushed commits; NULL: not configured */
    const char *github_base_url;  /**< "https://github.com" */
    const char *worker;           /**< the name in the worker file; NULL: none */
    const struct al_target *default_target; /**< NULL: none */
    bool must_exist; /**< AL_ERR_NOT_FOUND instead of creating a store; for the command line */
    /** Take back what a killed process left half done in the directory of the sandbox; called with
     * the store's lock held.  NULL: nothing is taken back. */
    void (*recover)(struct al_staging *staging);
};

/**
 * Open or create the store of the first root, finish what a killed process began, and let the
 * sandbox read its unchanged files from the store.
 *
 * @param budget  For waiting while another process works in the store.
 * @return 0; AL_ERR_EXECUTION when the store cannot be used; AL_ERR_NOT_FOUND with `must_exist`.
 * Ownership: the caller frees it with al_staging_free(), before the sandbox and the git layer.
 */
int al_staging_new(const struct al_staging_options *options, struct al_run_limits *budget,
                   struct al_staging **ret_staging, struct al_error *err);

/** Close the store.  The base of a memory sandbox is gone with it; staged commits stay. */
void al_staging_free(struct al_staging *staging);

/** The options that the staging was opened with.  Borrowed. */
const struct al_staging_options *al_staging_options(const struct al_staging *staging);

/**
 * Join packs and remove what nothing refers to: references without a staged commit, bases of memory
 * sandboxes whose process is gone, and objects that are older than a day.  Does nothing if it was
 * done within the last hour.  Nothing staged is ever lost.
 */
int al_staging_gc(struct al_staging *staging, struct al_run_limits *budget, struct al_error *err);

#endif
