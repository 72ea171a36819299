// SPDX-License-Identifier: Apache-2.0
#include "mcp/request_meta.h"

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
