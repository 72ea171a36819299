// SPDX-License-Identifier: Apache-2.0
/*
 * Addresses of remote repositories, parsed like git does.  Refused: addresses with which git would
 * start a helper, take a host for an option, or send a password elsewhere.
 *
 * Source: git-fetch(1) "GIT URLS", gitremote-helpers(7).
 */
#ifndef AL_GUARD_URL_H
#define AL_GUARD_URL_H

#include "base/error.h"
#include "base/str.h"
#include <stdbool.h>

/** The base URL when none is configured. */
#define AL_GITHUB_BASE_URL "https://github.com"

/** The longest address accepted. */
#define AL_URL_MAX_BYTES 4096

enum al_url_kind {
    AL_URL_PATH, /**< a path on this machine, or file:// */
    AL_URL_GIT,  /**< git:// */
    AL_URL_SSH,  /**< ssh://, or host:path */
    AL_URL_HTTP, /**< http:// or https:// */
};

struct al_url {
    enum al_url_kind kind;
    const char *protocol; /**< git's name: "file", "git", "ssh", "http", "https" */
    char *host;           /**< "" for a path; an IPv6 address is without brackets */
    int port;             /**< 0: the protocol's default */
    char *path;           /**< of the repository, as passed to git */
    char *user;           /**< decoded; NULL: none */
    char *password;       /**< decoded; NULL: none; never in `bare` or `shown` */
    char *bare;           /**< the address without a password, for git */
    char *shown;          /**< one safe line, with http user information hidden */
    char *origin;         /**< http: "https://host:8080", the scope of a credential; else NULL */
};

#define AL_URL_INIT ((struct al_url){ .protocol = "" })

void al_url_clear(struct al_url *url);

/**
 * Parse an address.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR and a remedy for "ext::" and every other
 *         helper, unknown protocols, hosts and paths that begin with '-', and anything that cannot
 *         be part of an address.  The message never contains user information.
 */
int al_url_parse(const char *text, struct al_url *ret_url, struct al_error *err);

/** An address for users, on one safe line: "[redacted]" replaces user information, except a plain
 * ssh user.  Accepts any text.  Caller frees. */
char *al_url_shown(const char *text);

/** The same as the other end takes it: the host in lower case, without the protocol's own port,
 * user information of http, a final dot of the host, escapes that mean the character itself, and
 * "." and ".." of the path (RFC 3986, 6.2).  Caller frees. */
char *al_url_normal(const char *text);

/** The end of the user information after the "://" at `at`, unless it is a plain ssh user.  0:
 * there is none, or no "://". */
size_t al_url_find_user(const char *text, size_t len, size_t at);

/** Append `text`, with "[redacted]" for the user information of every address in it. */
void al_url_redact(const char *text, size_t len, struct al_str *out);

/** Check a pattern.  @return 0, or AL_ERR_BAD_ARGS saying what is wrong. */
int al_credential_hosts_check(const char *pattern, struct al_error *err);

/** Test whether one of the patterns matches the server of an http or https address. */
bool al_credential_hosts_match(const struct al_strv *patterns, const struct al_url *url);

/**
 * Check "owner/name" by GitHub's rules for both: letters, digits and '-' (an owner; '_' for managed
 * users), also '_' and '.' (a name).  No name is "." or "..", and none begins with '-' or ends in
 * ".git".
 *
 * @param param  The parameter, for the message: "target.repo".
 * @return 0, or AL_ERR_BAD_ARGS.
 */
int al_github_check_repo(const char *param, const char *repo, struct al_error *err);

/** The address of a checked repository: "https://github.com/owner/name.git".  `base` may end with
 * '/'.  Caller frees. */
char *al_github_address(const char *base, const char *repo);

/** Test whether a token may be sent to this address: over https, or to this machine. */
bool al_github_is_safe(const struct al_url *url);

#endif
