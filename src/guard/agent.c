// SPDX-License-Identifier: Apache-2.0
#include "guard/agent.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "guard/text.h"

/* No more of a client's name is looked at. */
#define LOOKED_AT_BYTES 1024u

char *al_agent_name(const char *given)
{
    al_auto(al_freep) char *start =
        given ? al_strndup(given, strnlen(given, LOOKED_AT_BYTES)) : NULL;
    al_auto(al_freep) char *safe = start ? al_text_join_lines(start) : NULL;
    const char *name = safe ? safe + strspn(safe, " ") : "";
    size_t len = strlen(name);

    if (len > AL_AGENT_NAME_MAX_BYTES)
        len = al_utf8_floor(name, AL_AGENT_NAME_MAX_BYTES);
    while (len > 0 && name[len - 1] == ' ')
        len--;
    return len ? al_strndup(name, len) : NULL;
}

int al_agent_check_name(const char *name, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_agent_name(name);

    if (safe && !strcmp(safe, name))
        return 0;
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "must be 1 to %u bytes of visible characters on one line",
                        AL_AGENT_NAME_MAX_BYTES);
}
