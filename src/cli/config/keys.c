// SPDX-License-Identifier: Apache-2.0
#include "cli/config/keys.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/nearest.h"
#include "base/str.h"
#include "cli/config/config.h"
#include "guard/agent.h"
#include "guard/env.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/program.h"
#include "guard/url.h"
#include "serve/http/address.h"

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
    if (!good || !al_github_is_safe(&url))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "must begin with https:// (http:// only for localhost, 127.0.0.1 and "
                            "[::1])");
    return 0;
}

static int check_place(const char *place, struct al_error *err)
{
    struct al_http_address address;

    return al_http_address_parse(place, &address, err);
}

/* The most bytes that a limit of disk space may have. */
#define BYTES_MAX 1125899906842624

/* The offset of a field.  A field of another type does not compile. */
#define FIELD_OF(type, name, ctype)                                                                \
    (offsetof(type, name) + 0 * sizeof(&((type *)NULL)->name == (ctype *)NULL))
#define FIELD(name, ctype) .offset = FIELD_OF(struct al_config, name, ctype)
#define OF_RULE(name, ctype)                                                                       \
    .place = AL_KEY_OF_RULE, .offset = FIELD_OF(struct al_rule, name, ctype)
#define OF_GRANT(name, ctype)                                                                      \
    .place = AL_KEY_OF_GRANT, .offset = FIELD_OF(struct al_grant, name, ctype)
#define OF_SERVER(name, ctype)                                                                     \
    .place = AL_KEY_OF_SERVER, .offset = FIELD_OF(struct al_mcp_server, name, ctype)
#define BOOL(name)                .kind = AL_KEY_BOOL, FIELD(name, bool)
#define BETWEEN(least, most)      .min = (least), .max = (most)
#define UINT32(name, least, most) .kind = AL_KEY_UINT32, FIELD(name, uint32_t), BETWEEN(least, most)
#define UINT64(name, least, most) .kind = AL_KEY_UINT64, FIELD(name, uint64_t), BETWEEN(least, most)
#define LIMIT(name, least, most)  UINT32(serve.limits.name, least, most)
#define STRING(name)              .kind = AL_KEY_STRING, FIELD(name, char *)
#define STRINGS(name, least, most)                                                                 \
    .kind = AL_KEY_STRINGS, FIELD(name, struct al_strv), BETWEEN(least, most)
#define RELATIVE_FILE(name) .kind = AL_KEY_FILE, FIELD(name, char *)
/* The reader writes a choice as an unsigned int, so the enum has to have the same size. */
#define FITS(type) (0 * sizeof(char[sizeof(type) == sizeof(unsigned) ? 1 : -1]))
#define CHOICE(name, type, choice)                                                                 \
    .kind = AL_KEY_CHOICE, FIELD(name, type) + FITS(type), .words = (choice)
#define RULE_STRING(name)  .kind = AL_KEY_STRING, OF_RULE(name, char *)
#define SERVER_PATHS(name) .kind = AL_KEY_PATHS, OF_SERVER(name, struct al_strv), BETWEEN(0, 64)

/* In the order of enum al_approval_mode. */
static const char *const approval_modes[] = { "ask", "allow", "deny", NULL };

/* In the order of enum al_snapshot_failure. */
static const char *const snapshot_failures[] = { "refuse", "warn", NULL };

/* In the order of enum al_hook_failure. */
static const char *const hook_failures[] = { "allow", "deny", NULL };

/* In the order of enum al_isolation. */
static const char *const isolations[] = { "auto", "landlock", "firejail", "none", NULL };

static const char *const shell_tools[] = { "command", "all", "read", "write", NULL };

/* In the order of enum al_notify. */
static const char *const notifications[] = { "none", "bell", "notify-send", NULL };

/* In the order of enum al_staging_backend. */
static const char *const staging_backends[] = { "memory", "directory", NULL };

