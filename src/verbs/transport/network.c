// SPDX-License-Identifier: Apache-2.0
#include "verbs/transport/network.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/secret.h"
#include "git/command.h"
#include "git/git_lock.h"
#include "git/layer.h"
#include "git/location.h"
#include "git/plumbing/revision.h"
#include "git/repo/remotes.h"
#include "git/repo/repo.h"
#include "git/repo/write_lock.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/env.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "guard/url.h"
#include "verbs/transport/credential.h"

/* One run of a command over the exchange. */
struct network_job {
    struct al_network *network;
    struct al_git_command *command;
    struct al_git_link *link; /* the command's; filled by the function that runs the job */
    size_t max_bytes;
    struct al_run_limits *budget;
};

/* --- Network config --- */

/* Configure the remote of this exchange.  Its url is the random name, which only our own insteadOf
 * rewrites: a rule of the repository would have to contain the name, or match a shorter prefix,
 * and the longest match wins. */
static void add_remote(struct al_strv *config, const struct al_network *network,
                       const char *address)
{
    const char *name = network->name;
    const struct al_remote *remote = network->remote;

    al_strv_addf(config, "url.%s.insteadof", address);
    al_strv_add(config, name);
    al_strv_addf(config, "url.%s.insteadof", address); /* for git clone, which takes no bare name */
    al_strv_addf(config, "%s:/", name);
    al_strv_addf(config, "remote.%s.url", name);
    al_strv_add(config, name);
    al_strv_addf(config, "remote.%s.pushurl", name);
    al_strv_add(config, name);
    for (size_t i = 0; i < remote->refspecs.count; i++) {
        al_strv_addf(config, "remote.%s.fetch", name);
        al_strv_add(config, remote->refspecs.items[i]);
    }
    if (network->is_partial) {
        al_strv_addf(config, "remote.%s.promisor", name);
        al_strv_add(config, "true");
        al_strv_addf(config, "remote.%s.partialclonefilter", name);
        al_strv_adds(config, "blob:none", "fetch.negotiationalgorithm", "noop", NULL);
        al_strv_adds(config, "protocol.version", "2", NULL); /* a file can be asked for by its id */
    }
    if (network->is_shown)
        al_network_add_upstream(config, network);
    if (remote->tag_option) {
        al_strv_addf(config, "remote.%s.tagopt", name);
        al_strv_add(config, remote->tag_option);
    }
    al_strv_adds(config, "credential.helper", "", "push.pushoption", "", "transfer.bundleuri",
                 "false", "core.alternaterefscommand", ":", NULL);
    if (network
            ->uses_github_token) /* the branch of an empty repository on a server that names none */
        al_strv_adds(config, "init.defaultbranch", "main", NULL);
    /* Keep every transfer as one pack, so that the limit of a file is the limit of a transfer. */
    al_strv_adds(config, "fetch.unpacklimit", "1", "transfer.unpacklimit", "1",
                 "fetch.uriprotocols", "", NULL);
}

/* The proxy of the user's configuration or environment; "" for none. */
static const char *proxy_for(const struct al_network *network)
{
    static const char *const of_http[] = { "http_proxy", "all_proxy", "ALL_PROXY" };
    static const char *const of_https[] = { "https_proxy", "HTTPS_PROXY", "all_proxy",
                                            "ALL_PROXY" };
    bool secure = !strcmp(network->url.protocol, "https");
    const char *const *names = secure ? of_https : of_http;
    size_t count = secure ? AL_COUNT(of_https) : AL_COUNT(of_http);

    if (network->repo->vetting->proxy)
        return network->repo->vetting->proxy;
    for (size_t i = 0; i < count; i++) {
        const char *value = al_env_get(&network->repo->at.git->env_network, names[i]);

        if (value)
            return value;
    }
    return "";
}

/* Override the http settings that a repository must not decide: once without an address, and once
 * for this address, which no other key matches more closely. */
