// SPDX-License-Identifier: Apache-2.0
#include "http/bearer.h"

#include <string.h>
#include <strings.h>

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
