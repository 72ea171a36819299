// SPDX-License-Identifier: Apache-2.0
/* The other MCP servers of a session. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/environment.h"
#include "cli/setup.h"
#include "tools/upstream/mounts.h"

extern char **environ;

/* A directory below "run", with the process and a number behind it. */
#define SERVERS_DIR "mcp-"

/* Rules, grants and the key of the journal are out of reach for what an agent can start. */
static int check_path(const struct al_setup *setup, const struct al_mcp_server *server,
                      const char *key, const char *path, struct al_error *err)
{
    const struct al_strv none = AL_STRV_INIT;
    bool contains;
    al_auto(al_freep) char *found = al_setup_overlap(setup, &none, path, &contains);

    if (!found)
        return 0;
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "%s:%u: mcp.servers.%s.allow.%s: '%s' %s airlock's own '%s'; name %s",
                        setup->config.file ? setup->config.file : "", server->line, server->name,
                        key, path, contains ? "contains" : "lies in", found,
                        contains ? "directories that do not" : "a directory elsewhere");
}

static int check_paths(const struct al_setup *setup, const struct al_mcp_server *server,
                       struct al_error *err)
{
    const struct {
        const char *key;
        const struct al_strv *paths;
    } lists[] = {
        { "read", &server->allow.read },
        { "write", &server->allow.write },
        { "exec", &server->allow.exec },
    };
    int r = 0;

    for (size_t i = 0; i < AL_COUNT(lists); i++)
        for (size_t k = 0; r == 0 && k < lists[i].paths->count; k++)
            r = check_path(setup, server, lists[i].key, lists[i].paths->items[k], err);
    return r;
}

/* Whether a grant can include a tool of the server; if it cannot, the server is never started. */
static bool may_be_granted(const struct al_grant *grant, const char *server)
{
    al_auto(al_freep) char *prefix = al_asprintf(AL_MOUNTS_PREFIX "%s__", server);

    for (; grant; grant = grant->also) {
        bool may = !grant->limits_tools;

        for (size_t i = 0; !may && i < grant->tools.count; i++)
            may = al_policy_may_match_below(grant->tools.items[i], prefix);
        if (!may)
            return false;
    }
    return true;
}

/* A server can use everything below the roots, so the grant has to cover all of that. */
bool al_setup_may_mount(const struct al_setup *setup, const struct al_grant *grant)
{
    for (size_t i = 0; i < setup->roots.count; i++)
        if (al_grant_check_tree(grant, setup->roots.items[i].path, true, NULL) < 0)
            return false;
    return true;
}

static void add_server(const struct al_setup *setup, const struct al_mcp_server *server,
                       struct al_mount_options *options)
{
    char *scratch = al_asprintf("%s/%s", setup->servers_dir, server->name);

    *options = (struct al_mount_options){
        .settings = { .name = server->name,
                      .command = &server->command,
                      .env = &server->env,
                      .confine = server->confine,
                      .read = &server->allow.read,
                      .write = &server->allow.write,
                      .exec = &server->allow.exec,
                      .network = server->allow.network,
                      .timeout_ms = server->timeout_ms,
                      .roots = &setup->roots,
                      .path_list = al_environment_get("PATH"),
                      .environ_ = environ,
                      .scratch_dir = scratch,
                      .is_brief = !setup->asks_client,
                      .elicitation = setup->asks_client,
                      .sampling = setup->asks_client },
        .limits_tools = server->limits_tools,
        .tools = &server->tools,
    };
}

/* Remove what processes left that were killed.  Their servers were killed with them. */
static void sweep(const char *run)
{
    al_auto(al_closedirp) DIR *dir = opendir(run);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        al_auto(al_freep) char *path = al_fs_join(run, entry->d_name);
        char *end = NULL;
        long pid;

        if (!al_starts_with(entry->d_name, SERVERS_DIR))
            continue;
        pid = strtol(entry->d_name + strlen(SERVERS_DIR), &end, 10);
        if (*end == '-' && pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH)
            al_fs_remove_tree(path);
    }
}

/* A directory of this process alone; a server makes its own below it. */
static char *name_servers_dir(const struct al_setup *setup)
{
    al_auto(al_freep) char *run = al_fs_join(setup->state_dir, "run");

    if (setup->fallback_dir)
        return al_fs_join(setup->fallback_dir, "mcp");
    sweep(run);
    return al_asprintf("%s/" SERVERS_DIR "%ld-%lld", run, (long)getpid(), (long long)al_clock_ms());
}

int al_setup_upstream(struct al_setup *setup, struct al_error *err)
{
    const struct al_mcp_servers *servers = &setup->config.mcp.servers;
    al_auto(al_freep) struct al_mount_options *options = NULL;
    size_t count = 0;
    int r = 0;

    if (!servers->count)
        return 0;
    if (!al_setup_may_mount(setup, setup->session.grant)) {
        al_log_note("the grant '%s' does not cover all of the roots for writing, so no other MCP "
                    "server is started",
                    setup->session.grant->name);
        return 0;
    }
    setup->servers_dir = name_servers_dir(setup);
    options = al_calloc(servers->count, sizeof(*options));
    for (size_t i = 0; r == 0 && i < servers->count; i++) {
        r = check_paths(setup, &servers->items[i], err);
        if (r == 0 && may_be_granted(setup->session.grant, servers->items[i].name))
            add_server(setup, &servers->items[i], &options[count++]);
    }
    if (r == 0 && count)
        setup->session.mounts =
            al_upstream_mounts_new(options, count, &setup->registry, setup->config.git.prefer_mcp);
    for (size_t i = 0; i < count; i++)
        free((char *)options[i].settings.scratch_dir);
    return r;
}

void al_setup_clear_upstream(struct al_setup *setup)
{
    struct al_session *session = &setup->session;

    al_mounted_list_free(al_take(&setup->mounted));
    al_upstream_mounts_free(al_take(&session->mounts));
    if (setup->servers_dir)
        (void)rmdir(setup->servers_dir);
    free(al_take(&setup->servers_dir));
}

const struct al_mounted_list *al_setup_mounted(struct al_setup *setup)
{
    const struct al_mcp_servers *servers = &setup->config.mcp.servers;
    struct al_mounts *mounts = setup->session.mounts;
    uint32_t longest = 0; /* as long as the slowest server may take */

    for (size_t i = 0; i < servers->count; i++)
        if (servers->items[i].timeout_ms > longest)
            longest = servers->items[i].timeout_ms;
    al_mounts_await(mounts, longest, NULL);
    al_mounted_list_free(setup->mounted);
    setup->mounted = al_mounts_list(mounts);
    return setup->mounted;
}

int al_setup_find_mounted(struct al_setup *setup, const char *name,
                          const struct al_listed_tool **ret_tool, struct al_error *err)
{
    int r = al_grant_check_tool(setup->session.grant, name, err);

    return r < 0
               ? r
               : al_mounts_find(setup->session.mounts, name, NULL, &setup->mounted, ret_tool, err);
}
