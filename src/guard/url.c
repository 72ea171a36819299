// SPDX-License-Identifier: Apache-2.0
#include "guard/url.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard/arg.h"
#include "guard/text.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

#define HTTP    "http://"
#define HTTPS   "https://"

/* Behind "http://" or "https://", which a pattern may begin with. */
static const char *host_of(const char *pattern)
{
    return pattern + (al_starts_with(pattern, HTTP)    ? strlen(HTTP)
                      : al_starts_with(pattern, HTTPS) ? strlen(HTTPS)
                                                       : 0);
}

int al_credential_hosts_check(const char *pattern, struct al_error *err)
{
    const char *host = host_of(pattern), *close = *host == '[' ? strchr(host, ']') : NULL;
    const char *end = close ? close : host + strspn(host, LETTERS DIGITS "-._*?");
    const bool is_host =
        close ? host + 1 + strspn(host + 1, LETTERS DIGITS ":.") == close && close > host + 1
              : end > host;
    const char *port = close ? close + 1 : end;
    const size_t digits = *port == ':' ? strspn(port + 1, DIGITS) : 0;

    if (is_host && (!*port || !strcmp(port, ":*") || (digits && digits <= 5 && !port[1 + digits])))
        return 0;
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "must be like 'github.com', '*.example.org:8443' or 'http://host:port'");
}

/* A pattern is completed to one of whole addresses: "https://github.com:443". */
static bool matches(const char *pattern, const struct al_url *url)
{
    const char *host = host_of(pattern), *colon = strrchr(host, ':');
    const bool is_plain = al_starts_with(pattern, HTTP), has_port = colon && !strchr(colon, ']');
    const int own_port = !strcmp(url->protocol, "http") ? 80 : 443;
    al_auto(al_freep) char *whole =
        al_asprintf("%s%s%s%s", is_plain ? HTTP : HTTPS, *host == '[' ? "\\" : "", host,
                    has_port   ? ""
                    : is_plain ? ":80"
                               : ":443");
    al_auto(al_freep) char *address =
        al_asprintf(strchr(url->host, ':') ? "%s://[%s]:%d" : "%s://%s:%d", url->protocol,
                    url->host, url->port ? url->port : own_port);

    return fnmatch(whole, address, FNM_CASEFOLD) == 0;
}

bool al_credential_hosts_match(const struct al_strv *patterns, const struct al_url *url)
{
    for (size_t i = 0; patterns && i < patterns->count; i++)
        if (matches(patterns->items[i], url))
            return true;
    return false;
}

#define OWNER_MAX_BYTES 39
#define NAME_MAX_BYTES  100

static bool is_owner(const char *text, size_t len)
{
    return len > 0 && len <= OWNER_MAX_BYTES && *text != '-' &&
           strspn(text, LETTERS DIGITS "-_") == len;
}

static bool is_name(const char *text)
{
    const size_t len = strlen(text);

    return len > 0 && len <= NAME_MAX_BYTES && *text != '-' &&
           strspn(text, LETTERS DIGITS "-_.") == len && strcmp(text, ".") != 0 &&
           strcmp(text, "..") != 0 && !al_ends_with(text, ".git");
}

int al_github_check_repo(const char *param, const char *repo, struct al_error *err)
{
    const size_t owner = strcspn(repo, "/");
    al_auto(al_freep) char *word = NULL;

    if (repo[owner] && is_owner(repo, owner) && is_name(repo + owner + 1))
        return 0;
    word = al_text_sanitize_line(repo);
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "%s must be 'owner/name' as in the address of the repository on GitHub, "
                        "without .git: '%s'",
                        param, word);
}

char *al_github_address(const char *base, const char *repo)
{
    size_t len = strlen(base);

    while (len && base[len - 1] == '/')
        len--;
    return al_asprintf("%.*s/%s.git", (int)len, base, repo);
}

bool al_github_is_safe(const struct al_url *url)
{
    static const char *const loopback[] = { "localhost", "127.0.0.1", "::1" };

    if (strcmp(url->protocol, "http") != 0)
        return !strcmp(url->protocol, "https");
    for (size_t i = 0; i < AL_COUNT(loopback); i++)
        if (!strcmp(url->host, loopback[i]))
            return true;
    return false;
}

#define PORT_MAX 65535

static const char redacted[] = "[redacted]";

static const struct scheme {
    const char *name, *protocol;
    enum al_url_kind kind;
} schemes[] = {
    { "file", "file", AL_URL_PATH },   { "git", "git", AL_URL_GIT },
    { "ssh", "ssh", AL_URL_SSH },      { "git+ssh", "ssh", AL_URL_SSH },
    { "ssh+git", "ssh", AL_URL_SSH },  { "http", "http", AL_URL_HTTP },
    { "https", "https", AL_URL_HTTP },
};

