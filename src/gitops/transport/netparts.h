// SPDX-License-Identifier: Apache-2.0
/* The parts an exchange with another repository is made of; nobody else sees them. */
#ifndef AL_GITOPS_TRANSPORT_NETPARTS_H
#define AL_GITOPS_TRANSPORT_NETPARTS_H

#include "gitops/run.h"
#include "gitops/transport/network.h"

/** An exchange with one address of a remote. */
struct al_network {
    const struct al_repo *repo;
    const struct al_remote *remote;
    enum al_direction direction;
    struct al_url url;
    char *address;         /* as the remote has it */
    char *name;            /* of the remote, for this exchange alone */
    struct al_repo *other; /* where the address is on this machine, else NULL … */
    int other_fd;          /* … and its git directory, open */
    char *place;           /* … which is this one: device and inode; "" elsewhere */
};

/** One run of a command: what every way to run it takes. */
struct al_network_job {
    struct al_network *network;
    struct al_git_command *command;
    struct al_git_link *link; /**< of the command, to be filled */
    size_t max_bytes;
    struct al_run_limits *budget;
};

/** netconfig.c: the remote of this exchange at `address`, and what no repository may decide. */
void al_network_add_config(struct al_strv *config, const struct al_network *network,
                           const char *address);

/** netconfig.c: what the protocol needs of the environment. */
void al_network_add_env(struct al_strv *env, const struct al_network *network);

/** netserver.c: with the repository at the other end being on this machine. */
int al_network_run_beside(const struct al_network_job *job, struct al_git_output *ret_output,
                          struct al_error *err);

/** network.c: one run over the network; `answers` is for our askpass, -1: none. */
int al_network_run_once(const struct al_network_job *job, int answers,
                        struct al_git_output *ret_output, struct al_error *err);

/** netauth.c: runs over http, with credentials where the server asks for them. */
int al_network_run_http(const struct al_network_job *job, struct al_git_output *ret_output,
                        struct al_error *err);

#endif
