// SPDX-License-Identifier: Apache-2.0
#include "cli/review/web/place.h"

#include <string.h>

char *al_web_origin(const struct al_http_place *place, const struct al_strv *hosts)
{
    const char *address = place->address;
    bool is_ipv6;

    if (!address)
        return NULL;
    if (place->behind_proxy && !al_http_is_loopback(address) && hosts->count)
        return al_asprintf("https://%s", hosts->items[0]);
    if (!strcmp(address, "0.0.0.0"))
        address = "127.0.0.1";
    else if (!strcmp(address, "::"))
        address = "::1";
    is_ipv6 = strchr(address, ':') != NULL;
    return al_asprintf("http%s://%s%s%s:%u", place->tls ? "s" : "", is_ipv6 ? "[" : "", address,
                       is_ipv6 ? "]" : "", (unsigned)place->port);
}
