// SPDX-License-Identifier: Apache-2.0
#include "guard/credential_hosts.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <strings.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* The parts of a pattern.  The pointers point into the pattern. */
struct parts {
    bool plain; /* http, not https */
    bool literal;
    const char *host;
    size_t host_len;
    const char *port; /* "": the protocol's default; "*": every port */
};

static struct parts split(const char *pattern)
{
    struct parts parts = { .plain = al_starts_with(pattern, "http://") };
    const char *at = pattern, *end;

    if (parts.plain)
        at += strlen("http://");
    else if (al_starts_with(pattern, "https://"))
        at += strlen("https://");
    parts.literal = *at == '[' && strchr(at, ']');
    if (parts.literal)
        at++;
    end = at + strcspn(at, parts.literal ? "]" : ":");
    parts.host = at;
    parts.host_len = (size_t)(end - at);
    end += parts.literal ? 1 : 0;
    parts.port = *end == ':' ? end + 1 : end;
    return parts;
}

static bool is_port(const char *text)
{
    size_t len = strlen(text);

    return !strcmp(text, "*") || (strspn(text, "0123456789") == len && len <= 5);
}

int al_credential_hosts_check(const char *pattern, struct al_error *err)
{
    const struct parts parts = split(pattern);
    const char *letters = parts.literal ? LETTERS ":." : LETTERS "-._*?";

    if (parts.host_len && strspn(parts.host, letters) >= parts.host_len && is_port(parts.port) &&
        pattern[strlen(pattern) - 1] != ':')
        return 0;
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "must be like 'github.com', '*.example.org:8443' or 'http://host:port'");
}

static bool port_matches(const struct parts *parts, const struct al_url *url)
{
    const char *own = parts->plain ? "80" : "443";
    al_auto(al_freep) char *given = url->port ? al_asprintf("%d", url->port) : al_strdup(own);

    return !strcmp(parts->port, "*") || !strcmp(*parts->port ? parts->port : own, given);
}

static bool matches(const char *pattern, const struct al_url *url)
{
    const struct parts parts = split(pattern);
    al_auto(al_freep) char *host = al_strndup(parts.host, parts.host_len);

    if (strcmp(url->protocol, parts.plain ? "http" : "https") != 0 || !port_matches(&parts, url))
        return false;
    return parts.literal ? !strcasecmp(host, url->host)
                         : fnmatch(host, url->host, FNM_CASEFOLD) == 0;
}

bool al_credential_hosts_match(const struct al_strv *patterns, const struct al_url *url)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (matches(patterns->items[i], url))
            return true;
    return false;
}