static void add_http(struct al_strv *config, const struct al_network *network)
{
    const struct {
        const char *variable, *value;
    } rows[] = {
        { "proxy", proxy_for(network) },
        { "sslverify", "true" },
        { "cookiefile", "" },
        { "savecookies", "false" },
        { "extraheader", "" },
        { "curloptresolve", "" },
        { "followredirects", network->uses_github_token ? "false" : "initial" },
        { "emptyauth", "false" },
        { "delegation", "none" },
    };

    for (size_t i = 0; i < AL_COUNT(rows); i++) {
        al_strv_addf(config, "http.%s", rows[i].variable);
        al_strv_add(config, rows[i].value);
        al_strv_addf(config, "http.%s.%s", network->url.bare, rows[i].variable);
        al_strv_add(config, rows[i].value);
    }
}

static void add_env(struct al_strv *env, const struct al_network *network)
{
    const struct al_git *git = network->repo->at.git;
    bool ssh = network->url.kind == AL_URL_SSH;

    if (network->url.kind == AL_URL_GIT)
        return;
    for (size_t i = 0; i < git->env_network.count; i++)
        if (ssh == al_starts_with(git->env_network.items[i], "SSH_AUTH_SOCK="))
            al_strv_add(env, git->env_network.items[i]);
    if (ssh) {
        /* A single word, found in PATH: git passes anything else to a shell. */
        al_strv_addf(env, "PATH=/usr/bin:/bin:%s", git->private_dir);
        al_env_add(env, "GIT_SSH_COMMAND", "airlock-ssh");
        al_env_add(env, "AIRLOCK_SSH", git->options.ssh);
    } else if (network->repo->vetting->ca_path && !al_env_get(env, "GIT_SSL_CAINFO")) {
        al_env_add(env, "GIT_SSL_CAINFO", network->repo->vetting->ca_path);
    }
}

static void add_config(struct al_strv *config, const struct al_network *network,
                       const char *address)
{
    add_remote(config, network, address);
    if (network->url.kind == AL_URL_HTTP)
        add_http(config, network);
}

/* Run the command once over the network.  `answers` is the file for our askpass, -1: none. */
static int network_run_once(const struct network_job *job, int answers,
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

    add_config(&config, network, network->url.bare);
    add_env(&env, network);
    if (answers >= 0) {
        al_strv_addf(&env, "GIT_ASKPASS=%s/airlock-askpass", network->repo->at.git->private_dir);
        al_strv_addf(&env, "AIRLOCK_ANSWERS=%d", answers);
        link->fds = &answers;
        link->nfds = 1;
    }
    link->protocol = network->url.protocol;
    link->max_file_bytes = network->repo->at.git->options.max_fetch_bytes;
    link->config = &config;
    link->env = &env;
    job->command->class = classes[network->url.kind];
    return al_git_run(&network->repo->at, job->command,
                      &(struct al_git_run){ .max_bytes = job->max_bytes }, ret_output, err);
}

/* --- Http auth --- */

/* Exchanges over http, with credentials where the server asks for them. */

static int refused(const struct al_network *network, struct al_error *err)
{
    const bool token = network->uses_github_token;

    return al_remote_error(err,
                           token ? "The token may be expired or revoked: set another GITHUB_TOKEN "
                                   "and restart airlock, or run `gh auth login`."
                                 : "The user can put the right ones into their credential helper, "
                                   "or sign in there once with git.",
                           "%s does not accept the %s it was given", network->url.origin,
                           token ? "token" : "credentials");
}

static int run_with(const struct network_job *job, const char *user, const char *password,
                    struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_closep) int answers = al_credential_answers(&job->network->url, user, password);

    if (answers < 0)
        return al_error_errno(err, errno, "cannot hand over the credentials");
    return network_run_once(job, answers, ret_output, err);
}

/* An agent can choose addresses, and a helper without a host would give its token to each of them.
 * So helpers are asked only for the hosts that the user listed, and for addresses that are the
 * user's own over https. */
static bool may_have_credentials(const struct al_network *network)
{
    const struct al_repo *repo = network->repo;

    if (al_credential_hosts_match(repo->at.git->options.credential_hosts, &network->url))
        return true;
    return !strcmp(network->url.protocol, "https") &&
           !al_remote_address_is_new(repo, network->remote->name, network->address, AL_FETCHES);
}

