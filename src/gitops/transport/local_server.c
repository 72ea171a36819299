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

/* git's server for the other repository, on its own thread. */
struct server {
    const struct al_repo *repo;
    int dir_fd; /* the git directory of `repo` */
    enum al_direction direction;
    int socket_fd; /* closed when the server has exited */
    struct al_run_limits budget;
    struct al_git_output output;
    struct al_error err;
    int r;

    pthread_t thread;
    int start_error; /* result of pthread_create(); the members above belong to the thread once it
                        runs */
};

/* A socket pair, or the errno of creating it. */
struct socket_pair {
    int fds[2];
    int error;
};

/* A push moves references of the other repository, never its files: a change of files needs rules,
 * grants and a checkpoint of its own.  So the checked-out branch is refused too. */
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

/* Runs on an unfiltered thread, see al_proc_confine_thread(). */
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

/* Runs on an unfiltered thread, which can create sockets. */
static void make_pair(void *payload)
{
    struct socket_pair *pair = payload;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair->fds) < 0)
        pair->error = errno;
}

/* The job is acquired before both budgets start, so waiting for it counts for neither side. */
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
    al_close(job->link->fds[0]); /* the server then reads end of file and exits */
    (void)pthread_join(server->thread, NULL);
    /* Both have the same deadline, and either may reach it first; the other then sees the
     * connection cut. */
    if (r == 0 && ret_output->exit_code != 0 && server->r == AL_ERR_TIMEOUT) {
        *err = server->err;
        server->err = AL_ERROR_INIT;
        return AL_ERR_TIMEOUT;
    }
    return r;
}

/* Append the server's errors after those of git, if git failed. */
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
        r = al_write_lock_acquire_other(network->other, network->repo, job->budget, err);
    if (r < 0)
        return r;
    r = run_both(job, ret_output, err);
    al_write_lock_release(network->other);
    return r;
}
