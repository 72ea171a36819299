// SPDX-License-Identifier: Apache-2.0
#include "config/staging.h"

#include <string.h>

#include "guard/url.h"
#include "util/str.h"

int al_staging_check_author(const char *author, struct al_error *err)
{
    size_t name = strcspn(author, "<");
    const char *mail = author[name] ? author + name + 1 : "";
    size_t len = strcspn(mail, "<> ");
    bool named = strspn(author, " ") < name && author[0] != ' ' && name && author[name - 1] == ' ';

    for (const char *at = author; *at; at++)
        named = named && (unsigned char)*at >= 0x20 && *at != 0x7f;
    if (named && !memchr(author, '>', name) && len && !strcmp(mail + len, ">"))
        return 0;
    return al_error_set(err, AL_ERR_BAD_ARGS, "must be 'Name <mail>'");
}

static bool is_loopback(const char *host)
{
    return !strcmp(host, "localhost") || !strcmp(host, "::1") || !strcmp(host, "127.0.0.1");
}

int al_staging_check_base_url(const char *address, struct al_error *err)
{
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_freep) char *whole = al_asprintf("%s/user/name", address);
    bool good = al_url_parse(whole, &url, &why) == 0 && url.kind == AL_URL_HTTP && url.host[0];

    if (strpbrk(address, "?#") || (good && (url.user || url.password)))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "must have no user, no password, no query and no fragment");
    if (!good || (strcmp(url.protocol, "https") != 0 && !is_loopback(url.host)))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "must begin with https:// (http:// only for localhost, 127.0.0.1 and "
                            "[::1])");
    return 0;
}