void al_url_clear(struct al_url *url)
{
    free(url->host);
    free(url->path);
    free(url->user);
    free(url->password);
    free(url->bare);
    free(url->shown);
    free(url->origin);
    *url = AL_URL_INIT;
}

/* The end of the user information at `authority`, if it is a secret; 0: it is none.  A plain ssh
 * user is part of the address; user information for a web server may be a token. */
static size_t end_of_secret(const char *text, size_t authority, size_t end)
{
    const char *from = text + authority, *at = memrchr(from, '@', end - authority);
    const size_t scheme = authority - strlen("://");
    const bool ssh = scheme >= 3 && !strncmp(text + scheme - 3, "ssh", 3);

    return at && (!ssh || memchr(from, ':', (size_t)(at - from))) ? (size_t)(at - text) : 0;
}

size_t al_url_find_user(const char *text, size_t len, size_t at)
{
    const size_t authority = at + strlen("://");
    size_t end = authority;

    if (authority > len || memcmp(text + at, "://", strlen("://")) != 0)
        return 0;
    while (end < len && !strchr("/ \t\r\n'\"<>", text[end]))
        end++;
    return end_of_secret(text, authority, end);
}

void al_url_redact(const char *text, size_t len, struct al_str *out)
{
    const char *mark;
    size_t kept = 0, at = 0;

    while ((mark = memmem(text + at, len - at, "://", strlen("://")))) {
        const size_t end = al_url_find_user(text, len, (size_t)(mark - text));

        at = (size_t)(mark - text) + strlen("://");
        if (!end)
            continue;
        al_str_add(out, text + kept, at - kept);
        al_str_adds(out, redacted);
        kept = at = end;
    }
    al_str_add(out, text + kept, len - kept);
}

char *al_url_shown(const char *text)
{
    al_auto(al_str_clear) struct al_str clean = AL_STR_INIT;
    const char *mark = strstr(text, "://");
    const size_t authority = mark ? (size_t)(mark - text) + strlen("://") : 0;
    /* The user information may contain characters that end an address in other texts. */
    const size_t slash = authority + strcspn(text + authority, "/");
    const size_t end = mark ? end_of_secret(text, authority, slash) : 0;

    if (end) {
        al_str_add(&clean, text, authority);
        al_str_adds(&clean, redacted);
    }
    al_str_adds(&clean, text + end);
    return al_text_sanitize_line(clean.buf);
}

static int refuse(struct al_error *err, const char *text, const char *why, const char *remedy)
{
    al_auto(al_freep) char *shown = al_url_shown(text);

    return al_error_remedy(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_REMOTE_ERROR,
                                             "The address '%s' %s", shown, why),
                           err, remedy);
}

/* The length of the scheme or helper that a text begins with; 0: none. */
static size_t scheme_length(const char *text)
{
    const size_t len = strspn(text, LETTERS DIGITS "+-.");

    return isalpha((unsigned char)*text) && text[len] == ':' ? len : 0;
}

/* Whether a text has only these characters, and cannot be taken for an option. */
static bool is_of(const char *text, const char *characters)
{
    return *text != '-' && !text[strspn(text, characters)];
}

static bool is_host(const char *host)
{
    return *host && is_of(host, LETTERS DIGITS "._-");
}

/* The character that an escape at `at` stands for; -1: there is none. */
static int escaped(const char *at)
{
    unsigned c = 0;

    return *at == '%' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]) &&
                   sscanf(at + 1, "%2x", &c) == 1
               ? (int)c
               : -1;
}

/* Percent-decode a text.  NULL for a broken escape or a control character: after a newline, a
 * credential helper would read the rest as another line. */
static char *decode(const char *text, size_t len)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    for (size_t i = 0; i < len; i++) {
        const bool is_escape = text[i] == '%';
        const int c = !is_escape ? (unsigned char)text[i] : i + 2 < len ? escaped(text + i) : -1;

        if (c < 0x20 || c == 0x7f)
            return NULL;
        i += is_escape ? 2 : 0;
        al_str_addc(&out, (char)c);
    }
    return al_str_detach(&out);
}

/* A port of 1 to 65535, digits only; 0 otherwise. */
static int parse_port(const char *text, size_t len)
{
    const bool is_number = len && len <= 5 && *text != '0' && strspn(text, DIGITS) >= len;
    const int port = is_number ? (int)strtoull(text, NULL, 10) : 0;

    return port <= PORT_MAX ? port : 0;
}