static int withheld(const struct al_network *network, struct al_error *err)
{
    if (strcmp(network->url.protocol, "https") != 0)
        return al_remote_error(
            err,
            "Use https; or the user can list the server with its scheme and port "
            "in credential_hosts of [tools.git]: [\"http://host:port\"].",
            "%s asks for a user and a password, and gets none over plain http",
            network->url.origin);
    return al_remote_error(err,
                           "The user can list the host in credential_hosts of [tools.git] in the "
                           "configuration of airlock.",
                           "%s asks for a user and a password, and gets none: this address was "
                           "added or changed in this session, and the user did not agree to it",
                           network->url.origin);
}

/* The answer to a server that asks: the token for GitHub, or what the user's helpers have. */
static int find_credential(const struct network_job *job, struct al_credential *ret_credential,
                           struct al_error *err)
{
    const struct al_network *network = job->network;
    struct al_git *git = network->repo->at.git;
    bool found;
    int r;

    if (network->uses_github_token)
        return al_github_is_safe(&network->url)
                   ? al_github_token(git, &network->url, job->budget, ret_credential, err)
                   : withheld(network, err);
    if (!may_have_credentials(network))
        return withheld(network, err);
    r = al_credential_fill(git, &network->url, job->budget, ret_credential, &found, err);
    return r < 0 || found
               ? r
               : al_remote_error(err,
                                 "The user can set up a credential helper, or sign in there once "
                                 "with git; airlock never prompts.",
                                 "%s asks for a user and a password, and no credential helper has "
                                 "them",
                                 network->url.origin);
}

static int run_with_credential(const struct network_job *job, struct al_git_output *ret_output,
                               struct al_error *err)
{
    al_auto(al_credential_clear) struct al_credential credential = AL_CREDENTIAL_INIT;
    const struct al_network *network = job->network;
    bool right;
    int r = find_credential(job, &credential, err);

    if (r == 0)
        r = run_with(job, credential.user, credential.password, ret_output, err);
    if (r < 0)
        return r;
    right = !al_remote_asked_credentials(ret_output);
    if (!network->uses_github_token)
        al_credential_report(network->repo->at.git, &credential, right, job->budget);
    if (right)
        return 0;
    al_git_output_clear(ret_output);
    return refused(network, err);
}

/* Run a job over http: without credentials unless the address has some, so that what is public
 * needs no token; and once more when the server asks for them.  Returns as al_network_run(). */
static int network_run_http(const struct network_job *job, struct al_git_output *ret_output,
                            struct al_error *err)
{
    struct al_network *network = job->network;
    const struct al_url *url = &network->url;
    const bool has_own = url->password && !network->uses_github_token;
    struct al_git_output output;
    int r;

    if (network->was_asked)
        return run_with_credential(job, ret_output, err);
    r = has_own ? run_with(job, url->user, url->password, &output, err)
                : network_run_once(job, -1, &output, err);
    if (r < 0)
        return r;
    if (!al_remote_asked_credentials(&output)) {
        *ret_output = output;
        return 0;
    }
    al_git_output_clear(&output);
    if (has_own)
        return refused(network, err);
    network->was_asked = network->uses_github_token; /* the next exchange begins with it */
    return run_with_credential(job, ret_output, err);
}

/* --- Local server --- */

/*
 * The other repository is on this machine: git's server for it runs beside the client, confined and
 * with our overrides, and the two talk over a socket.  Neither a shell nor a hook is started.
 */

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

    pthread_t thread; /* the members above belong to it once it runs */
};

