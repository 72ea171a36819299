// SPDX-License-Identifier: Apache-2.0
/* The headers of a request, read as strictly as any server reads them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "serve/http/private.h"

/* Headers whose value is a list, so that several lines mean the same as one (RFC 9110 5.3), and
 * Cookie, which HTTP/2 gateways split.  Those that begin with X- or Sec- are not looked at here. */
static const char *const lists[] = {
    "accept",          "accept-charset",
    "accept-encoding", "accept-language",
    "baggage",         "cache-control",
    "connection",      "cookie",
    "forwarded",       "if-match",
    "if-none-match",   "keep-alive",
    "pragma",          "prefer",
    "priority",        "te",
    "tracestate",      "via",
    "warning",
};

/* Headers that prove who asks. */
static const char *const secrets[] = { "authorization", "cookie", "proxy-authorization" };

static char **find(const struct al_http_fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->names.count; i++)
        if (strcasecmp(fields->names.items[i], name) == 0)
            return &fields->values.items[i];
    return NULL;
}

void al_http_fields_wipe(struct al_http_fields *fields, const char *name)
{
    char **value = find(fields, name);

    if (value)
        explicit_bzero(*value, strlen(*value));
}

void al_http_fields_clear(struct al_http_fields *fields)
{
    for (size_t i = 0; i < AL_COUNT(secrets); i++)
        al_http_fields_wipe(fields, secrets[i]);
    al_strv_clear(&fields->names);
    al_strv_clear(&fields->values);
}

static bool is_list(const char *name)
{
    if (strncasecmp(name, "x-", 2) == 0 || strncasecmp(name, "sec-", 4) == 0)
        return true;
    for (size_t i = 0; i < AL_COUNT(lists); i++)
        if (strcasecmp(name, lists[i]) == 0)
            return true;
    return false;
}

const char *al_http_fields_find(const struct al_http_fields *fields, const char *name)
{
    char **value = find(fields, name);

    return value ? *value : NULL;
}

bool al_http_is_token(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c))
            return false;
    }
    return len > 0;
}

static bool is_value(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return al_utf8_valid(text, len);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

const char *al_http_fields_add(struct al_http_fields *fields, const char *name, size_t name_len,
                               const char *value, size_t value_len)
{
    al_auto(al_freep) char *key = NULL;
    al_auto(al_freep) char *text = NULL;
    char **before;

    if (!al_http_is_token(name, name_len))
        return "the name of a header is no token";
    while (value_len && is_space(value[value_len - 1]))
        value_len--;
    while (value_len && is_space(*value)) {
        value++;
        value_len--;
    }
    if (!is_value(value, value_len))
        return "a header has control characters or is not UTF-8";
    key = al_strndup(name, name_len);
    text = al_strndup(value, value_len);
    before = find(fields, key);
    if (before && !is_list(key)) {
        explicit_bzero(text, strlen(text));
        return "a header with a single value is there twice";
    }
    if (before) {
        char *joined = al_asprintf("%s, %s", *before, text);

        explicit_bzero(*before, strlen(*before));
        explicit_bzero(text, strlen(text));
        free(*before);
        *before = joined;
        return NULL;
    }
    al_strv_take(&fields->names, al_take(&key));
    al_strv_take(&fields->values, al_take(&text));
    return NULL;
}

/* 0; -1: no number; 1: above the limit. */
static int check_length(const char *text, size_t max_bytes, bool *ret_empty)
{
    uint64_t value = 0;

    if (!*text || strspn(text, "0123456789") != strlen(text))
        return -1;
    for (; *text; text++) {
        if (value > (UINT64_MAX - 9) / 10)
            return 1;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    *ret_empty = value == 0;
    return value > max_bytes;
}

struct al_http_framing al_http_fields_framing(const struct al_http_fields *fields,
                                              size_t max_body_bytes)
{
    const char *length = al_http_fields_find(fields, "content-length");
    const char *coding = al_http_fields_find(fields, "transfer-encoding");
    const char *upgrade = al_http_fields_find(fields, "upgrade");
    struct al_http_framing framing = { .has_body = length || coding, .chunked = coding };
    bool empty = false;
    int r = length ? check_length(length, max_body_bytes, &empty) : 0;

    if (length && coding)
        framing.bad = "Content-Length and Transfer-Encoding exclude each other";
    else if (r < 0)
        framing.bad = "Content-Length is no number";
    else if (coding && strcasecmp(coding, "chunked") != 0)
        framing.bad = "the only Transfer-Encoding is chunked";
    /* Clients offer h2c with each first request; a server may ignore it (RFC 9110 7.8). */
    else if (upgrade && strcasecmp(upgrade, "h2c") != 0)
        framing.bad = "this server changes to no other protocol";
    framing.too_large = r > 0;
    framing.has_body = framing.has_body && !empty;
    return framing;
}

const char *al_http_check_target(const char *target)
{
    size_t path_len = strcspn(target, "?");

    if (*target != '/')
        return "the target is no path that begins with '/'";
    if (memchr(target, '%', path_len))
        return "the path has percent-encoded bytes";
    for (; *target; target++)
        if (*target <= ' ' || *target >= 0x7f || *target == '#')
            return "the target is not plain ASCII";
    return NULL;
}

bool al_http_bearer(const char *value, const char **ret_token, size_t *ret_len)
{
    static const char scheme[] = "Bearer ";
    const char *token;
    size_t len = 0;

    if (!value || strncasecmp(value, scheme, sizeof(scheme) - 1) != 0)
        return false;
    token = value + sizeof(scheme) - 1;
    token += strspn(token, " ");
    while (token[len] > 0x20 && token[len] < 0x7f)
        len++;
    if (!len || token[len])
        return false;
    *ret_token = token;
    *ret_len = len;
    return true;
}
