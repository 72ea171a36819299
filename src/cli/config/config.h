// SPDX-License-Identifier: Apache-2.0
/*
 * The user's configuration: one struct, filled from one TOML file and from command-line options.
 *
 * The file is the one named with --config, else $XDG_CONFIG_HOME/airlock/config.toml
 * (~/.config/airlock/config.toml without that variable), else /etc/airlock/config.toml.  A wrong
 * key, type or bound is an error that names file, line and key; an unknown key is wrong.
 */
#ifndef AL_CLI_CONFIG_CONFIG_H
#define AL_CLI_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "guard/approval.h"
#include "guard/grant.h"
#include "guard/policy.h"
#include "guard/program.h"
#include <stddef.h>

struct al_options;

/** The limits of clients over HTTP. */
struct al_serve_limits {
    uint32_t max_body;              /**< bytes of a request's body */
    uint32_t max_headers;           /**< bytes of a request's headers */
    uint32_t connections;           /**< of all clients */
    uint32_t connections_per_token; /**< of one token's clients */
    uint32_t calls;                 /**< of tools, in flight at once */
    uint32_t calls_per_token;
    uint32_t sessions_per_token;
    uint32_t request_s; /**< seconds for a whole request to arrive */
    uint32_t stall_s;   /**< seconds that a client may read nothing of its answer */
    uint32_t idle_s;    /**< seconds until a session ends that is not used */
    uint32_t drain_s;   /**< seconds that calls in flight get at the end; 0: none */
};

#define AL_MCP_SERVER_NAME_MAX_BYTES 32u

/** One server.  All strings are owned. */
struct al_mcp_server {
    /** Letters, digits, '-' and '_'.  It neither contains "__" nor ends with '_', so the server and
     * the tool can be told from the name "mcp__NAME__tool". */
    char *name;
    struct al_strv command; /**< the program and its arguments; never empty */
    struct al_strv env;     /**< "NAME=value", in addition to the standard environment */
    bool limits_tools;      /**< false: every tool of the server is mounted */
    struct al_strv tools;   /**< the server's own names of the tools that are mounted */
    bool confine;           /**< false: the server runs with the rights of the user */
    uint32_t timeout_ms;    /**< for the start, for a list and for each call */
    struct {
        struct al_strv read, write, exec; /**< absolute paths, beside the roots */
        bool network;
    } allow;       /**< what a confined server may use */
    unsigned line; /**< of the file, where the server begins */
};

/** The configured servers, sorted by name. */
struct al_mcp_servers {
    struct al_mcp_server *items;
    size_t count;
};

/** Treatment of a destructive call when no checkpoint can be created before it. */
enum al_snapshot_failure { AL_SNAPSHOT_FAILURE_REFUSE, AL_SNAPSHOT_FAILURE_WARN };

/** The answer of `airlock hook` before a tool when there is no checkpoint. */
enum al_hook_failure { AL_HOOK_FAILURE_ALLOW, AL_HOOK_FAILURE_DENY };

/** The place of the sandbox's files. */
enum al_staging_backend { AL_STAGING_MEMORY, AL_STAGING_DIRECTORY };

/** The way a user is told that a question waits. */
enum al_notify { AL_NOTIFY_NONE, AL_NOTIFY_BELL, AL_NOTIFY_SEND };

struct al_config {
    char *file; /**< the file that was read; NULL: none */

    struct al_strv toolsets;            /**< toolsets; default "everyday" */
    struct al_strv roots;               /**< roots; empty: the default root */
    unsigned toolsets_line, roots_line; /**< of the file; 0: an option, or nothing, says them */

    struct {
        bool enabled;                    /**< tools.git.enabled: toolset git has its tools */
        uint32_t timeout_ms;             /**< tools.git.timeout_ms, 100..600000 */
        uint32_t max_bytes;              /**< tools.git.max_bytes, 1..5000000 */
        uint64_t max_fetch_bytes;        /**< tools.git.max_fetch_bytes: written by one transfer */
        struct al_strv credential_hosts; /**< tools.git.credential_hosts, each checked */
        bool prefer_mcp; /**< tools.git.prefer_mcp: a mounted tool replaces the native one of its
                            name, and not the other way round */
    } git;

    struct {
        bool allow_absolute;      /**< tools.sandbox.allow_absolute */
        bool require_confinement; /**< tools.sandbox.require_confinement */
        struct al_strv git_dirs;  /**< tools.sandbox.git_dirs, absolute */
    } sandbox;

    struct {
        struct al_strv whitelist;    /**< tools.shell.command_whitelist */
        struct al_strv tool;         /**< tools.shell.tool, --tool, each word checked */
        uint32_t timeout_s;          /**< tools.shell.command_timeout, --command-timeout, 1..600 */
        enum al_isolation isolation; /**< tools.shell.isolation */
    } shell;

