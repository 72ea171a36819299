// SPDX-License-Identifier: Apache-2.0
#include "tools/upstream/names.h"

#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "call/mounts.h"
#include "guard/text.h"

/** The longest part of a refused name that is repeated. */
#define SHOWN_MAX_BYTES 80u

char *al_mounted_name(const char *server, const char *tool)
{
    return al_asprintf(AL_MOUNTS_PREFIX "%s__%s", server, tool);
}

size_t al_mounted_server(const char *name)
{
    const char *server = name + strlen(AL_MOUNTS_PREFIX), *end;

    if (!al_starts_with(name, AL_MOUNTS_PREFIX))
        return 0;
    end = strstr(server, "__");
    return end && end[2] ? (size_t)(end - server) : 0;
}

static bool is_plain(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";

    return *name && !name[strspn(name, allowed)];
}

static char *refusal(const char *tool, const char *why)
{
    al_auto(al_freep) char *safe = al_text_sanitize_shown_line(tool);

    if (strlen(safe) > SHOWN_MAX_BYTES)
        safe[al_utf8_floor(safe, SHOWN_MAX_BYTES)] = '\0';
    return al_asprintf("'%s' %s", safe, why);
}

char *al_mounted_refusal(const char *server, const char *tool)
{
    al_auto(al_freep) char *name = al_mounted_name(server, tool);

    if (!is_plain(tool))
        return refusal(tool, "has characters that clients refuse");
    if (strlen(name) > AL_MOUNTS_NAME_MAX_BYTES)
        return refusal(tool, "is too long behind the name of the server");
    return NULL;
}
