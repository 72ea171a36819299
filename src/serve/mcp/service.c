// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/service.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "call/call.h"

static char *describe_server(const char *version)
{
    struct al_str info = AL_STR_INIT;

    al_str_adds(&info, "{\"name\":\"airlock\",\"title\":\"airlock\",\"version\":");
    al_json_quote(version, strlen(version), &info);
    al_str_addc(&info, '}');
    return al_str_detach(&info);
}

void al_service_init(struct al_service *service, const char *version, struct al_mounts *mounts,
                     const struct al_calls_options *calls)
{
    *service = (struct al_service){ .info = NULL };
    al_calls_init(&service->calls, calls);
    service->info = describe_server(version);
    service->meta = al_asprintf("\"io.modelcontextprotocol/serverInfo\":%s", service->info);
    service->modern =
        (struct al_result_extra){ .members = "\"resultType\":\"complete\"", .meta = service->meta };
    al_listings_init(&service->listings, mounts);
}

void al_service_clear(struct al_service *service)
{
    al_listings_clear(&service->listings);
    al_calls_clear(&service->calls);
    free(service->info);
    free(service->meta);
}
