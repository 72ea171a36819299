// SPDX-License-Identifier: Apache-2.0
/*
 * The other repository is on this machine: git's server for it runs beside the client, confined and
 * with our overrides, and the two talk over a socket.  Neither a shell nor a hook is started.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>

#include "gitops/netparts.h"

#define SERVER_STACK_BYTES   ((size_t)256 * 1024)
#define SERVER_ERR_MAX_BYTES 4096

/* git's own server for the repository at the other end, on a thread beside the call's. */
struct server {
    const struct al_repo *repo;
    enum al_direction direction;
    int socket_fd; /* closed when the server has ended */
    struct al_budget budget;
    struct al_git_output output;
    struct al_error err;
    int r;
};

static void *serve(void *payload)
{
    struct server *server = payload;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    const struct al_git_link link = {
        .protocol = "none",
        .socket_fd = server->socket_fd,
        .has_turn = true,
    };
    bool pushes = server->direction == AL_PUSHES;

    command.link = &link;
    command.class = pushes ? AL_GIT_WRITE : AL_GIT_READ;
    command.starts_children = true; /* pack-objects, unpack-objects, index-pack, rev-list */
    if (pushes)
        al_strv_adds(&command.argv, "git", "receive-pack", server->repo->git_dir, NULL);
    else
        al_strv_adds(&command.argv, "git", "upload-pack", "--strict", server->repo->git_dir, NULL);
    server->r = al_git_run_text(server->repo, &command, SERVER_ERR_MAX_BYTES, &server->budget,
                                &server->output, &server->err);
    al_closep(&server->socket_fd);
    return NULL;
}

static int start_server(struct server *server, pthread_t *ret_thread, struct al_error *err)
{
    pthread_attr_t attr;
    int r;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, SERVER_STACK_BYTES);
    r = pthread_create(ret_thread, &attr, serve, server);
    (void)pthread_attr_destroy(&attr);
    return r ? al_error_errno(err, r, "cannot start a thread for the other repository") : 0;
}

/* Waiting for a turn counts for neither side: the server's time begins when the client's does. */
static int run_client(const struct al_network_job *job, struct server *server,
                      struct al_git_output *ret_output, struct al_error *err)
{
    pthread_t thread;
    int r = start_server(server, &thread, err);

    if (r < 0) {
        al_close(job->link->fds[0]);
        al_close(server->socket_fd);
        return r;
    }
    r = al_git_run_text(job->network->repo, job->command, job->max_bytes, job->budget, ret_output,
                        err);
    al_close(job->link->fds[0]); /* the end of the server, too */
    (void)pthread_join(thread, NULL);
    return r;
}

/* What the server complains of comes after what git says, unless git got its answer. */
static void add_complaint(struct al_git_output *output, const struct server *server)
{
    if (server->r == 0 && output->exit_code != 0 && server->output.err.out.len)
        al_str_add(&output->err.out, server->output.err.out.buf, server->output.err.out.len);
}

int al_network_run_beside(const struct al_network_job *job, struct al_git_output *ret_output,
                          struct al_error *err)
{
    const struct al_network *network = job->network;
    al_auto(al_strv_clear) struct al_strv config = AL_STRV_INIT;
    al_auto(al_freep) char *address = NULL;
    struct server server = { .repo = network->other,
                             .direction = network->direction,
                             .budget = *job->budget,
                             .output = { .out = AL_TEXT_INIT(0), .err = AL_TEXT_INIT(0) } };
    int pair[2], r;

    r = al_proc_take_turn(job->budget->cancel, err);
    if (r < 0)
        return r;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        al_proc_give_turn();
        return al_error_errno(err, errno, "cannot connect two gits");
    }
    server.socket_fd = pair[1];
    address = al_asprintf("fd::%d/%s", pair[0], network->other->git_dir);
    al_network_add_config(&config, network, address);
    *job->link = (struct al_git_link){
        .protocol = "fd",
        .config = &config,
        .fds = &pair[0],
        .nfds = 1,
        .has_turn = true,
        .progress = job->link->progress,
    };
    job->command->class = AL_GIT_WRITE;
    r = run_client(job, &server, ret_output, err);
    al_proc_give_turn();
    if (r == 0)
        add_complaint(ret_output, &server);
    al_git_output_clear(&server.output);
    al_error_clear(&server.err);
    return r;
}