static int check_absolute(const char *path, struct al_error *err)
{
    return *path == '/' ? 0 : al_error_set(err, AL_ERR_BAD_ARGS, "must be an absolute path");
}

static int check_home(const char *path, struct al_error *err)
{
    return *path == '/' || al_starts_with(path, "~/")
               ? 0
               : al_error_set(err, AL_ERR_BAD_ARGS, "must be an absolute path or begin with '~/'");
}

/* A rule whose pattern nothing matches protects nothing. */
static int check_rule_glob(const char *glob, struct al_error *err)
{
    return al_starts_with(glob, "./") || al_starts_with(glob, "refs/heads/")
               ? al_error_set(err, AL_ERR_BAD_ARGS, "must be without ./ and refs/heads/")
               : 0;
}

/* A relative path leads down: airlock makes the directory, and git never lists it. */
static int check_worktrees_dir(const char *path, struct al_error *err)
{
    return al_path_is_plain(path + (*path == '/')) && !al_path_has_dot_git(path)
               ? 0
               : al_error_set(err, AL_ERR_BAD_ARGS,
                              "must be the path of a directory without '.', '..', '.git' and a '/' "
                              "at its end");
}

static const struct al_key keys[] = {
    { "toolsets", "The tools that a session offers.", STRINGS(toolsets, 1, 32),
      .option = "--toolset" },
    { "roots", "Where an agent may work.", STRINGS(roots, 0, 64), .option = "--root" },

    { "tools.git.enabled", "false: the toolset git has no tools.", BOOL(git.enabled),
      .initial = true },
    { "tools.git.timeout_ms", "The time of a call.", UINT32(git.timeout_ms, 100, 600000),
      .initial = 30000 },
    { "tools.git.max_bytes", "The size of a text result.", UINT32(git.max_bytes, 1, 5000000),
      .initial = 200000 },
    { "tools.git.max_fetch_bytes", "What one transfer may write.",
      UINT64(git.max_fetch_bytes, 1 << 20, BYTES_MAX), .initial = 4294967296 },
    { "tools.git.credential_hosts", "Servers that get credentials without a question.",
      STRINGS(git.credential_hosts, 0, 256), .check = al_credential_hosts_check },
    { "tools.git.prefer_mcp", "true: other servers' tools win.", BOOL(git.prefer_mcp) },

    { "tools.sandbox.allow_absolute", "false: no absolute paths.", BOOL(sandbox.allow_absolute),
      .initial = true },
    { "tools.sandbox.require_confinement", "true: no git without Landlock, or unwatched.",
      BOOL(sandbox.require_confinement) },
    { "tools.sandbox.git_dirs", "Git directories outside the roots (--separate-git-dir).",
      STRINGS(sandbox.git_dirs, 0, 64), .check = check_absolute },

    { "tools.shell.command_whitelist", "Commands of bash_command.",
      STRINGS(shell.whitelist, 0, 256), .check = al_whitelist_check },
    { "tools.shell.tool", "What bash_command may: command, all, read, write.",
      STRINGS(shell.tool, 0, 4), .takes_one = true, .words = shell_tools, .option = "--tool" },
    { "tools.shell.command_timeout", "Seconds of bash_command.", UINT32(shell.timeout_s, 1, 600),
      .initial = 30, .option = "--command-timeout" },
    { "tools.shell.isolation", "What confines bash_command.",
      CHOICE(shell.isolation, enum al_isolation, isolations) },

    { "tools.environment.allow", "Variables that git may inherit.", STRINGS(env_allow, 0, 256),
      .check = al_env_check_allowed },

    { "tools.approval.mode", "For calls that no rule matches.",
      CHOICE(approval.mode, enum al_approval_mode, approval_modes), .option = "--approval" },
    { "tools.approval.wait_s", "How long a question waits.", UINT32(approval.wait_s, 1, 86400),
      .initial = 600 },
    { "tools.approval.rule", "The first that matches decides.", .kind = AL_KEY_RULES,
      FIELD(approval.policy, struct al_policy), BETWEEN(0, 256) },
    { "tools.approval.rule.tool", "Names of tools, as a glob.", RULE_STRING(tool) },
    { "tools.approval.rule.operation", "Names of operations, as a glob.", RULE_STRING(operation) },
    { "tools.approval.rule.effect", "An effect.", RULE_STRING(effect),
      .check = al_policy_check_effect },
    { "tools.approval.rule.branch", "Branches, as a glob.", RULE_STRING(branch),
      .check = check_rule_glob },
    { "tools.approval.rule.path", "Paths from the top, as a glob.", RULE_STRING(path),
      .check = check_rule_glob },
    { "tools.approval.rule.address", "Addresses of remotes, as a glob.", RULE_STRING(address) },
    { "tools.approval.rule.decision", "What the rule decides.", .kind = AL_KEY_CHOICE,
      OF_RULE(decision, enum al_approval_mode), .words = approval_modes },
    { "tools.approval.rule.message", "What the agent is told.", RULE_STRING(message) },

    { "journal.file", "The journal.", RELATIVE_FILE(journal.file), .check = check_home,
      .option = "--audit" },
    { "journal.max_log_bytes", "A log of this size is renamed, and a new one begun.",
      UINT32(journal.max_log_bytes, 16384, 1 << 30), .initial = 64 << 20 },
    { "journal.checkpoints", "false: no checkpoints.", BOOL(journal.checkpoints), .initial = true,
      .option = "--no-git" },
    { "journal.on_snapshot_failure", "Where work would be lost and no checkpoint can be taken.",
      CHOICE(journal.on_snapshot_failure, enum al_snapshot_failure, snapshot_failures) },
    { "journal.max_store_bytes", "Checkpoints of one repository; the oldest go first.",
      UINT64(journal.max_store_bytes, 1 << 20, BYTES_MAX), .initial = 2147483648 },
    { "journal.max_age_days", "Older checkpoints go.", UINT32(journal.max_age_days, 1, 3650),
      .initial = 30 },
    { "journal.max_file_bytes", "Larger files are left out of checkpoints, and named.",
      UINT32(journal.max_file_bytes, 1, 1073741823), .initial = 100 << 20 },
    { "journal.include_ignored", "Ignored files to save.",
      STRINGS(journal.include_ignored, 0, 256) },

    { "hooks.on_failure", "Before a tool of the client, if no checkpoint can be taken in time.",
      CHOICE(hooks.on_failure, enum al_hook_failure, hook_failures) },
    { "staging.backend", "Where the files of the sandbox are.",
      CHOICE(staging.backend, enum al_staging_backend, staging_backends) },
    { "staging.path", "The directory of the sandbox.", STRING(staging.path),
      .text = ".sandbox/workspace" },
    { "staging.author", "Of staged commits: 'Name <mail>'; else your own.", STRING(staging.author),
      .check = staging_check_author },
    { "staging.max_bytes", "The most that an agent can write.",
      UINT64(staging.max_bytes, 1 << 20, 17179869184), .initial = 256 << 20 },
    { "staging.github_base_url", "Where GitHub is.", STRING(staging.github_base_url),
      .text = "https://github.com", .check = staging_check_base_url },
    { "staging.allow_symlinks", "true: they may be staged.", BOOL(staging.allow_symlinks) },

    { "worktrees.dir", "Where git_worktree makes them, in the main one.", STRING(worktrees.dir),
      .text = ".worktrees", .check = check_worktrees_dir },
    { "worktrees.max", "At most so many.", UINT32(worktrees.max, 1, 1000), .initial = 50 },

    { "review.notify", "Tells of a question while the screen is open.",
      CHOICE(review.notify, enum al_notify, notifications) },

    { "shell.grant", "The grant of airlock git, run and hook; else serve.grant.",
      STRING(shell_grant), .option = "--grant" },

    { "serve.agent", "The agent's name in the journal.", STRING(serve.agent),
      .check = al_agent_check_name, .option = "--agent" },
    { "serve.grant", "The grant of sessions.", STRING(serve.grant), .option = "--grant" },
    { "serve.verbose", "true: calls say on stderr what they do.", BOOL(serve.verbose),
      .option = "-v" },
    { "serve.worker", "A worker file.", RELATIVE_FILE(serve.worker), .option = "--worker" },
    { "serve.http", "Serve over HTTP there.", STRINGS(serve.http, 1, 16), .takes_one = true,
      .check = check_place, .option = "--http" },
    { "serve.token_file", "Who may come in.", RELATIVE_FILE(serve.token_file),
      .option = "--token-file" },
    { "serve.no_token", "true: everybody, on loopback.", BOOL(serve.no_token),
      .option = "--no-token" },
    { "serve.tls_cert", "The certificate, PEM.", RELATIVE_FILE(serve.tls_cert),
      .option = "--tls-cert" },
    { "serve.tls_key", "Its key, yours alone.", RELATIVE_FILE(serve.tls_key),
      .option = "--tls-key" },
    { "serve.behind_proxy", "true: a proxy does TLS.", BOOL(serve.behind_proxy),
      .option = "--behind-proxy" },
    { "serve.hosts", "More names that Host may have.", STRINGS(serve.hosts, 0, 256),
      .check = al_http_check_host },
    { "serve.origins", "Origins of web pages that may connect.", STRINGS(serve.origins, 0, 256),
      .check = al_http_check_origin },
    { "serve.max_body", "Bytes of a body.", LIMIT(max_body, 1024, 64 << 20), .initial = 4 << 20 },
    { "serve.max_headers", "Bytes of its headers.", LIMIT(max_headers, 1024, 1 << 20),
      .initial = 32768 },
    { "serve.connections", "At once.", LIMIT(connections, 1, 65536), .initial = 512 },
    { "serve.connections_per_token", "Of one token.", LIMIT(connections_per_token, 1, 65536),
      .initial = 64 },
    { "serve.calls", "In flight.", LIMIT(calls, 1, 4096), .initial = 128 },
    { "serve.calls_per_token", "Of one token.", LIMIT(calls_per_token, 1, 4096), .initial = 16 },
    { "serve.sessions_per_token", "Of a token.", LIMIT(sessions_per_token, 1, 4096),
      .initial = 64 },
    { "serve.request_s", "Until a whole request is there.", LIMIT(request_s, 1, 3600),
      .initial = 60 },
    { "serve.stall_s", "Until a silent reader is cut off.", LIMIT(stall_s, 1, 3600),
      .initial = 60 },
    { "serve.idle_s", "Until an unused session ends.", LIMIT(idle_s, 1, 604800), .initial = 1800 },
    { "serve.drain_s", "What calls get at SIGTERM.", LIMIT(drain_s, 0, 3600), .initial = 10 },

    { "grants", "See RULES.md.", .kind = AL_KEY_GRANTS, FIELD(grants, struct al_grants),
      BETWEEN(0, 64) },
    { AL_KEY_GRANT "tools", "Names of tools, as globs.", .kind = AL_KEY_STRINGS,
      OF_GRANT(tools, struct al_strv), BETWEEN(0, 256),
      .given = FIELD_OF(struct al_grant, limits_tools, bool) },
    { AL_KEY_GRANT "fs", "Directories: \"r\" or \"rw\".", .kind = AL_KEY_DIRS,
      .place = AL_KEY_OF_GRANT, BETWEEN(0, 256),
      .given = FIELD_OF(struct al_grant, limits_dirs, bool) },

    { "mcp.servers", "See UPSTREAM.md.", .kind = AL_KEY_SERVERS,
      FIELD(mcp.servers, struct al_mcp_servers), BETWEEN(0, 32) },
    { AL_KEY_SERVER "command", "The program and its arguments.", .kind = AL_KEY_STRINGS,
      OF_SERVER(command, struct al_strv), BETWEEN(1, 256) },
    { AL_KEY_SERVER "env", "Variables for it: NAME = \"value\".", .kind = AL_KEY_VARIABLES,
      OF_SERVER(env, struct al_strv), BETWEEN(0, 64) },
    { AL_KEY_SERVER "tools", "Its tools that are mounted; all of them without.",
      .kind = AL_KEY_STRINGS, OF_SERVER(tools, struct al_strv), BETWEEN(0, 512),
      .given = FIELD_OF(struct al_mcp_server, limits_tools, bool) },
    { AL_KEY_SERVER "confine", "false: it has your rights.", .kind = AL_KEY_BOOL,
      OF_SERVER(confine, bool), .initial = true },
    { AL_KEY_SERVER "timeout_ms", "For its start and for each call.", .kind = AL_KEY_UINT32,
      OF_SERVER(timeout_ms, uint32_t), BETWEEN(100, 600000), .initial = 30000 },
    { AL_KEY_SERVER "allow.read", "Paths beside the roots that it may read.",
      SERVER_PATHS(allow.read) },
    { AL_KEY_SERVER "allow.write", "Paths that it may write.", SERVER_PATHS(allow.write) },
    { AL_KEY_SERVER "allow.exec", "Programs that it may start.", SERVER_PATHS(allow.exec) },
    { AL_KEY_SERVER "allow.network", "true: it may use the network.", .kind = AL_KEY_BOOL,
      OF_SERVER(allow.network, bool) },
};

