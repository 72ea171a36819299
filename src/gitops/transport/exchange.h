// SPDX-License-Identifier: Apache-2.0
/* An exchange with one address of a remote, as the files of this folder see it. */
#ifndef AL_GITOPS_TRANSPORT_EXCHANGE_H
#define AL_GITOPS_TRANSPORT_EXCHANGE_H

#include "gitops/run.h"
#include "gitops/transport/network.h"

/** An exchange with one address of a remote. */
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
};

/** One run of a command over the exchange. */
struct al_network_job {
    struct al_network *network;
    struct al_git_command *command;
    struct al_git_link *link; /**< the command's; filled by the function that runs the job */
    size_t max_bytes;
    struct al_run_limits *budget;
};

/** Run the command once over the network.  `answers` is the file for our askpass, -1: none. */
int al_network_run_once(const struct al_network_job *job, int answers,
                        struct al_git_output *ret_output, struct al_error *err);

#endif
