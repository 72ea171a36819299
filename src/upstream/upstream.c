// SPDX-License-Identifier: Apache-2.0
#include "upstream/upstream.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proc/proc.h"
#include "upstream/state.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/log.h"

/* As for threads that run calls (mcp/pool.c): a message nested as deeply as the parser allows. */
#define STACK_BYTES ((size_t)1536 * 1024)

static void copy_list(struct al_strv *list, const struct al_strv *from)
{
    for (size_t i = 0; from && i < from->count; i++)
        al_strv_add(list, from->items[i]);
}

struct al_upstream *al_upstream_new(const struct al_upstream_settings *settings)
{
    struct al_upstream *server = al_calloc(1, sizeof(*server));

    server->settings = *settings;
    server->settings.name = server->name = al_strdup(settings->name);
    server->settings.path_list = server->path_list = al_strdup(settings->path_list);
    server->settings.scratch_dir = server->scratch_dir = al_strdup(settings->scratch_dir);
    copy_list(&server->command, settings->command);
    copy_list(&server->env, settings->env);
    copy_list(&server->read, settings->read);
    copy_list(&server->write, settings->write);
    copy_list(&server->exec, settings->exec);
    server->settings.command = &server->command;
    server->settings.env = &server->env;
    server->settings.read = &server->read;
    server->settings.write = &server->write;
    server->settings.exec = &server->exec;
    server->problem = AL_ERROR_INIT;
    server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)pthread_mutex_init(&server->lock, NULL);
    return server;
}

/* Runs on an unfiltered thread, because a new thread inherits the filter of the one that makes it.
 */
static void create_thread(void *payload)
{
    struct al_upstream *server = payload;
    pthread_attr_t attr;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    server->has_thread = pthread_create(&server->thread, &attr, al_upstream_main, server) == 0;
    (void)pthread_attr_destroy(&attr);
}

void al_upstream_start(struct al_upstream *server)
{
    bool warns;

    (void)pthread_mutex_lock(&server->lock);
    if (!server->has_thread && !server->ending) {
        al_proc_run_unfiltered(create_thread, server);
        if (server->has_thread)
            server->phase = AL_UPSTREAM_STARTING;
    }
    warns = server->has_thread && !server->settings.confine && !server->settings.is_airlock &&
            !server->warned;
    server->warned |= warns;
    (void)pthread_mutex_unlock(&server->lock);
    if (warns)
        al_log_warn("MCP server '%s' runs without confinement (confine = false)", server->name);
}

void al_upstream_end(struct al_upstream *server)
{
    const uint64_t one = 1;

    (void)pthread_mutex_lock(&server->lock);
    server->ending = true;
    if (!server->has_thread)
        server->phase = AL_UPSTREAM_ENDED;
    (void)!write(server->wake_fd, &one, sizeof(one));
    al_upstream_signal_all(server);
    (void)pthread_mutex_unlock(&server->lock);
}

void al_upstream_free(struct al_upstream *server)
{
    if (!server)
        return;
    al_upstream_end(server);
    if (server->has_thread) {
        (void)pthread_join(server->thread, NULL);
        al_fs_remove_tree(server->scratch_dir);
    }
    al_upstream_tools_unref(server->tools);
    al_error_clear(&server->problem);
    al_strv_clear(&server->command);
    al_strv_clear(&server->env);
    al_strv_clear(&server->read);
    al_strv_clear(&server->write);
    al_strv_clear(&server->exec);
    free(server->name);
    free(server->path_list);
    free(server->scratch_dir);
    free(server->program);
    free(server->left_out);
    al_close(server->wake_fd);
    (void)pthread_mutex_destroy(&server->lock);
    free(server);
}

const char *al_upstream_name(const struct al_upstream *server)
{
    return server->name;
}

void al_upstream_get_state(struct al_upstream *server, struct al_upstream_state *ret_state)
{
    const int64_t now = al_clock_ms();

    (void)pthread_mutex_lock(&server->lock);
    *ret_state = (struct al_upstream_state){
        .phase = server->phase,
        .confined = server->settings.confine,
        .revision = server->revision,
        .program = al_strdup(server->program),
        .ntools = server->tools ? server->tools->count : 0,
        .nleft_out = server->nleft_out,
        .left_out = al_strdup(server->left_out),
        .problem = al_strdup(server->problem.message),
        .nstarts = server->nstarts,
    };
    if (server->phase == AL_UPSTREAM_WAITING && server->next_start_ms > now)
        ret_state->next_start_ms = (uint32_t)(server->next_start_ms - now);
    (void)pthread_mutex_unlock(&server->lock);
}

void al_upstream_state_clear(struct al_upstream_state *state)
{
    free(state->program);
    free(state->left_out);
    free(state->problem);
    *state = (struct al_upstream_state){ .phase = AL_UPSTREAM_IDLE };
}
