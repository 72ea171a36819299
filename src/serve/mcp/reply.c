// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/reply.h"

#include <string.h>

#include "base/jsonrpc.h"
#include "base/protocol_version.h"
#include "base/sink.h"
#include "base/utf8.h"
#include "guard/text.h"

#define VERSION      AL_META_VERSION
#define CAPABILITIES AL_META_CAPABILITIES
#define CLIENT       AL_META_CLIENT

enum al_era al_envelope_era(const struct al_rpc_message *message)
{
    const json_t *meta = json_object_get(message->params, "_meta");

    if (json_object_get(meta, VERSION) || json_object_get(meta, CAPABILITIES) ||
        json_object_get(meta, CLIENT) || !strcmp(message->method, "server/discover"))
        return AL_ERA_MODERN;
    return AL_ERA_LEGACY;
}

/* A missing member or one of a wrong type, as a sentence; NULL: none.  Other members may be
 * anything. */
static const char *find_problem(const struct al_rpc_message *message)
{
    const json_t *meta = json_object_get(message->params, "_meta");
    const json_t *client = json_object_get(meta, CLIENT);

    if (!json_is_object(meta))
        return "params._meta is missing, or no object";
    if (!json_object_get(meta, VERSION))
        return "params._meta lacks " VERSION;
    if (!json_is_string(json_object_get(meta, VERSION)))
        return VERSION " must be a string";
    if (!json_object_get(meta, CAPABILITIES))
        return "params._meta lacks " CAPABILITIES;
    if (!json_is_object(json_object_get(meta, CAPABILITIES)))
        return CAPABILITIES " must be an object";
    if (client && !json_is_object(client))
        return CLIENT " must be an object";
    return NULL;
}

enum al_rpc_code al_envelope_read(const struct al_rpc_message *message,
                                  struct al_envelope *ret_envelope, const char **ret_problem)
{
    const json_t *meta = json_object_get(message->params, "_meta");
    const json_t *version = json_object_get(meta, VERSION);
    const struct al_revision *revision = NULL;

    *ret_problem = find_problem(message);
    if (*ret_problem)
        return AL_RPC_INVALID_PARAMS;
    if (strlen(json_string_value(version)) == json_string_length(version))
        revision = al_revision_find(json_string_value(version));
    *ret_envelope = (struct al_envelope){
        .version = json_string_value(version),
        .revision = revision,
        .capabilities = json_object_get(meta, CAPABILITIES),
        .client = json_object_get(meta, CLIENT),
    };
    if (revision && revision->era == AL_ERA_MODERN)
        return AL_RPC_OK;
    *ret_problem = revision ? "this revision begins with initialize" : "unsupported revision";
    return AL_RPC_UNSUPPORTED_VERSION;
}

/* The length of a client's text that is repeated. */
#define NAME_BYTES 128

static void answer(struct al_message_sink *sink, const struct al_rpc_answer *answer)
{
    if (sink)
        al_sink_answer(sink, answer);
}

void al_reply_send(struct al_message_sink *sink, struct al_str *line)
{
    answer(sink, &(struct al_rpc_answer){ .line = line });
}

void al_reply_nothing(struct al_message_sink *sink)
{
    answer(sink, &(struct al_rpc_answer){ .line = NULL });
}

static void answer_error(struct al_message_sink *sink, const char *id, enum al_rpc_code code,
                         const char *text, bool is_busy)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_rpc_add_error(&line, id, code, text);
    answer(sink, &(struct al_rpc_answer){ .line = &line, .code = code, .is_busy = is_busy });
}

void al_reply_error(struct al_message_sink *sink, const char *id, enum al_rpc_code code,
                    const char *text)
{
    answer_error(sink, id, code, text, false);
}

void al_reply_busy(struct al_message_sink *sink, const char *id, const char *text)
{
    answer_error(sink, id, AL_RPC_INTERNAL_ERROR, text, true);
}

static size_t kept_bytes(const char *text)
{
    size_t len = strlen(text);

    return len > NAME_BYTES ? al_utf8_floor(text, NAME_BYTES) : len;
}

void al_reply_error_about(struct al_message_sink *sink, const char *id, enum al_rpc_code code,
                          const char *text, const char *name, const char *suggestion)
{
    const bool helps = suggestion && strcmp(suggestion, name) != 0;
    size_t kept = kept_bytes(name);
    al_auto(al_freep) char *head = al_strndup(name, kept);
    al_auto(al_freep) char *safe = al_text_sanitize_line(head);
    al_auto(al_freep) char *message =
        al_asprintf("%s: %s%s%s%s%s", text, safe, name[kept] ? "..." : "",
                    helps ? "; did you mean " : "", helps ? suggestion : "", helps ? "?" : "");

    al_reply_error(sink, id, code, message);
}

void al_reply_unsupported(struct al_message_sink *sink, const char *id, const char *problem,
                          const char *version)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str data = AL_STR_INIT;

    al_str_adds(&data, "{\"supported\":");
    al_revision_add_list(&data);
    al_str_adds(&data, ",\"requested\":");
    al_json_quote(version, kept_bytes(version), &data);
    al_str_addc(&data, '}');
    al_rpc_add_error_data(&line, id, AL_RPC_UNSUPPORTED_VERSION, problem, data.buf);
    answer(sink, &(struct al_rpc_answer){ .line = &line, .code = AL_RPC_UNSUPPORTED_VERSION });
}
