// SPDX-License-Identifier: Apache-2.0
#include "history/refs.h"

#include <stdlib.h>
#include <string.h>

#include "gitops/oid.h"

/* git refuses other names too, and a list with one reference a line could not represent them. */
static bool is_name(const char *name)
{
    const char *at = name;

    while ((unsigned char)*at > ' ' && *at != 0x7f)
        at++;
    return *name && !*at;
}

char *al_ref_value(const char *text, bool sha256)
{
    al_auto(al_freep) char *line = al_strndup(text, strcspn(text, "\r\n"));
    struct al_oid oid;

    if (al_starts_with(line, "ref:")) {
        const char *target = line + 4 + strspn(line + 4, " \t");
        al_auto(al_str_clear) struct al_str value = AL_STR_INIT;

        al_str_adds(&value, target);
        al_str_trim_end(&value);
        return is_name(value.buf) ? al_asprintf("ref: %s", value.buf) : NULL;
    }
    if (!al_oid_parse(line, sha256, &oid))
        return NULL;
    line[2 * al_oid_bytes(sha256)] = '\0';
    return al_take(&line);
}

bool al_refs_parse(const char *text, size_t len, struct al_differences *refs)
{
    while (len) {
        const char *end = memchr(text, '\n', len);
        const char *space = end ? memrchr(text, ' ', (size_t)(end - text)) : NULL;
        al_auto(al_freep) char *name = NULL;

        if (!space)
            return false;
        name = al_strndup(space + 1, (size_t)(end - space - 1));
        al_differences_add(refs, AL_PART_REF, name)->to = al_strndup(text, (size_t)(space - text));
        len -= (size_t)(end - text) + 1;
        text = end + 1;
    }
    return true;
}
