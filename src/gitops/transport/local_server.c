// SPDX-License-Identifier: Apache-2.0
#include "gitops/transport/local_server.h"

#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>

#include "gitops/command.h"
#include "gitops/layer.h"
#include "gitops/repo/write_lock.h"
#include "gitops/transport/network_config.h"

#define SERVER_STACK_BYTES   ((size_t)256 * 1024)
#define SERVER_ERR_MAX_BYTES 4096

/* git's own server for the repository at the other end, on a thread beside the call's. */
struct server {
    const struct al_repo *repo;
    int dir_fd; /* its git directory */
    enum al_direction direction;
    int socket_fd; /* closed when the server has ended */
    struct al_run_limits budget;
    struct al_git_output output;
    struct al_error err;
    int r;

    pthread_t thread;
    int start_error; /* of pthread_create(); what is above is the thread's from then on */
};

/* Two ends of a socket, or why there are none. */
struct socket_pair {
    int fds[2];
    int error;
};

/* A push moves references of the other repository and never its files: those have rules, grants and
 * checkpoints of their own.  So it does not move the branch the files belong to either. */
static void add_receive_config(struct al_strv *config)
{
    al_strv_adds(config, "receive.denycurrentbranch", "refuse", NULL);
}

static void *serve(void *payload)
{
    struct server *server = payload;
    al_auto(al_strv_clear) struct al_strv config = AL_STRV_INIT;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    const struct al_git_link link = {
        .protocol = "none",
        .config = &config,
        .socket_fd = server->socket_fd,
        .has_job = true,
        .max_file_bytes = server->repo->at.git->max_fetch_bytes,
    };
    bool pushes = server->direction == AL_PUSHES;

    add_receive_config(&config);
    command.link = &link;
    command.cwd_fd = server->dir_fd;
    command.class = pushes ? AL_GIT_WRITE : AL_GIT_READ;
    command.starts_children = true; /* pack-objects, unpack-objects, index-pack, rev-list */
    if (pushes)
        al_strv_adds(&command.argv, "git", "receive-pack", ".", NULL);
    else
        al_strv_adds(&command.argv, "git", "upload-pack", "--strict", ".", NULL);
    server->r = al_git_run(&server->repo->at, &command,
                           &(struct al_git_run){ .max_bytes = SERVER_ERR_MAX_BYTES },
                           &server->budget, &server->output, &server->err);
    al_closep(&server->socket_fd);
    return NULL;
}

/* Run by a thread that no filter holds, see al_proc_confine_thread(). */
static void create_thread(void *payload)
{
    struct server *server = payload;
    pthread_attr_t attr;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, SERVER_STACK_BYTES);
    server->start_error = pthread_create(&server->thread, &attr, serve, server);
    (void)pthread_attr_destroy(&attr);
}

static int start_server(struct server *server, struct al_error *err)
{
    al_proc_run_unfiltered(create_thread, server);
    if (server->start_error)
        return al_error_errno(err, server->start_error,
                              "cannot start a thread for the other repository");
    return 0;
}

/* The same, for the two ends of a socket. */
static void make_pair(void *payload)
{
    struct socket_pair *pair = payload;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair->fds) < 0)
        pair->error = errno;
}

/* Waiting for a turn counts for neither side: the server's time begins when the client's does. */
static int run_client(const struct al_network_job *job, struct server *server,
                      struct al_git_output *ret_output, struct al_error *err)
{
    int r = start_server(server, err);

    if (r < 0) {
        al_close(job->link->fds[0]);
        al_close(server->socket_fd);
        return r;
    }
    r = al_git_run(&job->network->repo->at, job->command,
                   &(struct al_git_run){ .max_bytes = job->max_bytes }, job->budget, ret_output,
                   err);
    al_close(job->link->fds[0]); /* the end of the server, too */
    (void)pthread_join(server->thread, NULL);
    /* They have the same time: either may be the first to run out of it, and the other sees the
     * connection cut. */
    if (r == 0 && ret_output->exit_code != 0 && server->r == AL_ERR_TIMEOUT) {
        *err = server->err;
        server->err = AL_ERROR_INIT;
        return AL_ERR_TIMEOUT;
    }
    return r;
}

/* What the server complains of comes after what git says, unless git got its answer. */
static void add_server_error(struct al_git_output *output, const struct server *server)
{
    if (server->r == 0 && output->exit_code != 0 && server->output.err.out.len)
        al_str_add(&output->err.out, server->output.err.out.buf, server->output.err.out.len);
}

static int run_both(const struct al_network_job *job, struct al_git_output *ret_output,
                    struct al_error *err)
{
    const struct al_network *network = job->network;
    al_auto(al_strv_clear) struct al_strv config = AL_STRV_INIT;
    al_auto(al_freep) char *address = NULL;
    struct server server = { .repo = network->other,
                             .dir_fd = network->other_fd,
                             .direction = network->direction,
                             .budget = *job->budget,
                             .output = { .out = AL_TEXT_INIT(0), .err = AL_TEXT_INIT(0) } };
    struct socket_pair pair = { .error = 0 };
    int r;

    r = al_proc_acquire_job(job->budget->cancel, err);
    if (r < 0)
        return r;
    al_proc_run_unfiltered(make_pair, &pair);
    if (pair.error) {
        al_proc_release_job();
        return al_error_errno(err, pair.error, "cannot connect two gits");
    }
    server.socket_fd = pair.fds[1];
    address = al_asprintf("fd::%d/%s", pair.fds[0], network->other->at.git_dir);
    al_network_add_config(&config, network, address);
    *job->link = (struct al_git_link){
        .protocol = "fd",
        .config = &config,
        .fds = &pair.fds[0],
        .nfds = 1,
        .has_job = true,
        .max_file_bytes = network->repo->at.git->max_fetch_bytes,
        .progress = job->link->progress,
    };
    job->command->class = AL_GIT_WRITE;
    r = run_client(job, &server, ret_output, err);
    al_proc_release_job();
    if (r == 0)
        add_server_error(ret_output, &server);
    al_git_output_clear(&server.output);
    al_error_clear(&server.err);
    return r;
}

int al_network_run_local(const struct al_network_job *job, struct al_git_output *ret_output,
                         struct al_error *err)
{
    struct al_network *network = job->network;
    int r = 0;

    if (network->direction == AL_PUSHES)
        r = al_write_lock_acquire_other(network->other, network->repo, job->budget->cancel, err);
    if (r < 0)
        return r;
    r = run_both(job, ret_output, err);
    al_write_lock_release(network->other);
    return r;
}
