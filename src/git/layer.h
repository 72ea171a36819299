// SPDX-License-Identifier: Apache-2.0
/* The git layer of one session: the members of struct al_git, for the files that run git. */
#ifndef AL_GIT_LAYER_H
#define AL_GIT_LAYER_H

#include "base/str.h"
#include "git/command.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct al_known_remotes;
struct al_roots;
struct al_vetting;

#define AL_VETTINGS_KEPT 16

/** The options of a layer.  The strings and `forbidden` are copied; all else is borrowed and
 * outlives the layer. */
struct al_git_options {
    const char *program;          /**< git's canonical path, NULL when there is none */
    const char *ssh;              /**< ssh's canonical path, NULL when there is none */
    const char *self;             /**< airlock's own path: git starts it as askpass and as ssh */
    const char *ssh_home;         /**< the directory that holds .ssh; NULL: none */
    const struct al_roots *roots; /**< where an agent may work */
    const struct al_strv *env_allow;
    uint64_t max_fetch_bytes;               /**< of each file that a transfer writes; 0: no limit */
    const struct al_strv *credential_hosts; /**< see guard/url.h; NULL: none */
    char *const *environ_;                  /**< airlock's own environment */
    const char *home;                       /**< the user's home, may be NULL */
    const char *config_home;                /**< $XDG_CONFIG_HOME, may be NULL */
    const char *state_dir;    /**< outside every root; a private directory is made below it */
    bool require_confinement; /**< refuse to run where Landlock is missing, or
                                 git cannot be watched */
    struct al_roots *growing; /**< `roots` again, if worktrees may be added to them; NULL: they may
                                 not.  See al_roots_reserve() */
    const struct al_strv *forbidden; /**< as for al_roots_add(); NULL: none */
    const char *worktrees_dir;       /**< where linked worktrees are made; NULL: nowhere */
    uint32_t worktrees_max;          /**< at most so many below it */
};

/** Created and freed by git/repo/git.h. */
struct al_git {
    struct al_git_options options; /* its strings are in `kept`; `roots` is NULL, see below */
    struct al_strv kept;
    const struct al_roots *roots; /* borrowed; they may move with what they are part of */
    struct al_strv forbidden;     /* where no root may be */

    char *interp;      /* the ELF interpreter of git; NULL when it has none */
    char *core;        /* <exec-path>/git; NULL when it was not found */
    char *http_helper; /* <exec-path>/git-remote-http; NULL without core */
    char *ssh_dir;     /* ssh_home's .ssh */
    struct al_strv
        env_helpers; /* our own entries without GIT_*, for the user's credential helpers */
    struct al_strv env_network; /* our own entries that children with network access get */
    struct al_strv env_allowed; /* entries that the user allowed */
    char *ceiling;              /* GIT_CEILING_DIRECTORIES */
    struct al_known_remotes *known_remotes;
    char confinement[32]; /* what is in force: "landlock7+seccomp", "seccomp" */

    char *private_dir; /* <state>/run/<random>; holds tmp/ and the files of vettings */
    char *stash_dir;   /* <state>/stashes, see git/plumbing/stash_owners.h */
    char *records_dir; /* <state>/worktrees, see verbs/worktree/find.h */
    char *lock_dir;    /* <state>/locks, see git/repo/write_lock.h */
    int private_fd; /* locked while the process lives, so that others can tell an abandoned one */
    unsigned private_serial;

    pthread_mutex_t lock;                          /* guards the members below */
    struct al_vetting *vettings[AL_VETTINGS_KEPT]; /* most recently used first */
};

#endif
