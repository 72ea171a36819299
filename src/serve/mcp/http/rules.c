// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/http/private.h"

#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/jsonrpc.h"
#include "base/protocol_version.h"
#include "base/str.h"
#include "serve/http/server.h"

#define VERSION "mcp-protocol-version"

/* Text between two places of a header, without white space around it. */
struct piece {
    const char *at;
    size_t len;
};

/* The piece up to `end` or the end of the text; *at is moved behind it. */
static struct piece next_piece(const char **at, char end)
{
    const char *begin = *at, *stop = strchr(begin, end);
    size_t len = stop ? (size_t)(stop - begin) : strlen(begin);

    *at = begin + len + (stop != NULL);
    while (len && (*begin == ' ' || *begin == '\t')) {
        begin++;
        len--;
    }
    while (len && (begin[len - 1] == ' ' || begin[len - 1] == '\t'))
        len--;
    return (struct piece){ begin, len };
}

static bool equals(struct piece piece, const char *text)
{
    return piece.len == strlen(text) && !strncasecmp(piece.at, text, piece.len);
}

bool al_rules_is_json(const char *content_type)
{
    return content_type && equals(next_piece(&content_type, ';'), "application/json");
}

/* Whether a media range like "text" followed by "/" and a star covers a type. */
static bool covers(struct piece range, const char *type)
{
    const size_t major = (size_t)(strchr(type, '/') - type) + 1;

    if (equals(range, "*/*") || equals(range, type))
        return true;
    return range.len == major + 1 && range.at[major] == '*' && !strncasecmp(range.at, type, major);
}

/* Whether the parameters of a media range say that it is not wanted: a weight of zero. */
static bool is_refused(const char *parameters, const char *end)
{
    while (parameters < end) {
        struct piece parameter = next_piece(&parameters, ';');

        if (parameter.len >= 3 && !strncasecmp(parameter.at, "q=0", 3) &&
            strspn(parameter.at + 3, ".0") >= parameter.len - 3)
            return true;
    }
    return false;
}

bool al_rules_accepts(const char *accept, const char *type)
{
    while (accept && *accept) {
        struct piece item = next_piece(&accept, ',');
        al_auto(al_freep) char *text = al_strndup(item.at, item.len);
        const char *at = text;

        if (covers(next_piece(&at, ';'), type) && !is_refused(at, text + item.len))
            return true;
    }
    return !accept;
}

bool al_rules_says_modern(const struct al_http_request *request)
{
    const char *name = al_http_find_header(request, VERSION);
    const struct al_revision *revision = name ? al_revision_find(name) : NULL;

    return revision && revision->era == AL_ERA_MODERN;
}

const char *al_rules_check_legacy(const struct al_http_request *request)
{
    const char *name = al_http_find_header(request, VERSION);

    if (name && !al_revision_find(name))
        return "the revision in MCP-Protocol-Version is not supported";
    return NULL;
}

/* The member of the params that Mcp-Name repeats; NULL: the method has none. */
static const char *named_member(const char *method)
{
    if (!strcmp(method, "tools/call") || !strcmp(method, "prompts/get"))
        return "name";
    return strcmp(method, "resources/read") ? NULL : "uri";
}

/* The value of a header whose text may be given as `=?base64?TEXT?=`.  False: it is neither that
 * nor printable ASCII. */
static bool decode(const char *header, struct al_str *ret_value)
{
    static const char prefix[] = "=?base64?", suffix[] = "?=";
    const size_t len = strlen(header), around = strlen(prefix) + strlen(suffix);

    if (len >= around && !strncmp(header, prefix, strlen(prefix)) &&
        !strcmp(header + len - strlen(suffix), suffix))
        return al_base64_decode(header + strlen(prefix), len - around, ret_value);
    for (const char *at = header; *at; at++)
        if (*at < ' ' || *at > '~')
            return false;
    al_str_adds(ret_value, header);
    return true;
}

static const char *check_name(const struct al_http_request *request,
                              const struct al_rpc_message *message)
{
    const char *member = named_member(message->method);
    const json_t *value = member ? json_object_get(message->params, member) : NULL;
    const char *header = al_http_find_header(request, "mcp-name");
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;

    if (!member || (!header && !json_is_string(value)))
        return NULL; /* a tools/call without a name is refused for that */
    if (!header)
        return "the header Mcp-Name is missing";
    if (!decode(header, &name))
        return "the header Mcp-Name is neither printable ASCII nor =?base64?...?=";
    if (!json_is_string(value) || name.len != json_string_length(value) ||
        memcmp(name.len ? name.buf : "", json_string_value(value), name.len) != 0)
        return "the header Mcp-Name differs from the name in params";
    return NULL;
}

const char *al_rules_check_modern(const struct al_http_request *request,
                                  const struct al_rpc_message *message, const char *version)
{
    const char *header_version = al_http_find_header(request, VERSION);
    const char *method = al_http_find_header(request, "mcp-method");

    if (!header_version)
        return "the header MCP-Protocol-Version is missing";
    if (version && strcmp(header_version, version) != 0)
        return "the header MCP-Protocol-Version differs from params._meta";
    if (!method)
        return "the header Mcp-Method is missing";
    if (strcmp(method, message->method) != 0)
        return "the header Mcp-Method differs from the method";
    return check_name(request, message);
}
