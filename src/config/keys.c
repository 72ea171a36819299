// SPDX-License-Identifier: Apache-2.0
#include "config/keys.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "guard/agent.h"
#include "guard/env.h"
#include "guard/gitdir.h"
#include "guard/program.h"
#include "guard/url.h"
#include "http/origin.h"
#include "util/nearest.h"
#include "util/str.h"

/* An identity for commits: "Name <mail>". */
static int staging_check_author(const char *author, struct al_error *err)
{
    size_t name = strcspn(author, "<");
    const char *mail = author[name] ? author + name + 1 : "";
    size_t len = strcspn(mail, "<> ");
    bool named = strspn(author, " ") < name && author[0] != ' ' && name && author[name - 1] == ' ';

    for (const char *at = author; *at; at++)
        named = named && (unsigned char)*at >= 0x20 && *at != 0x7f;
    if (named && !memchr(author, '>', name) && len && !strcmp(mail + len, ">"))
        return 0;
    return al_error_set(err, AL_ERR_BAD_ARGS, "must be 'Name <mail>'");
}

static bool is_loopback(const char *host)
{
    return !strcmp(host, "localhost") || !strcmp(host, "::1") || !strcmp(host, "127.0.0.1");
}

/* The address that GitHub repositories are below: https, or http to this machine. */
static int staging_check_base_url(const char *address, struct al_error *err)
{
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_freep) char *whole = al_asprintf("%s/user/name", address);
    bool good = al_url_parse(whole, &url, &why) == 0 && url.kind == AL_URL_HTTP && url.host[0];

    if (strpbrk(address, "?#") || (good && (url.user || url.password)))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "must have no user, no password, no query and no fragment");
    if (!good || (strcmp(url.protocol, "https") != 0 && !is_loopback(url.host)))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "must begin with https:// (http:// only for localhost, 127.0.0.1 and "
                            "[::1])");
    return 0;
}

/* The offset of a field.  A field of another type does not compile. */
#define FIELD_OF(type, name, ctype)                                                                \
    (offsetof(type, name) + 0 * sizeof(&((type *)NULL)->name == (ctype *)NULL))
#define FIELD(name, ctype) .offset = FIELD_OF(struct al_config, name, ctype)
#define BOOL(name)         .kind = AL_KEY_BOOL, FIELD(name, bool)
#define UINT32(name, least, most)                                                                  \
    .kind = AL_KEY_UINT32, FIELD(name, uint32_t), .min = (least), .max = (most)
#define LIMIT(name, least, most) UINT32(serve.limits.name, least, most)
#define UINT64(name, least, most)                                                                  \
    .kind = AL_KEY_UINT64, FIELD(name, uint64_t), .min = (least), .max = (most)
#define STRING(name) .kind = AL_KEY_STRING, FIELD(name, char *)
#define STRINGS(name, least, most)                                                                 \
    .kind = AL_KEY_STRINGS, FIELD(name, struct al_strv), .min = (least), .max = (most)
#define ABS_FILE(name)      .kind = AL_KEY_ABS_FILE, FIELD(name, char *)
#define RELATIVE_FILE(name) .kind = AL_KEY_FILE, FIELD(name, char *)
/* The reader writes a choice as an unsigned int, so the enum has to have the same size. */
#define FITS(type) (0 * sizeof(char[sizeof(type) == sizeof(unsigned) ? 1 : -1]))
#define CHOICE(name, type, choice)                                                                 \
    .kind = AL_KEY_CHOICE, FIELD(name, type) + FITS(type), .words = (choice)
#define GRANTS(name)  .kind = AL_KEY_GRANTS, FIELD(name, struct al_grants)
#define SERVERS(name) .kind = AL_KEY_SERVERS, FIELD(name, struct al_mcp_servers)
#define RULES(name)   .kind = AL_KEY_RULES, FIELD(name, struct al_policy)
#define RULE_STRING(name)                                                                          \
    .kind = AL_KEY_RULE_STRING, .offset = FIELD_OF(struct al_rule, name, char *)
#define RULE_DECISION(name)                                                                        \
    .kind = AL_KEY_RULE_DECISION, .offset = FIELD_OF(struct al_rule, name, enum al_approval_mode), \
    .words = approval_modes

/* In the order of enum al_approval_mode. */
static const char *const approval_modes[] = { "ask", "allow", "deny", NULL };

