// SPDX-License-Identifier: Apache-2.0
/*
 * Vetting: what a repository's configuration would make git run, and the overrides that stop it.
 *
 * One `git config --list` per repository tells every key of every scope.  Its outcome is remembered
 * as long as the stat of every file it came from (and of those that were absent) and of HEAD stays
 * the same.  The kernel layer covers what changes between check and use.
 *
 * Source: git-config(1), docs/SECURITY-MODEL.md.
 */
#ifndef AL_GITOPS_VET_H
#define AL_GITOPS_VET_H

#include <stdbool.h>

#include "gitops/location.h"
#include "util/error.h"
#include "util/str.h"

struct al_run_limits;

/** More configured values about remotes and branches than this are not looked through. */
#define AL_REMOTE_VALUES_MAX 8192

/** More driver keys than this in one repository are refused. */
#define AL_DRIVER_KEYS_MAX 1000

/** More distinct files in blame.ignoreRevsFile than this are refused by blame. */
#define AL_IGNORE_REVS_MAX 64

/** An answer that depends on more files than this is not remembered. */
#define AL_VETTING_SOURCES_MAX 256

struct al_vetting {
    unsigned refs;          /* guarded by the al_git's lock */
    char *git_dir;          /* the key of the memory */
    struct al_strv sources; /* files it depends on … */
    struct al_file_id *ids; /* … and what they were */
    char *dir;              /* private folder with the files below, NULL when none was needed */

    struct al_git_config config;  /**< what git gets instead of the user's files */
    struct al_strv filters;       /**< filter drivers with a clean or process command, any scope */
    struct al_strv own_filters;   /**< those of them the repository itself configures */
    struct al_strv merge_drivers; /**< merge drivers with a command, any scope */
    struct al_strv ignore_revs;   /**< blame.ignoreRevsFile of the repository, made absolute: each
                                       once, and at most one too many */
    struct al_strv remotes; /**< remote.*, branch.*.remote and branch.*.merge: key, value, key, … */
    struct al_strv
        rewrites;      /**< the person's url.*.insteadOf: base, variable, beginning, base, … */
    char *proxy;       /**< the person's http.proxy, NULL */
    char *ca_path;     /**< the person's http.sslCAInfo (a private copy), NULL */
    char *refused_key; /**< the first key of the repository that could lead git elsewhere than
                            a remote's address says, NULL */
    struct al_strv safe_directories; /**< of the person's configuration */
    bool hooks_path_is_users;        /**< core.hooksPath came from the person's configuration */
    char *hooks_path;                /**< core.hooksPath as configured, NULL */
    char *attributes_path;           /**< the person's attributes file (a private copy), NULL */
    char *excludes_path;             /**< the same of core.excludesFile, NULL */
    bool has_identity;               /**< a name and an address are configured */
    bool wants_signatures;           /**< commit.gpgsign: a plain git would sign commits */
    bool user_wants_signatures;      /**< the same in the user's own configuration */
    bool is_sha256;                  /**< the repository names its objects by SHA-256 */
    bool has_reftable;               /**< its references are in no files airlock reads */
};

/** The vetting of a repository, from memory or (then it is `ret_new`) from one git child.  The
 * caller owns a reference. */
int al_vetting_get(const struct al_location *at, struct al_run_limits *budget,
                   const struct al_vetting **ret_vetting, bool *ret_new, struct al_error *err);
void al_vetting_unref(struct al_git *git, const struct al_vetting *vetting);

/** Drop what is remembered. */
void al_git_forget_vettings(struct al_git *git);

#endif