static void *serve(void *payload)
{
    struct server *server = payload;
    al_auto(al_strv_clear) struct al_strv config = AL_STRV_INIT;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    const struct al_git_link link = {
        .protocol = "none",
        .config = &config,
        .has_job = true,
        .max_file_bytes = server->repo->at.git->options.max_fetch_bytes,
    };
    struct al_location at = server->repo->at;
    bool pushes = server->direction == AL_PUSHES;

    at.budget = &server->budget;
    /* A push moves references of the other repository, never its files: a change of files needs
     * rules, grants and a checkpoint of its own.  So the checked-out branch is refused too. */
    al_strv_adds(&config, "receive.denycurrentbranch", "refuse", NULL);
    command.link = &link;
    command.finds_itself = true;
    command.in_fd = command.out_fd = server->socket_fd;
    command.cwd_fd = server->dir_fd;
    command.class = pushes ? AL_GIT_WRITE : AL_GIT_READ;
    command.starts_children = true; /* pack-objects, unpack-objects, index-pack, rev-list */
    if (pushes)
        al_strv_adds(&command.argv, "git", "receive-pack", ".", NULL);
    else
        al_strv_adds(&command.argv, "git", "upload-pack", "--strict", ".", NULL);
    server->r = al_git_run(&at, &command, &(struct al_git_run){ .max_bytes = SERVER_ERR_MAX_BYTES },
                           &server->output, &server->err);
    al_closep(&server->socket_fd);
    return NULL;
}

/* The job is acquired before both budgets start, so waiting for it counts for neither side. */
static int run_client(const struct network_job *job, struct server *server,
                      struct al_git_output *ret_output, struct al_error *err)
{
    const int error = al_thread_start(&server->thread, SERVER_STACK_BYTES, serve, server);
    int r;

    if (error) {
        al_close(job->link->fds[0]);
        al_close(server->socket_fd);
        return al_error_errno(err, error, "cannot start a thread for the other repository");
    }
    r = al_git_run(&job->network->repo->at, job->command,
                   &(struct al_git_run){ .max_bytes = job->max_bytes }, ret_output, err);
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

static int run_both(const struct network_job *job, struct al_git_output *ret_output,
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
    int fds[2], r;

    r = al_proc_acquire_job(job->budget->cancel, err);
    if (r < 0)
        return r;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
        r = al_error_errno(err, errno, "cannot connect two gits");
        al_proc_release_job();
        return r;
    }
    server.socket_fd = fds[1];
    address = al_asprintf("fd::%d/%s", fds[0],
                          network->is_shown ? network->url.shown : network->other->at.git_dir);
    add_config(&config, network, address);
    *job->link = (struct al_git_link){
        .protocol = "fd",
        .config = &config,
        .fds = &fds[0],
        .nfds = 1,
        .has_job = true,
        .max_file_bytes = network->repo->at.git->options.max_fetch_bytes,
        .progress = job->link->progress,
    };
    job->command->class = AL_GIT_WRITE;
    r = run_client(job, &server, ret_output, err);
    al_proc_release_job();
    if (r == 0 && server.r == 0 && ret_output->exit_code != 0) /* what the server says comes last */
        al_str_add(&ret_output->err.out, server.output.err.out.buf, server.output.err.out.len);
    al_git_output_clear(&server.output);
    al_error_clear(&server.err);
    return r;
}

