// SPDX-License-Identifier: Apache-2.0
#include "history/refs.h"

#include <stdlib.h>
#include <string.h>

#include "gitops/oid.h"

void al_refs_clear(struct al_refs *refs)
{
    for (size_t i = 0; i < refs->count; i++) {
        free(refs->items[i].name);
        free(refs->items[i].value);
    }
    free(refs->items);
    *refs = (struct al_refs){ .items = NULL };
}

static void add(struct al_refs *refs, char *name, char *value)
{
    if (refs->count == refs->capacity) {
        refs->capacity = refs->capacity ? 2 * refs->capacity : 64;
        refs->items = al_reallocarray(refs->items, refs->capacity, sizeof(*refs->items));
    }
    refs->items[refs->count++] = (struct al_saved_ref){ .name = name, .value = value };
}

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

bool al_refs_parse(const char *text, size_t len, struct al_refs *ret_refs)
{
    al_auto(al_refs_clear) struct al_refs refs = { .items = NULL };

    while (len) {
        const char *end = memchr(text, '\n', len);
        const char *space = end ? memrchr(text, ' ', (size_t)(end - text)) : NULL;

        if (!space)
            return false;
        add(&refs, al_strndup(space + 1, (size_t)(end - space - 1)),
            al_strndup(text, (size_t)(space - text)));
        len -= (size_t)(end - text) + 1;
        text = end + 1;
    }
    *ret_refs = refs;
    refs = (struct al_refs){ .items = NULL };
    return true;
}
