// SPDX-License-Identifier: Apache-2.0
/*
 * Vetting: what a repository's configuration would make git run, and the overrides that prevent it.
 *
 * One `git config --list` per repository gives every key of every scope.  The result is remembered
 * as long as the stat of every file it came from, present or absent, stays the same; with includeIf
 * "onbranch", that of HEAD too.
 * Changes between check and use are the kernel layer's part.
 *
 * Threads: safe; a vetting does not change once it is returned.
 *
 * Source: git-config(1), docs/SECURITY-MODEL.md.
 */
#ifndef AL_GIT_VET_VET_H
#define AL_GIT_VET_VET_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/location.h"

/** The most values about remotes and branches that are kept. */
#define AL_REMOTE_VALUES_MAX 8192

/** The most driver keys in one repository; more are refused. */
#define AL_DRIVER_KEYS_MAX 1000

/** The most distinct files in blame.ignoreRevsFile; blame refuses more. */
#define AL_IGNORE_REVS_MAX 64

/** A vetting that depends on this many files or more is not remembered. */
#define AL_VETTING_SOURCES_MAX 256

struct al_vetting {
    unsigned refs;          /* guarded by the al_git's lock */
    bool is_lasting;        /**< its files are old enough to be compared by their stat data */
    char *git_dir;          /* the key by which the vetting is remembered */
    struct al_strv sources; /* the files it depends on, present or absent */
    struct al_file_id *ids; /* the stat of each source */
    struct al_strv files;   /* private ones, made for it */

    struct al_git_config config; /**< what git gets in place of the user's files */
    struct al_strv
        filters; /**< filter drivers with a clean, smudge or process command, of any scope */
    struct al_strv own_filters;   /**< those of `filters` that the repository itself configures */
    struct al_strv merge_drivers; /**< merge drivers with a command, of any scope */
    struct al_strv ignore_revs;   /**< blame.ignoreRevsFile of the repository, absolute, without
                                     duplicates; at most one above the limit */
    struct al_strv
        remotes; /**< remote.*, branch.*.remote and branch.*.merge: key, value, key, ... */
    struct al_strv rewrites; /**< the user's url.*.insteadOf and pushInsteadOf: base, variable,
                                prefix, base, ... */
    struct al_strv aliases;  /**< of any scope: name, words, name, ... */
    bool includes;           /**< some configuration file includes another one */
    char *proxy;             /**< the user's http.proxy; NULL: not set */
    char *ca_path;           /**< private copy of the user's http.sslCAInfo; NULL: not set */
    char *refused_key; /**< the first key of the repository that could make git connect elsewhere
                          than to a remote's address; NULL: none */
    struct al_strv safe_directories; /**< safe.directory of the user's configuration */
    bool configures_hooks;           /**< hook.<name>.event is set in any scope */
    bool hooks_path_is_users;        /**< core.hooksPath comes from the user's configuration */
    char *hooks_path;                /**< core.hooksPath; NULL: not set */
    char *attributes_path; /**< private copy of the user's core.attributesFile; NULL: none */
    char *excludes_path;   /**< private copy of the user's core.excludesFile; NULL: none */
    bool has_identity;     /**< both name and email are configured, for author and committer */
    bool wants_signatures; /**< commit.gpgSign is set: git itself would sign commits */
    bool is_sha256;        /**< the object format is SHA-256 */
    bool names_ref_place;  /**< extensions.refStorage has an address; refused */
    bool says_bare;        /**< core.bare: there is no main working tree */
    char *work_tree;       /**< core.worktree as it is written; NULL: not set */
};

/**
 * The vetting of a repository: remembered, or made with one git child.  The caller owns a
 * reference.
 *
 * @param[out] ret_new  A git child was needed; al_vetting_remember() follows when all that depends
 *                      on a first look is noted.
 */
int al_vetting_get(const struct al_location *at, const struct al_vetting **ret_vetting,
                   bool *ret_new, struct al_error *err);

/** Test whether the configuration is still the one that was vetted. */
bool al_vetting_is_current(const struct al_vetting *vetting);

/** Remember a new vetting for the calls that follow, if its files are old enough to be compared by
 * their stat data. */
void al_vetting_remember(struct al_git *git, const struct al_vetting *vetting);

void al_vetting_unref(struct al_git *git, const struct al_vetting *vetting);

/** Forget all vettings. */
void al_git_forget_vettings(struct al_git *git);

/** Test whether a key of the user's configuration goes into the file that stands in for
 * ~/.gitconfig. The repository's own values win over them, as they do in git. */
bool al_user_config_wants(const char *key);

/** Append one value to it, in git's file format. */
void al_user_config_add(struct al_str *out, const char *key, const char *value);

#endif
