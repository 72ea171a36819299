// SPDX-License-Identifier: Apache-2.0
/* What the files of this folder share and nobody else sees. */
#ifndef AL_GITOPS_PRIVATE_H
#define AL_GITOPS_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>

#include "gitops/git.h"
#include "util/fs.h"

struct al_budget;
struct al_error;
struct al_git_command;
struct al_known_remotes;
struct al_repo;
struct al_vetting;

#define AL_VETTINGS_KEPT 16

/** One writer of a repository, at work or waiting.  The list is in order of arrival; the first of a
 * repository works. */
struct al_turn {
    struct al_turn *next;
    const char *common_dir;     /* borrowed from the repo, which outlives the turn */
    int ready_fd;               /* eventfd, written when the turn has come */
    const struct al_turn *held; /* the turn this writer has already, of another repository */
};

/** A ruleset and who uses it. */
struct al_held_ruleset {
    struct al_ruleset *ruleset;
    int64_t looked_at_ms; /* when its paths were last seen to name what it holds … */
    unsigned refs;        /* … and this: guarded by the al_git's lock */
};

/** See gitops/git.h. */
struct al_git {
    char *program;              /* NULL: there is no git */
    char *interp;               /* its ELF interpreter, NULL when it has none */
    char *core;                 /* <exec-path>/git, NULL when it was not found */
    char *http_helper;          /* <exec-path>/git-remote-http, NULL without core */
    char *ssh, *self;           /* as in al_git_options */
    char *ssh_dir;              /* ssh_home's .ssh */
    struct al_strv env_helpers; /* all of ours but GIT_*, for the person's credential helpers */
    struct al_strv env_network; /* "NAME=value" of ours that children with the network get */
    char *home, *config_home;
    const struct al_roots *roots;
    struct al_strv env_allowed; /* "NAME=value" the person let through */
    char *ceiling;              /* GIT_CEILING_DIRECTORIES */
    uint64_t max_fetch_bytes;
    struct al_strv credential_hosts; /* the user's patterns, see guard/credential_hosts.h */
    struct al_known_remotes *known_remotes;
    bool require_confinement;
    bool require_signature;
    char confinement[32];

    char *private_dir; /* <state>/run/<random>; holds tmp/ and one folder per vetting */
    int private_fd;    /* locked while we live, so that others can tell a leftover */
    unsigned private_serial;

    pthread_mutex_t lock; /* guards what follows */
    struct al_held_ruleset *rulesets[AL_GIT_CLASSES];
    struct al_vetting *vettings[AL_VETTINGS_KEPT]; /* most recently used first */
    struct al_turn *turns;                         /* writers of repositories, see turn.c */
};

/** ruleset.c: the ruleset of a class, rebuilt when a path of it names another inode; given back
 * with al_git_ruleset_put().  *ret_held is NULL where the kernel has no Landlock.  Its paths are
 * looked at now and then; `now` when the caller cannot go on with a stale one. */
int al_git_ruleset(struct al_git *git, enum al_git_class class, bool now,
                   struct al_held_ruleset **ret_held, struct al_error *err);
void al_git_ruleset_put(struct al_git *git, struct al_held_ruleset *held);

/** ruleset.c: a ruleset for one bare repository of our own, written below `dir_fd`.  The caller
 * frees it; NULL where the kernel has no Landlock. */
int al_git_bare_ruleset(struct al_git *git, int dir_fd, bool reads_roots,
                        struct al_ruleset **ret_ruleset, struct al_error *err);

/** command.c: whether commands of a class may write. */
bool al_git_class_writes(enum al_git_class class);

/** command.c: whether commands of a class reach over the network. */
bool al_git_class_connects(enum al_git_class class);

/** command.c: how much a git child may use. */
struct al_limits al_git_limits(const struct al_git_command *command, uint32_t left_ms);

/** command.c: what a child of a command that has this much time is held to. */
struct al_sandbox al_git_command_sandbox(const struct al_git_command *command,
                                         const struct al_held_ruleset *held, uint32_t left_ms);

/** private_dir.c: make and remove it, and what earlier servers left behind. */
int al_git_make_private_dir(struct al_git *git, const char *state_dir, struct al_error *err);
void al_git_remove_private_dir(struct al_git *git);

/** A new name for a file in the part of the private directory that writing children may write.
 * Caller frees, and removes the file. */
char *al_git_private_name(struct al_git *git, const char *prefix);

/** vet.c: drop what is remembered. */
void al_git_forget_vettings(struct al_git *git);

/** locate.c: the path in a one-line file such as `.git` ("gitdir: …") or commondir, made absolute;
 * NULL when it holds no such line.  Caller frees. */
char *al_git_read_pointer(int dir_fd, const char *name, const char *prefix, const char *base);

/** state.c: whether a name that a repository holds may be followed to a file: below refs/, and not
 * up again. */
bool al_is_reference(const char *name);

/** state.c: whether a text that git or a file of a repository gave for an object's id is hex digits
 * and nothing else, of whatever length: nothing that git could take for an option or a path. */
bool al_is_oid(const char *text, size_t len);

/** state.c: what HEAD and a loose reference hold, without the newline; NULL when there is none or
 * it leads outside the roots.  Caller frees. */
char *al_repo_read_head(const struct al_repo *repo);
char *al_repo_read_loose(const struct al_repo *repo, const char *ref);

/** state.c: append the references that HEAD leads through, by what they hold and by old links; at
 * most five, none when HEAD is a commit. */
void al_repo_follow_head(const struct al_repo *repo, struct al_strv *ret_refs);

#endif
