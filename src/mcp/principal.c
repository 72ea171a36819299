// SPDX-License-Identifier: Apache-2.0
#include "mcp/principal.h"

#include <stdlib.h>

#include "util/mem.h"

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