/* Parse "host", "host:port" or "[address]:port". */
static bool take_host(struct al_url *url, const char *text, size_t len)
{
    const char *close = len && *text == '[' ? memchr(text, ']', len) : NULL;
    const char *name = close ? text + 1 : text;
    const char *colon =
        close ? (close + 1 < text + len ? close + 1 : NULL) : memchr(text, ':', len);
    const char *end = close ? close : colon ? colon : text + len;

    url->host = al_strndup(name, (size_t)(end - name));
    if (close ? !*url->host || url->host[strspn(url->host, "0123456789abcdefABCDEF:.")]
              : !is_host(url->host))
        return false;
    if (!colon)
        return true;
    if (*colon != ':')
        return false;
    url->port = parse_port(colon + 1, (size_t)(text + len - colon - 1));
    return url->port > 0;
}

/* Parse "user" or "user:password".  Addresses of ssh and git have no password. */
static bool take_user(struct al_url *url, const char *text, size_t len)
{
    const char *colon = memchr(text, ':', len);

    if (memchr(text, '@', len))
        return false;
    url->user = decode(text, colon ? (size_t)(colon - text) : len);
    if (colon)
        url->password = decode(colon + 1, (size_t)(text + len - colon - 1));
    if (!url->user || (colon && !url->password))
        return false;
    return url->kind == AL_URL_HTTP || (!colon && is_of(url->user, LETTERS DIGITS "._~+-"));
}

static char *host_words(const struct al_url *url)
{
    bool bracket = strchr(url->host, ':');

    if (!url->port)
        return al_asprintf(bracket ? "[%s]" : "%s", url->host);
    return al_asprintf(bracket ? "[%s]:%d" : "%s:%d", url->host, url->port);
}

/* Parse an address of a host, after "scheme://". */
static int parse_remote(struct al_url *url, const char *text, const char *authority,
                        struct al_error *err)
{
    static const char form[] = "Write it as PROTOCOL://[USER@]HOST[:PORT]/PATH.";
    size_t scheme = (size_t)(authority - text);
    size_t len = strcspn(authority, "/");
    const char *at = memrchr(authority, '@', len);
    const char *host = at ? at + 1 : authority;
    al_auto(al_freep) char *words = NULL;

    if (at && !take_user(url, authority, (size_t)(at - authority)))
        return refuse(err, text, "has a user name that cannot be one", form);
    if (!take_host(url, host, (size_t)(authority + len - host)))
        return refuse(err, text, "has a host that cannot be one", form);
    url->path = al_strdup(authority + len);
    if (!url->path[0] || (url->kind != AL_URL_HTTP && al_starts_with(url->path, "/-")))
        return refuse(err, text, "has no path of a repository", form);
    words = host_words(url);
    if (at && url->kind == AL_URL_HTTP) {
        const char *colon = memchr(authority, ':', (size_t)(at - authority));

        url->bare =
            al_asprintf("%.*s%.*s@%s%s", (int)scheme, text, (int)((colon ? colon : at) - authority),
                        authority, words, url->path);
    } else {
        url->bare = al_strdup(text);
    }
    if (url->kind == AL_URL_HTTP)
        url->origin = al_asprintf("%s://%s", url->protocol, words);
    return 0;
}

static int parse_url(struct al_url *url, const char *text, size_t scheme, struct al_error *err)
{
    const char *rest = text + scheme + strlen("://");

    for (size_t i = 0; i < AL_COUNT(schemes); i++) {
        if (strlen(schemes[i].name) != scheme || strncmp(schemes[i].name, text, scheme) != 0)
            continue;
        url->kind = schemes[i].kind;
        url->protocol = schemes[i].protocol;
        if (url->kind != AL_URL_PATH)
            return parse_remote(url, text, rest, err);
        if (*rest != '/')
            return refuse(err, text, "names a host, and a path on this machine has none",
                          "Write it as file:///PATH, or just the path.");
        url->path = decode(rest, strlen(rest));
        return url->path ? 0
                         : refuse(err, text, "has an escape that is none",
                                  "Write it as file:///PATH, or just the path.");
    }
    return refuse(err, text, "needs a helper that airlock does not start",
                  "Use a path inside the roots, or https, ssh, http or git.");
}

