// SPDX-License-Identifier: Apache-2.0
/* What all clients of a server share, whatever they may do: its calls, its name, and the news about
 * its list of tools. */
#ifndef AL_SERVE_MCP_SERVICE_H
#define AL_SERVE_MCP_SERVICE_H

#include "call/call.h"
#include "serve/mcp/calls.h"
#include "serve/mcp/listing.h"

struct al_service {
    char *info;                    /**< serverInfo, a JSON object */
    char *meta;                    /**< the member of a modern _meta that holds serverInfo */
    struct al_result_extra modern; /**< what every modern result adds */
    struct al_listings listings;
    struct al_calls calls;
};

/** `version` is that of airlock; `mounts` may be NULL. */
void al_service_init(struct al_service *service, const char *version, struct al_mounts *mounts,
                     const struct al_calls_options *calls);

/** Only after the last call has ended and the last listing was cleared. */
void al_service_clear(struct al_service *service);

#endif