/* Run a job whose exchange is with a repository on this machine.  Returns as al_network_run(). */
static int network_run_local(const struct network_job *job, struct al_git_output *ret_output,
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

/* --- Leftovers --- */

/* Temporary files of a failed or killed transfer, which comes as a pack.  git gives unfinished ones
 * temporary names, and removes them only with `git gc`, weeks later. */

/* File times tick more coarsely than the clock. */
#define TICK_NS 20000000

static bool is_temporary(const char *name)
{
    static const char *const beginnings[] = { "tmp_pack_", "tmp_idx_", "tmp_rev_" };

    for (size_t i = 0; i < AL_COUNT(beginnings); i++)
        if (al_starts_with(name, beginnings[i]))
            return true;
    return false;
}

/* Remove temporary files of packs that are not older than `since`.  Call it when all processes of
 * the transfer have ended.  A file that a process has open could belong to another program, and
 * each to another git that works in the repository. */
static void leftovers_remove(const struct al_repo *repo, int64_t since)
{
    al_auto(al_closep) int common_fd = -1;
    al_auto(al_closedirp) DIR *dir = NULL;
    const struct dirent *entry;
    struct stat st;

    if (al_location_open_common_dir(&repo->at, &common_fd, NULL) < 0)
        return;
    dir = al_fs_list(al_nofollow_open(common_fd, "objects/pack", O_RDONLY | O_DIRECTORY));
    while (dir && (entry = readdir(dir)))
        if (is_temporary(entry->d_name) &&
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            al_file_id_from(&st).ctime_ns >= since && al_git_lock_has_no_holder(&repo->at, &st))
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
}

/* --- Network --- */

/* A random name, for which nobody can have written configuration in advance. */
#define NAME_BYTES 16

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

static int open_other(struct al_network *network, struct al_error *err)
{
    int r;

    if (network->url.kind != AL_URL_PATH)
        return 0;
    r = al_repo_open_at(network->repo->at.git, network->repo->at.top, network->url.path,
                        network->repo->at.budget, &network->other, err);
    if (r == 0)
        return hold_other(network, err);
    if (err && (r == AL_ERR_EXECUTION || r == AL_ERR_SANDBOX)) {
        err->code = AL_CODE_REMOTE_ERROR;
        err->remedy = "The other repository has to be inside of the roots; the user adds it to "
                      "`roots` in the configuration file, which then names this repository too.";
    }
    return r;
}

static int check_programs(const struct al_network *network, struct al_error *err)
{
    const struct al_git *git = network->repo->at.git;

    if (network->url.kind == AL_URL_SSH && !git->options.ssh)
        return al_remote_error(err, "The user can install it, or use https.",
                               "There is no ssh on this machine");
    if (network->url.kind == AL_URL_HTTP && (!git->http_helper || access(git->http_helper, X_OK)))
        return al_remote_error(err, "The user can install it, or use ssh.",
                               "This git has no helper for http");
    return 0;
}

int al_network_begin(const struct al_repo *repo, const struct al_remote *remote,
                     const char *address, enum al_direction direction,
                     struct al_network **ret_network, struct al_error *err)
{
    al_auto(al_network_endp) struct al_network *network = al_calloc(1, sizeof(*network));
    char unknown[2 * NAME_BYTES + 1];
    int r;

    network->repo = repo;
    network->remote = remote;
    network->direction = direction;
    network->url = AL_URL_INIT;
    network->address = al_strdup(address);
    network->repository_id = al_strdup("");
    network->other_fd = -1;
    al_random_hex(NAME_BYTES, unknown);
    network->name = al_asprintf("airlock-%s", unknown);
    r = al_url_parse(address, &network->url, err);
    if (r == 0)
        r = check_programs(network, err);
    if (r == 0)
        r = open_other(network, err);
    if (r == 0)
        r = al_git_note_pushed(repo, err);
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

const char *al_network_shown(const struct al_network *network)
{
    return network->other ? network->other->at.git_dir : network->url.shown;
}

void al_network_hide_descriptor(const struct al_str *text, struct al_str *out)
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
        al_network_hide_descriptor(text, &out);
    else
        al_url_redact(text->buf, text->len, &out);
    al_str_clear(text);
    *text = out;
}

int al_network_run(struct al_network *network, struct al_git_command *command, size_t max_bytes,
                   const struct al_progress *progress, struct al_git_output *ret_output,
                   struct al_error *err)
{
    struct al_git_link link = { .progress = progress };
    const struct network_job job = { network, command, &link, max_bytes, network->repo->at.budget };
    const int64_t since = al_clock_ns() - TICK_NS; /* no file of the transfer is older */
    int r;

    command->link = &link;
    command->starts_children = true; /* helpers, pack-objects, index-pack, rev-list */
    if (network->other)
        r = network_run_local(&job, ret_output, err);
    else if (network->url.kind == AL_URL_HTTP)
        r = network_run_http(&job, ret_output, err);
    else
        r = network_run_once(&job, -1, ret_output, err);
    command->link = NULL;
    if (r < 0 || ret_output->exit_code != 0)
        leftovers_remove(network->repo, since);
    if (r < 0)
        return r;
    clean(network, &ret_output->out.out);
    clean(network, &ret_output->err.out);
    return 0;
}

int al_network_failed(const struct al_network *network, const struct al_git_output *output,
                      struct al_error *err)
{
    al_auto(al_freep) char *where = al_asprintf("'%s'", al_network_shown(network));

    return al_remote_failed(output, where, err);
}
