// SPDX-License-Identifier: Apache-2.0
#include "gitops/transport/network_config.h"

#include "gitops/layer.h"
#include "gitops/transport/exchange.h"
#include "gitops/vet/vet.h"
#include "guard/env.h"

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

void al_network_add_env(struct al_strv *env, const struct al_network *network)
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
        al_strv_addf(env, "PATH=/usr/bin:/bin:%s/bin", git->private_dir);
        al_env_add(env, "GIT_SSH_COMMAND", "airlock-ssh");
        al_env_add(env, "AIRLOCK_SSH", git->ssh);
    } else if (network->repo->vetting->ca_path && !al_env_get(env, "GIT_SSL_CAINFO")) {
        al_env_add(env, "GIT_SSL_CAINFO", network->repo->vetting->ca_path);
    }
}

void al_network_add_config(struct al_strv *config, const struct al_network *network,
                           const char *address)
{
    add_remote(config, network, address);
    if (network->url.kind == AL_URL_HTTP)
        add_http(config, network);
}
