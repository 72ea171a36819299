// SPDX-License-Identifier: Apache-2.0
/*
 * Addresses of other repositories, taken apart the way git does, and refused where git would do
 * something nobody asked for: start a helper, take a host for an option, send a password somewhere.
 *
 * Source: git-fetch(1) "GIT URLS", gitremote-helpers(7).
 */
#ifndef AL_GUARD_URL_H
#define AL_GUARD_URL_H

#include "util/error.h"
#include "util/str.h"

/** A longer address is refused. */
#define AL_URL_MAX_BYTES 4096

enum al_url_kind {
    AL_URL_PATH, /**< a path on this machine; file:// too */
    AL_URL_GIT,  /**< git:// */
    AL_URL_SSH,  /**< ssh://, or host:path */
    AL_URL_HTTP, /**< http:// or https:// */
};

struct al_url {
    enum al_url_kind kind;
    const char *protocol; /**< git's name for it: "file", "git", "ssh", "http", "https" */
    char *host;           /**< "" for a path; an IPv6 address without brackets */
    int port;             /**< 0: the protocol's own */
    char *path;           /**< of the repository, as git gets it */
    char *user;           /**< NULL: none; decoded */
    char *password;       /**< NULL: none; decoded.  Never in `bare` or `shown` */
    char *bare;           /**< the address without a password, for git */
    char *shown;  /**< the address as safe text of one line, user information of http hidden */
    char *origin; /**< http: "https://host:8080", what a credential is for; else NULL */
};

#define AL_URL_INIT ((struct al_url){ .protocol = "" })

void al_url_clear(struct al_url *url);

/**
 * Take an address apart.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_REMOTE_ERROR and a remedy, for
 *         "ext::" and every other helper, unknown protocols, hosts and paths that begin with '-',
 *         and what cannot be part of an address.  The message never shows user or password.
 */
int al_url_parse(const char *text, struct al_url *ret_url, struct al_error *err);

/** The address for people: safe, one line, "[redacted]" for user information (a plain user of ssh
 * stays).  Any text.  Caller frees. */
char *al_url_shown(const char *text);

/** Append `text` with the user information of every address in it hidden in the same way. */
void al_url_redact(const char *text, size_t len, struct al_str *out);

#endif