const struct al_key *al_key_nth(size_t i)
{
    return i < AL_COUNT(keys) ? &keys[i] : NULL;
}

const struct al_key *al_key_find(const char *name, bool *ret_is_table)
{
    size_t len = strlen(name);

    *ret_is_table = false;
    for (size_t i = 0; i < AL_COUNT(keys); i++) {
        if (!strcmp(keys[i].path, name))
            return &keys[i];
        /* "tools" and "tools.git" contain "tools.git.enabled" */
        *ret_is_table |= !strncmp(keys[i].path, name, len) && keys[i].path[len] == '.';
    }
    return NULL;
}

char *al_key_nearest(const char *name)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT; /* of tables, too */
    struct al_nearest nearest = { .word = name };

    for (size_t i = 0; i < AL_COUNT(keys); i++)
        for (const char *end = keys[i].path; end;) {
            end = strchr(end + 1, '.');
            al_strv_take(&names, end ? al_strndup(keys[i].path, (size_t)(end - keys[i].path))
                                     : al_strdup(keys[i].path));
        }
    for (size_t i = 0; i < names.count; i++)
        al_nearest_offer(&nearest, names.items[i]);
    return al_strdup(nearest.found);
}

void al_keys_init(enum al_key_place place, void *fields)
{
    for (size_t i = 0; i < AL_COUNT(keys); i++) {
        void *field = (char *)fields + keys[i].offset;

        if (keys[i].place != place)
            continue;
        if (keys[i].kind == AL_KEY_BOOL)
            *(bool *)field = keys[i].initial != 0;
        else if (keys[i].kind == AL_KEY_UINT32)
            *(uint32_t *)field = (uint32_t)keys[i].initial;
        else if (keys[i].kind == AL_KEY_UINT64)
            *(uint64_t *)field = (uint64_t)keys[i].initial;
        else if (keys[i].text)
            *(char **)field = al_strdup(keys[i].text);
    }
}

