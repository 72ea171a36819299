// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/service.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "call/call.h"

struct al_principal *al_principal_new(const struct al_session *session, const char *name,
                                      void (*release)(void *payload), void *payload)
{
    static atomic_uint_least64_t last;
    struct al_principal *principal = al_calloc(1, sizeof(*principal));

    principal->session = *session;
    principal->session.approvals = NULL;
    principal->number = atomic_fetch_add(&last, 1) + 1;
    principal->name = al_strdup(name);
    atomic_init(&principal->refs, 1);
    principal->release = release;
    principal->payload = payload;
    return principal;
}

struct al_principal *al_principal_ref(struct al_principal *principal)
{
    (void)atomic_fetch_add(&principal->refs, 1);
    return principal;
}

void al_principal_unref(struct al_principal *principal)
{
    if (!principal || atomic_fetch_sub(&principal->refs, 1) != 1)
        return;
    if (principal->release)
        principal->release(principal->payload);
    free(principal->name);
    free(principal);
}

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
