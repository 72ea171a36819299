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

/** Created and freed by git/repo/git.h. */
struct al_git {
    char *program;     /* NULL: there is no git */
    char *interp;      /* its ELF interpreter; NULL when it has none */
    char *core;        /* <exec-path>/git; NULL when it was not found */
    char *http_helper; /* <exec-path>/git-remote-http; NULL without core */
    char *ssh, *self;  /* as in al_git_options */
    char *ssh_dir;     /* ssh_home's .ssh */
    struct al_strv
        env_helpers; /* our own entries without GIT_*, for the user's credential helpers */
    struct al_strv env_network; /* our own entries that children with network access get */
    char *home, *config_home;
    const struct al_roots *roots;
    struct al_roots *growing; /* as in al_git_options */
    struct al_strv forbidden; /* where no root may be */
    char *worktrees_dir;      /* see verbs/worktree/find.h; NULL: nowhere */
    uint32_t worktrees_max;
    char *state_dir;
    struct al_strv env_allowed; /* entries that the user allowed */
    char *ceiling;              /* GIT_CEILING_DIRECTORIES */
    uint64_t max_fetch_bytes;
    struct al_strv credential_hosts; /* the user's patterns, see guard/url.h */
    struct al_known_remotes *known_remotes;
    bool require_confinement;
    char confinement[32];

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