static bool is_text(enum al_key_kind kind)
{
    return kind == AL_KEY_STRING || kind == AL_KEY_FILE;
}

static bool is_list(enum al_key_kind kind)
{
    return kind == AL_KEY_STRINGS || kind == AL_KEY_PATHS || kind == AL_KEY_VARIABLES;
}

/* The directories of a grant are cleared with it. */
void al_keys_clear(enum al_key_place place, void *fields)
{
    for (size_t i = 0; i < AL_COUNT(keys); i++) {
        const enum al_key_kind kind = keys[i].kind;
        void *field = (char *)fields + keys[i].offset;

        if (keys[i].place != place)
            continue;
        if (is_text(kind))
            al_freep(field);
        else if (is_list(kind))
            al_strv_clear(field);
        else if (kind == AL_KEY_GRANTS)
            al_grants_clear(field);
        else if (kind == AL_KEY_SERVERS)
            al_mcp_servers_clear(field);
        else if (kind == AL_KEY_RULES)
            al_policy_clear(field);
    }
}

/* --- The values as text --- */

static void add_quoted(const char *text, struct al_str *out)
{
    al_json_quote(text, strlen(text), out);
}

void al_keys_describe(enum al_key_place place, const void *fields, struct al_str *out)
{
    const struct al_grant *grant = fields;

    for (size_t i = 0; i < AL_COUNT(keys); i++) {
        const struct al_strv *list = (const void *)((const char *)fields + keys[i].offset);
        al_auto(al_str_clear) struct al_str value = AL_STR_INIT;

        if (keys[i].place != place)
            continue;
        if (!is_list(keys[i].kind))
            al_key_add_value(&keys[i], fields, &value);
        for (size_t k = 0; is_list(keys[i].kind) && k < list->count; k++)
            add_quoted(list->items[k], &value);
        for (size_t k = 0; keys[i].kind == AL_KEY_DIRS && k < grant->ndirs; k++) {
            al_str_addf(&value, "%d", grant->dirs[k].access);
            add_quoted(grant->dirs[k].path, &value);
        }
        if (keys[i].given)
            al_str_adds(out, *(const bool *)((const char *)fields + keys[i].given) ? "+" : "-");
        add_quoted(value.buf, out);
    }
}