    struct al_strv env_allow; /**< tools.environment.allow, each name checked */

    struct {
        enum al_approval_mode mode; /**< tools.approval.mode */
        uint32_t wait_s;         /**< tools.approval.wait_s: how long a question waits, 1..86400 */
        struct al_policy policy; /**< tools.approval.rule, in the file's order */
    } approval;

    struct {
        char *file;             /**< journal.file, --audit; NULL: the default place */
        uint32_t max_log_bytes; /**< journal.max_log_bytes: a larger log is rotated */
        bool checkpoints;       /**< journal.checkpoints; --no-git sets it false */
        enum al_snapshot_failure on_snapshot_failure;
        uint64_t max_store_bytes;       /**< journal.max_store_bytes, for each repository */
        uint32_t max_age_days;          /**< journal.max_age_days */
        uint32_t max_file_bytes;        /**< journal.max_file_bytes: larger files are left out */
        struct al_strv include_ignored; /**< journal.include_ignored: globs */
    } journal;

    struct {
        enum al_hook_failure on_failure; /**< hooks.on_failure */
    } hooks;

    struct {
        enum al_staging_backend backend; /**< staging.backend */
        char *path;                      /**< staging.path: of the workspace; may be relative */
        char *author;          /**< staging.author: "Name <mail>"; NULL: the user of git */
        uint64_t max_bytes;    /**< staging.max_bytes: see al_sandbox_options */
        char *github_base_url; /**< staging.github_base_url */
        bool allow_symlinks;   /**< staging.allow_symlinks: they may be staged */
    } staging;

    struct {
        char *dir;    /**< worktrees.dir: absolute, or relative to the main working tree */
        uint32_t max; /**< worktrees.max: linked worktrees below it, 1..1000 */
    } worktrees;

    struct {
        char *agent;  /**< serve.agent, --agent: the agent's name; NULL: another name */
        char *grant;  /**< serve.grant, --grant; NULL: everything */
        bool verbose; /**< serve.verbose, -v: write to stderr what each call does */
        char
            *worker; /**< serve.worker, --worker: a worker file (cli/config/worker.h); NULL: none */

        struct al_strv http;    /**< serve.http, --http: places to listen at; empty: serve stdio */
        char *token_file;       /**< serve.token_file, --token-file; NULL: a token is made */
        bool no_token;          /**< serve.no_token, --no-token: everybody may come in */
        char *tls_cert;         /**< serve.tls_cert, --tls-cert; NULL: no TLS */
        char *tls_key;          /**< serve.tls_key, --tls-key; NULL: no TLS */
        bool behind_proxy;      /**< serve.behind_proxy, --behind-proxy: a proxy does TLS */
        struct al_strv hosts;   /**< serve.hosts: accepted in Host, each checked */
        struct al_strv origins; /**< serve.origins: accepted in Origin, each checked */
        struct al_serve_limits limits;
    } serve;

    struct {
        enum al_notify notify; /**< review.notify: when a question comes while a review is open */
    } review;

    char *shell_grant;       /**< shell.grant, of `airlock git` and its like; NULL: serve.grant */
    struct al_grants grants; /**< grants.NAME */

    struct {
        struct al_mcp_servers servers; /**< mcp.servers.NAME */
    } mcp;
};

/** Set the defaults, as if there were no file.  Release with al_config_clear(). */
void al_config_init(struct al_config *config);
void al_config_clear(struct al_config *config);

/**
 * Find and read the configuration; keys that the file does not have keep their values.  No file at
 * all is fine, unless `path` names one.
 *
 * @param path             From --config; NULL: the first of the standard files that exists.
 * @param env_config_home  $XDG_CONFIG_HOME; may be NULL.
 * @param home             $HOME; may be NULL.
 * @return 0, or AL_ERR_BAD_ARGS with "<file>:<line>: <key>: <what is wrong>" or "<file>: cannot
 *         read: <why>"; then `config` has the defaults.
 */
int al_config_load(struct al_config *config, const char *path, const char *env_config_home,
                   const char *home, struct al_error *err);

/** Put "<file>:<line>: <key>: " before the message of an error about what the file says there, and
 * return `r`.  Nothing is put before it if `r` is 0 or `line` is. */
int al_config_error(const struct al_config *config, unsigned line, const char *key, int r,
                    struct al_error *err);

/** Take the options of the command line.  0, or AL_ERR_BAD_ARGS, naming the option. */
int al_config_take_options(struct al_config *config, const struct al_options *options,
                           struct al_error *err);

void al_mcp_servers_clear(struct al_mcp_servers *servers);

#endif