/* In the order of enum al_snapshot_failure. */
static const char *const snapshot_failures[] = { "refuse", "warn", NULL };

/* In the order of enum al_isolation. */
static const char *const isolations[] = { "auto", "landlock", "firejail", "none", NULL };

/* In the order of enum al_notify. */
static const char *const notifications[] = { "none", "bell", "notify-send", NULL };

/* In the order of enum al_staging_backend. */
static const char *const staging_backends[] = { "memory", "directory", NULL };

static int check_absolute(const char *path, struct al_error *err)
{
    return *path == '/' ? 0 : al_error_set(err, AL_ERR_BAD_ARGS, "must be an absolute path");
}

/* A relative path leads down: airlock makes the directory, and git never lists it. */
static int check_worktrees_dir(const char *path, struct al_error *err)
{
    const char *part = *path == '/' ? path + 1 : path;

    while (*part) {
        size_t len = strcspn(part, "/");

        if (!len || (len == 1 && part[0] == '.') || (len == 2 && !strncmp(part, "..", 2)))
            break;
        part += len;
        if (!*part && !al_path_has_dot_git(path))
            return 0;
        part += *part == '/' && part[1] ? 1 : 0;
        if (*part == '/')
            break;
    }
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "must be the path of a directory without '.', '..', '.git' and a '/' at "
                        "its end");
}