static void add_servers(const struct al_mcp_servers *servers, struct al_str *out)
{
    for (size_t i = 0; i < servers->count; i++) {
        al_str_addf(out, "%s:", servers->items[i].name);
        al_keys_describe(AL_KEY_OF_SERVER, &servers->items[i], out);
    }
}

/* Grants and rules have none. */
void al_key_add_value(const struct al_key *key, const void *fields, struct al_str *out)
{
    const void *field = (const char *)fields + key->offset;
    const struct al_strv *list = field;

    if (key->kind == AL_KEY_BOOL)
        al_str_adds(out, *(const bool *)field ? "true" : "false");
    else if (key->kind == AL_KEY_UINT32)
        al_str_addf(out, "%" PRIu32, *(const uint32_t *)field);
    else if (key->kind == AL_KEY_UINT64)
        al_str_addf(out, "%" PRIu64, *(const uint64_t *)field);
    else if (key->kind == AL_KEY_CHOICE)
        al_str_adds(out, key->words[*(const unsigned *)field]);
    else if (is_text(key->kind))
        al_str_adds(out, *(char *const *)field ? *(char *const *)field : "");
    else if (key->kind == AL_KEY_SERVERS)
        add_servers(field, out);
    for (size_t i = 0; is_list(key->kind) && i < list->count; i++)
        al_str_addf(out, "%s%s", i ? ", " : "", list->items[i]);
}

void al_keys_changed(const struct al_config *before, const struct al_config *after,
                     struct al_strv *ret_names)
{
    for (size_t i = 0; i < AL_COUNT(keys); i++) {
        al_auto(al_str_clear) struct al_str old = AL_STR_INIT, new = AL_STR_INIT;

        if (keys[i].place != AL_KEY_OF_CONFIG)
            continue;
        al_key_add_value(&keys[i], before, &old);
        al_key_add_value(&keys[i], after, &new);
        if (strcmp(old.buf, new.buf) != 0)
            al_strv_add(ret_names, keys[i].path);
    }
}
