// SPDX-License-Identifier: Apache-2.0
#include "gitops/transport/network.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/layer.h"
#include "gitops/location.h"
#include "gitops/plumbing/pushed.h"
#include "gitops/repo/remotes.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "gitops/transport/exchange.h"
#include "gitops/transport/http_auth.h"
#include "gitops/transport/leftovers.h"
#include "gitops/transport/local_server.h"
#include "gitops/transport/network_config.h"

#define NAME_BYTES 16

/* A random name, for which nobody can have written configuration in advance. */
static char *unknown_name(void)
{
    uint8_t bytes[NAME_BYTES];
    struct al_str name = AL_STR_INIT;

    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        return NULL;
    al_str_adds(&name, "airlock-");
    for (size_t i = 0; i < sizeof(bytes); i++)
        al_str_addf(&name, "%02x", bytes[i]);
    return al_str_detach(&name);
}

/* git's server gets an open descriptor, since the path could lead elsewhere by then. */
static int hold_other(struct al_network *network, struct al_error *err)
{
    int r = al_location_open_git_dir(&network->other->at, &network->other_fd, err);
    struct stat st;

    if (r == 0 && fstat(network->other_fd, &st) < 0)
        r = al_error_errno(err, errno, "cannot look at the other repository");
    if (r < 0)
        return r;
    free(network->repository_id);
    network->repository_id = al_asprintf("%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    return 0;
}

static int open_other(struct al_network *network, struct al_run_limits *budget,
                      struct al_error *err)
{
    int r;

    if (network->url.kind != AL_URL_PATH)
        return 0;
    r = al_repo_open_at(network->repo->at.git, network->repo->at.top, network->url.path, budget,
                        &network->other, err);
    if (r == 0)
        return hold_other(network, err);
    if (err && (r == AL_ERR_EXECUTION || r == AL_ERR_SANDBOX)) {
        err->code = AL_CODE_REMOTE_ERROR;
        err->remedy = "The other repository has to be one of yours, inside the roots; a user adds "
                      "a root with --root.";
    }
    return r;
}

static int check_programs(const struct al_network *network, struct al_error *err)
{
    const struct al_git *git = network->repo->at.git;

    if (network->url.kind == AL_URL_SSH && !git->ssh)
        return al_remote_error(err, "The user can install it, or use https.",
                               "There is no ssh on this machine");
    if (network->url.kind == AL_URL_HTTP && (!git->http_helper || access(git->http_helper, X_OK)))
        return al_remote_error(err, "The user can install it, or use ssh.",
                               "This git has no helper for http");
    return 0;
}

int al_network_begin(const struct al_repo *repo, const struct al_remote *remote,
                     const char *address, enum al_direction direction, struct al_run_limits *budget,
                     struct al_network **ret_network, struct al_error *err)
{
    al_auto(al_network_endp) struct al_network *network = al_calloc(1, sizeof(*network));
    int r;

    network->repo = repo;
    network->remote = remote;
    network->direction = direction;
    network->url = AL_URL_INIT;
    network->address = al_strdup(address);
    network->repository_id = al_strdup("");
    network->other_fd = -1;
    network->name = unknown_name();
    if (!network->name)
        return al_error_set(err, AL_ERR_EXECUTION, "The kernel has no random numbers yet");
    r = al_url_parse(address, &network->url, err);
    if (r == 0)
        r = check_programs(network, err);
    if (r == 0)
        r = open_other(network, budget, err);
    if (r == 0)
        r = al_git_note_pushed(repo, budget, err);
    if (r < 0)
        return r;
    *ret_network = al_take(&network);
    return 0;
}

static void end_network(struct al_network *network)
{
    if (!network)
        return;
    al_url_clear(&network->url);
    al_repo_free(network->other);
    al_close(network->other_fd);
    free(network->repository_id);
    free(network->address);
    free(network->name);
    free(network);
}

void al_network_endp(struct al_network **network)
{
    end_network(al_take(network));
}

const struct al_repo *al_network_other(const struct al_network *network)
{
    return network->other;
}

const char *al_network_repository_id(const struct al_network *network)
{
    return network->repository_id;
}

const char *al_network_name(const struct al_network *network)
{
    return network->name;
}

const char *al_network_shown(const struct al_network *network)
{
    return network->other ? network->other->at.git_dir : network->url.shown;
}

int al_network_run_once(const struct al_network_job *job, int answers,
                        struct al_git_output *ret_output, struct al_error *err)
{
    static const enum al_git_class classes[] = {
        [AL_URL_GIT] = AL_GIT_TCP,
        [AL_URL_SSH] = AL_GIT_SSH,
        [AL_URL_HTTP] = AL_GIT_HTTP,
    };
    const struct al_network *network = job->network;
    struct al_git_link *link = job->link;
    al_auto(al_strv_clear) struct al_strv config = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;

    al_network_add_config(&config, network, network->url.bare);
    al_network_add_env(&env, network);
    if (answers >= 0) {
        al_strv_addf(&env, "GIT_ASKPASS=%s/bin/airlock-askpass",
                     network->repo->at.git->private_dir);
        al_strv_addf(&env, "AIRLOCK_ANSWERS=%d", answers);
        link->fds = &answers;
        link->nfds = 1;
    }
    link->protocol = network->url.protocol;
    link->max_file_bytes = network->repo->at.git->max_fetch_bytes;
    link->config = &config;
    link->env = &env;
    job->command->class = classes[network->url.kind];
    return al_git_run(&network->repo->at, job->command,
                      &(struct al_git_run){ .max_bytes = job->max_bytes }, job->budget, ret_output,
                      err);
}

/* Remove "fd::<number>/" in front of a path, an internal name. */
static void hide_descriptor(const struct al_str *text, struct al_str *out)
{
    const char *from = text->buf, *mark;

    while ((mark = strstr(from, "fd::"))) {
        const char *end = mark + strlen("fd::");

        al_str_add(out, from, (size_t)(mark - from));
        end += strspn(end, "0123456789");
        from = *end == '/' ? end + 1 : end;
    }
    al_str_adds(out, from);
}

static void clean(const struct al_network *network, struct al_str *text)
{
    struct al_str out = AL_STR_INIT;

    if (network->other)
        hide_descriptor(text, &out);
    else
        al_url_redact(text->buf, text->len, &out);
    al_str_clear(text);
    *text = out;
}

int al_network_run(struct al_network *network, struct al_git_command *command, size_t max_bytes,
                   const struct al_progress *progress, struct al_run_limits *budget,
                   struct al_git_output *ret_output, struct al_error *err)
{
    struct al_git_link link = { .progress = progress };
    const struct al_network_job job = { network, command, &link, max_bytes, budget };
    const int64_t since = al_leftovers_since();
    int r;

    command->link = &link;
    command->starts_children = true; /* helpers, pack-objects, index-pack, rev-list */
    if (network->other)
        r = al_network_run_local(&job, ret_output, err);
    else if (network->url.kind == AL_URL_HTTP)
        r = al_network_run_http(&job, ret_output, err);
    else
        r = al_network_run_once(&job, -1, ret_output, err);
    command->link = NULL;
    if (r < 0 || ret_output->exit_code != 0)
        al_leftovers_remove(network->repo, since);
    if (r < 0)
        return r;
    clean(network, &ret_output->out.out);
    clean(network, &ret_output->err.out);
    return 0;
}