static const struct al_key keys[] = {
    { "toolsets", "The tools that a session offers; --toolset.", STRINGS(toolsets, 1, 32) },
    { "roots", "Where an agent may work; --root.", STRINGS(roots, 0, 64) },

    { "tools.git.enabled", "false: a session has no tools at all.", BOOL(git.enabled) },
    { "tools.git.timeout_ms", "The time of a call.",
      UINT32(git.timeout_ms, AL_TIMEOUT_MS_MIN, AL_TIMEOUT_MS_MAX) },
    { "tools.git.max_bytes", "The size of a text result.",
      UINT32(git.max_bytes, AL_MAX_BYTES_MIN, AL_MAX_BYTES_MAX) },
    { "tools.git.max_fetch_bytes", "What one transfer may write.",
      UINT64(git.max_fetch_bytes, AL_FETCH_MAX_BYTES_MIN, AL_FETCH_MAX_BYTES_MAX) },
    { "tools.git.credential_hosts", "Servers that get credentials without a question.",
      STRINGS(git.credential_hosts, 0, 256), .check = al_credential_hosts_check },
    { "tools.git.require_signature", "true: refuse a commit that you want signed.",
      BOOL(git.require_signature) },
    { "tools.git.prefer_mcp", "true: other servers' tools win.", BOOL(git.prefer_mcp) },

    { "tools.sandbox.allow_absolute", "false: no absolute paths.", BOOL(sandbox.allow_absolute) },
    { "tools.sandbox.require_confinement", "true: no git without Landlock, or unwatched.",
      BOOL(sandbox.require_confinement) },
    { "tools.sandbox.git_dirs", "Git directories outside the roots (--separate-git-dir).",
      STRINGS(sandbox.git_dirs, 0, 64), .check = check_absolute },

    { "tools.shell.command_whitelist", "Commands of bash_command.",
      STRINGS(shell.whitelist, 0, 256), .check = al_whitelist_check },
    { "tools.shell.command_timeout", "Seconds of bash_command; --command-timeout.",
      UINT32(shell.timeout_s, AL_SHELL_TIMEOUT_S_MIN, AL_SHELL_TIMEOUT_S_MAX) },
    { "tools.shell.isolation", "What confines bash_command.",
      CHOICE(shell.isolation, enum al_isolation, isolations) },

    { "tools.environment.allow", "Variables that git may inherit.", STRINGS(env_allow, 0, 256),
      .check = al_env_check_allowed },

    { "tools.approval.mode", "For calls that no rule matches; --approval.",
      CHOICE(approval.mode, enum al_approval_mode, approval_modes) },
    { "tools.approval.wait_s", "How long a question waits.",
      UINT32(approval.wait_s, AL_APPROVAL_WAIT_S_MIN, AL_APPROVAL_WAIT_S_MAX) },
    { "tools.approval.rule", "The first that matches decides.", RULES(approval.policy) },
    { "tools.approval.rule.tool", "Names of tools, as a glob.", RULE_STRING(tool) },
    { "tools.approval.rule.operation", "Names of operations, as a glob.", RULE_STRING(operation) },
    { "tools.approval.rule.effect", "An effect.", RULE_STRING(effect),
      .check = al_policy_check_effect },
    { "tools.approval.rule.branch", "Branches, as a glob.", RULE_STRING(branch) },
    { "tools.approval.rule.path", "Paths from the top, as a glob.", RULE_STRING(path) },
    { "tools.approval.rule.decision", "What the rule decides.", RULE_DECISION(decision) },
    { "tools.approval.rule.message", "What the agent is told.", RULE_STRING(message) },

    { "journal.file", "The journal; --audit.", ABS_FILE(journal.file) },
    { "journal.max_log_bytes", "A log of this size is renamed, and a new one begun.",
      UINT32(journal.max_log_bytes, AL_LOG_MAX_BYTES_MIN, AL_LOG_MAX_BYTES_MAX) },
    { "journal.checkpoints", "false: no checkpoints; --no-git.", BOOL(journal.checkpoints) },
    { "journal.on_snapshot_failure", "Where work would be lost and no checkpoint can be taken.",
      CHOICE(journal.on_snapshot_failure, enum al_snapshot_failure, snapshot_failures) },
    { "journal.max_store_bytes", "Checkpoints of one repository; the oldest go first.",
      UINT64(journal.max_store_bytes, AL_STORE_MAX_BYTES_MIN, AL_STORE_MAX_BYTES_MAX) },
    { "journal.max_age_days", "Older checkpoints go.",
      UINT32(journal.max_age_days, AL_MAX_AGE_DAYS_MIN, AL_MAX_AGE_DAYS_MAX) },
    { "journal.max_file_bytes", "Larger files are left out of checkpoints, and named.",
      UINT32(journal.max_file_bytes, AL_SNAPSHOT_FILE_BYTES_MIN, AL_SNAPSHOT_FILE_BYTES_MAX) },
    { "journal.include_ignored", "Ignored files to save.",
      STRINGS(journal.include_ignored, 0, 256) },

    { "staging.backend", "Where the files of the sandbox are.",
      CHOICE(staging.backend, enum al_staging_backend, staging_backends) },
    { "staging.path", "The directory of the sandbox; .sandbox/workspace.", STRING(staging.path) },
    { "staging.author", "Of staged commits: 'Name <mail>'; else your own.", STRING(staging.author),
      .check = staging_check_author },
    { "staging.max_bytes", "The most that an agent can write.",
      UINT64(staging.max_bytes, AL_SANDBOX_MAX_BYTES_MIN, AL_SANDBOX_MAX_BYTES_MAX) },
    { "staging.github_base_url", "Where GitHub is; https://github.com.",
      STRING(staging.github_base_url), .check = staging_check_base_url },
    { "staging.allow_symlinks", "true: they may be staged.", BOOL(staging.allow_symlinks) },

    { "worktrees.dir", "Where git_worktree makes them; .worktrees in the main one.",
      STRING(worktrees.dir), .check = check_worktrees_dir },
    { "worktrees.max", "At most so many.",
      UINT32(worktrees.max, AL_WORKTREES_MAX_MIN, AL_WORKTREES_MAX_MAX) },

    { "review.notify", "Tells of a question while the screen is open.",
      CHOICE(review.notify, enum al_notify, notifications) },

    { "serve.agent", "The agent's name in the journal; --agent.", STRING(serve.agent),
      .check = al_agent_check_name },
    { "serve.grant", "The grant of sessions; --grant.", STRING(serve.grant) },
    { "serve.worker", "A worker file; --worker.", RELATIVE_FILE(serve.worker) },
    { "serve.http", "Serve over HTTP there; --http.", STRINGS(serve.http, 1, AL_SERVE_PLACES_MAX),
      .takes_one = true, .check = al_serve_check_place },
    { "serve.token_file", "Who may come in; --token-file.", RELATIVE_FILE(serve.token_file) },
    { "serve.no_token", "true: everybody, on loopback; --no-token.", BOOL(serve.no_token) },
    { "serve.tls_cert", "The certificate, PEM; --tls-cert.", RELATIVE_FILE(serve.tls_cert) },
    { "serve.tls_key", "Its key, yours alone; --tls-key.", RELATIVE_FILE(serve.tls_key) },
    { "serve.behind_proxy", "true: a proxy does TLS; --behind-proxy.", BOOL(serve.behind_proxy) },
    { "serve.hosts", "More names that Host may have.", STRINGS(serve.hosts, 0, AL_SERVE_NAMES_MAX),
      .check = al_http_check_host },
    { "serve.origins", "Origins of web pages that may connect.",
      STRINGS(serve.origins, 0, AL_SERVE_NAMES_MAX), .check = al_http_check_origin },
    { "serve.max_body", "Bytes of a body.", LIMIT(max_body, AL_SERVE_BODY_MIN, AL_SERVE_BODY_MAX) },
    { "serve.max_headers", "Bytes of its headers.",
      LIMIT(max_headers, AL_SERVE_HEADERS_MIN, AL_SERVE_HEADERS_MAX) },
    { "serve.connections", "At once.", LIMIT(connections, 1, AL_SERVE_CONNECTIONS_MAX) },
    { "serve.connections_per_token", "Of one token.",
      LIMIT(connections_per_token, 1, AL_SERVE_CONNECTIONS_MAX) },
    { "serve.calls", "In flight.", LIMIT(calls, 1, AL_SERVE_CALLS_MAX) },
    { "serve.calls_per_token", "Of one token.", LIMIT(calls_per_token, 1, AL_SERVE_CALLS_MAX) },
    { "serve.sessions_per_token", "Of a token.",
      LIMIT(sessions_per_token, 1, AL_SERVE_SESSIONS_MAX) },
    { "serve.request_s", "Until a whole request is there.",
      LIMIT(request_s, 1, AL_SERVE_WAIT_S_MAX) },
    { "serve.stall_s", "Until a silent reader is cut off.",
      LIMIT(stall_s, 1, AL_SERVE_WAIT_S_MAX) },
    { "serve.idle_s", "Until an unused session ends.", LIMIT(idle_s, 1, AL_SERVE_IDLE_S_MAX) },
    { "serve.drain_s", "What calls get at SIGTERM.", LIMIT(drain_s, 0, AL_SERVE_WAIT_S_MAX) },

    { "grants", "[grants.NAME] has tools and fs; see RULES.md.", GRANTS(grants) },

    { "mcp.servers", "[mcp.servers.NAME]; see UPSTREAM.md.", SERVERS(mcp.servers) },
};

