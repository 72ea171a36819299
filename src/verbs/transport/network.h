// SPDX-License-Identifier: Apache-2.0
/*
 * An exchange with one address of a remote.
 *
 * A repository on this machine needs no network: git's server for it is started here, confined and
 * with our overrides, so that neither hooks nor configuration of either side run anything.  git may
 * connect to any other address, by its one protocol, and start the helper of that protocol.
 *
 * Credentials for http come from the user's own credential helpers, once a server asks for them.
 * Nothing ever prompts.
 */
#ifndef AL_VERBS_TRANSPORT_NETWORK_H
#define AL_VERBS_TRANSPORT_NETWORK_H

#include <stdbool.h>

#include "base/str.h"
#include "git/repo/remotes.h"
#include "git/run.h"
#include "guard/url.h"

/** An exchange with one address of a remote.  Made by al_network_begin(). */
struct al_network {
    const struct al_repo *repo;
    const struct al_remote *remote;
    enum al_direction direction;
    struct al_url url;
    char *address; /* as the remote has it */
    char *name;    /* of the remote, for this exchange alone */
    struct al_repo
        *other;          /* the repository at the other end when it is on this machine, else NULL */
    int other_fd;        /* its git directory, open; -1 when it is elsewhere */
    char *repository_id; /* device and inode of that directory; "" when it is elsewhere */
    bool uses_github_token; /* a server that asks gets the token for GitHub and nothing else, and
                               none may lead elsewhere */
    bool is_partial;        /* objects that this fetch does not bring may be missing */
    bool was_asked;         /* the server asked for credentials */
    bool is_shown;          /* a shell sees the output: names are those of the repository */
};

/**
 * Prepare an exchange with one address.  Starts no process, except, for a repository on this
 * machine, the git that lists its configuration.
 *
 * @param remote   Borrowed until al_network_endp().
 * @param address  One of its urls or push_urls.
 * @return 0; AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR for an address that cannot be used;
 *         AL_ERR_SANDBOX when it leads outside the roots.
 */
int al_network_begin(const struct al_repo *repo, const struct al_remote *remote,
                     const char *address, enum al_direction direction,
                     struct al_network **ret_network, struct al_error *err);

/** Cleanup for `al_auto(al_network_endp)`. */
void al_network_endp(struct al_network **network);

/** Call the remote by its address, which git then writes into a new repository; of a path that is
 * file://, since git would copy a path. */
void al_network_use_address(struct al_network *network);

/** The address without secrets, for messages.  Borrowed. */
const char *al_network_shown(const struct al_network *network);

/**
 * Run a command that names the remote.  Sets its class, link and starts_children.  In the output
 * user information is removed from addresses, and the address stands in place of internal names.
 *
 * @param progress  May be NULL.
 * @return as al_git_run(); a non-zero exit code is a success here, and al_network_failed() makes an
 *         error of it.  AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR when a server asks for
 *         credentials and there are none, or wrong ones.
 */
int al_network_run(struct al_network *network, struct al_git_command *command, size_t max_bytes,
                   const struct al_progress *progress, struct al_git_output *ret_output,
                   struct al_error *err);

/** The view that a shell has of an exchange.  Set up with {}. */
struct al_network_shown {
    const struct al_git_shell *shell; /**< NULL: there is none, and airlock reads the output */
    const char *id, *name; /**< what is pushed is named so in place of its object id; NULL: none */
    int exit_code;         /**< of git */
};

/** Run a command that names the remote for a shell: it gets git's output, which names the remote
 * and its address as the repository does.  A git that fails is a success here.  Returns as
 * al_network_run(). */
int al_network_run_shown(struct al_network *network, struct al_git_command *command,
                         struct al_network_shown *shown, struct al_error *err);

/* --- Network failure --- */

/* The failure of a git that talked to another repository, as an error with a cause and a remedy. */

/** Turn a failed output into an error: AL_CODE_REMOTE_ERROR, a cause and a remedy. */
int al_network_failed(const struct al_network *network, const struct al_git_output *output,
                      struct al_error *err);

/** The branch that follows the remote follows the one of this exchange: FETCH_HEAD says so. */
void al_network_add_upstream(struct al_strv *config, const struct al_network *network);

/** Append a text without the "fd::<number>/" in front of its paths, an internal name. */
void al_network_hide_descriptor(const struct al_str *text, struct al_str *out);

#endif