/* Parse "[user@]host:path", which git treats as ssh when no '/' comes before the ':'. */
static int parse_scp(struct al_url *url, const char *text, const char *colon, struct al_error *err)
{
    static const char form[] = "Write it as [USER@]HOST:PATH, or ssh://[USER@]HOST[:PORT]/PATH.";
    const char *at = memrchr(text, '@', (size_t)(colon - text));
    const char *host = at ? at + 1 : text;

    url->kind = AL_URL_SSH;
    url->protocol = "ssh";
    if (at && !take_user(url, text, (size_t)(at - text)))
        return refuse(err, text, "has a user name that cannot be one", form);
    url->host = al_strndup(host, (size_t)(colon - host));
    if (!is_host(url->host))
        return refuse(err, text, "has a host that cannot be one", form);
    url->path = al_strdup(colon + 1);
    if (!*url->path || *url->path == '-')
        return refuse(err, text, "has no path of a repository", form);
    return 0;
}

static int parse(struct al_url *url, const char *text, struct al_error *err)
{
    size_t scheme = scheme_length(text);
    const char *colon = strchr(text, ':'), *slash = strchr(text, '/');

    if (scheme && al_starts_with(text + scheme, "::"))
        return refuse(err, text, "needs a helper that airlock does not start",
                      "Use a path inside the roots, or https, ssh, http or git.");
    if (scheme && al_starts_with(text + scheme, "://"))
        return parse_url(url, text, scheme, err);
    if (*text == '-')
        return refuse(err, text, "begins with '-'", "Write ./ before a path that does.");
    if (colon && !(slash && slash < colon))
        return parse_scp(url, text, colon, err);
    url->kind = AL_URL_PATH;
    url->protocol = "file";
    url->path = al_strdup(text);
    return 0;
}

int al_url_parse(const char *text, struct al_url *ret_url, struct al_error *err)
{
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    int r;

    if (!*text)
        return refuse(err, text, "is empty", "Give a path inside the roots, or a URL.");
    if (strlen(text) > AL_URL_MAX_BYTES)
        return refuse(err, "", "is too long", "Give a shorter one.");
    if (al_arg_has_control(text))
        return refuse(err, text, "has a control character", "Give it without one.");
    r = parse(&url, text, err);
    if (r < 0)
        return r;
    if (!url.host)
        url.host = al_strdup("");
    if (!url.bare)
        url.bare = al_strdup(text);
    url.shown = al_url_shown(url.kind == AL_URL_HTTP ? url.bare : text);
    *ret_url = url;
    url = AL_URL_INIT;
    return 0;
}

/* Append a path without the escapes of characters that need none. */
static void add_unescaped(const char *path, struct al_str *out)
{
    for (const char *at = path; *at; at++) {
        const int c = escaped(at);

        if (c > 0 && (isalnum(c) || strchr("-._~", c))) {
            al_str_addc(out, (char)c);
            at += 2;
        } else {
            al_str_addc(out, *at);
        }
    }
}

/* Append a path without "." and "..", as curl sends it. */
static void add_path(const char *given, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str plain = AL_STR_INIT, path = AL_STR_INIT;
    size_t len;

    add_unescaped(given, &plain);
    for (const char *at = plain.buf; *at; at += len) {
        at += strspn(at, "/");
        len = strcspn(at, "/");
        if (len == 2 && !strncmp(at, "..", len))
            al_str_truncate(&path, path.len ? (size_t)(strrchr(path.buf, '/') - path.buf) : 0);
        else if (len != 1 || *at != '.')
            al_str_addf(&path, "/%.*s", (int)len, at);
    }
    al_str_adds(out, path.buf + (path.len && *given != '/'));
}

char *al_url_normal(const char *text)
{
    static const struct {
        const char *protocol;
        int port;
    } own[] = { { "https", 443 }, { "http", 80 }, { "ssh", 22 }, { "git", 9418 } };
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    const bool is_scp = !strstr(text, "://");

    if (al_url_parse(text, &url, NULL) < 0 || !*url.host || strchr(url.host, ':'))
        return al_url_shown(text);
    for (size_t i = 0; i < AL_COUNT(own); i++)
        if (!strcmp(url.protocol, own[i].protocol) && url.port == own[i].port)
            url.port = 0;
    if (!is_scp)
        al_str_addf(&out, "%s://", url.protocol);
    if (url.kind == AL_URL_SSH && url.user)
        al_str_addf(&out, "%s@", url.user);
    for (const char *at = url.host; *at && strcmp(at, ".") != 0; at++)
        al_str_addc(&out, (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at));
    if (url.port)
        al_str_addf(&out, ":%d", url.port);
    if (is_scp)
        al_str_addc(&out, ':');
    add_path(url.path, &out);
    return al_url_shown(out.buf);
}