const struct al_key *al_key_nth(size_t i)
{
    return i < AL_COUNT(keys) ? &keys[i] : NULL;
}

/* Whether `name` is a table that contains the key: "tools" and "tools.git" for "tools.git.enabled".
 */
static bool is_table_of(const char *name, size_t len, const char *path)
{
    return !strncmp(path, name, len) && path[len] == '.';
}

const struct al_key *al_key_find(const char *name, bool *ret_is_table)
{
    size_t len = strlen(name);

    *ret_is_table = false;
    for (size_t i = 0; i < AL_COUNT(keys); i++) {
        if (!strcmp(keys[i].path, name))
            return &keys[i];
        if (is_table_of(name, len, keys[i].path))
            *ret_is_table = true;
    }
    return NULL;
}

/* Keep the candidate, which is taken over, if it is nearer to `name` than the best word so far. */
static void take_if_nearer(const char *name, char *candidate, size_t *best, char **word)
{
    size_t edits = al_edit_distance(name, candidate);

    if (edits >= *best) {
        free(candidate);
        return;
    }
    free(*word);
    *word = candidate;
    *best = edits;
}

char *al_key_nearest(const char *name)
{
    size_t best = AL_NEAREST_MAX_EDITS + 1;
    char *word = NULL;

    for (size_t i = 0; i < AL_COUNT(keys); i++) {
        const char *path = keys[i].path, *end = path;

        do {
            end = strchr(end + 1, '.');
            take_if_nearer(name, al_strndup(path, end ? (size_t)(end - path) : strlen(path)), &best,
                           &word);
        } while (end);
    }
    return word;
}

void al_keys_clear(struct al_config *config)
{
    for (size_t i = 0; i < AL_COUNT(keys); i++) {
        void *field = (char *)config + keys[i].offset;

        switch (keys[i].kind) {
        case AL_KEY_STRING:
        case AL_KEY_ABS_FILE:
        case AL_KEY_FILE:
            free(*(char **)field);
            *(char **)field = NULL;
            break;
        case AL_KEY_STRINGS:
            al_strv_clear(field);
            break;
        case AL_KEY_GRANTS:
            al_grants_clear(field);
            break;
        case AL_KEY_SERVERS:
            al_mcp_servers_clear(field);
            break;
        case AL_KEY_RULES:
            al_policy_clear(field);
            break;
        case AL_KEY_BOOL:
        case AL_KEY_UINT32:
        case AL_KEY_UINT64:
        case AL_KEY_CHOICE:
        case AL_KEY_RULE_STRING: /* owned by the list of rules */
        case AL_KEY_RULE_DECISION:
            break;
        }
    }
}

static void copy_strings(struct al_strv *strings)
{
    const struct al_strv from = *strings;

    *strings = AL_STRV_INIT;
    for (size_t i = 0; i < from.count; i++)
        al_strv_add(strings, from.items[i]);
}

static void copy_grants(struct al_grants *grants)
{
    const struct al_grants from = *grants;

    al_grants_copy(grants, &from);
}

static void copy_servers(struct al_mcp_servers *servers)
{
    const struct al_mcp_servers from = *servers;

    al_mcp_servers_copy(servers, &from);
}

static void copy_rules(struct al_policy *policy)
{
    const struct al_policy from = *policy;

    al_policy_copy(policy, &from);
}

void al_keys_deep_copy(struct al_config *copy)
{
    for (size_t i = 0; i < AL_COUNT(keys); i++) {
        void *field = (char *)copy + keys[i].offset;

        switch (keys[i].kind) {
        case AL_KEY_STRING:
        case AL_KEY_ABS_FILE:
        case AL_KEY_FILE:
            *(char **)field = al_strdup(*(char **)field);
            break;
        case AL_KEY_STRINGS:
            copy_strings(field);
            break;
        case AL_KEY_GRANTS:
            copy_grants(field);
            break;
        case AL_KEY_SERVERS:
            copy_servers(field);
            break;
        case AL_KEY_RULES:
            copy_rules(field);
            break;
        case AL_KEY_BOOL:
        case AL_KEY_UINT32:
        case AL_KEY_UINT64:
        case AL_KEY_CHOICE:
        case AL_KEY_RULE_STRING:
        case AL_KEY_RULE_DECISION:
            break;
        }
    }
}

/* --- What differs in two readings --- */

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool are_same_strings(const struct al_strv *a, const struct al_strv *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return true;
}

static bool is_same_server(const struct al_mcp_server *a, const struct al_mcp_server *b)
{
    return !strcmp(a->name, b->name) && are_same_strings(&a->command, &b->command) &&
           are_same_strings(&a->env, &b->env) && a->limits_tools == b->limits_tools &&
           are_same_strings(&a->tools, &b->tools) && a->confine == b->confine &&
           a->timeout_ms == b->timeout_ms && are_same_strings(&a->allow.read, &b->allow.read) &&
           are_same_strings(&a->allow.write, &b->allow.write) &&
           are_same_strings(&a->allow.exec, &b->allow.exec) && a->allow.network == b->allow.network;
}

static bool are_same_servers(const struct al_mcp_servers *a, const struct al_mcp_servers *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!is_same_server(&a->items[i], &b->items[i]))
            return false;
    return true;
}

static bool is_same(const struct al_key *key, const void *a, const void *b)
{
    switch (key->kind) {
    case AL_KEY_BOOL:
        return *(const bool *)a == *(const bool *)b;
    case AL_KEY_UINT32:
        return *(const uint32_t *)a == *(const uint32_t *)b;
    case AL_KEY_UINT64:
        return *(const uint64_t *)a == *(const uint64_t *)b;
    case AL_KEY_CHOICE:
        return *(const unsigned *)a == *(const unsigned *)b;
    case AL_KEY_STRING:
    case AL_KEY_ABS_FILE:
    case AL_KEY_FILE:
        return is_same_text(*(char *const *)a, *(char *const *)b);
    case AL_KEY_STRINGS:
        return are_same_strings(a, b);
    case AL_KEY_SERVERS:
        return are_same_servers(a, b);
    case AL_KEY_GRANTS:
    case AL_KEY_RULES:
    case AL_KEY_RULE_STRING:
    case AL_KEY_RULE_DECISION:
        break;
    }
    return true;
}

void al_keys_changed(const struct al_config *before, const struct al_config *after,
                     struct al_strv *ret_names)
{
    for (size_t i = 0; i < AL_COUNT(keys); i++)
        if (!is_same(&keys[i], (const char *)before + keys[i].offset,
                     (const char *)after + keys[i].offset))
            al_strv_add(ret_names, keys[i].path);
}
