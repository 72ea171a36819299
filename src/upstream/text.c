// SPDX-License-Identifier: Apache-2.0
#include "upstream/text.h"

#include <stdlib.h>

#include "guard/text.h"
#include "upstream/limits.h"

#define ELLIPSIS "..."

/* Cut at a character, so that the ellipsis fits too. */
static void cut(struct al_str *text, size_t max_bytes)
{
    size_t len = max_bytes - strlen(ELLIPSIS);

    if (text->len <= max_bytes)
        return;
    while (len > 0 && ((unsigned char)text->buf[len] & 0xc0) == 0x80)
        len--;
    al_str_truncate(text, len);
    al_str_adds(text, ELLIPSIS);
}

static char *finish(struct al_str *text, size_t max_bytes)
{
    al_str_trim_end(text);
    cut(text, max_bytes);
    if (text->len)
        return al_str_detach(text);
    al_str_clear(text);
    return NULL;
}

char *al_upstream_line(const char *text, size_t max_bytes)
{
    struct al_str out = AL_STR_INIT;

    if (!text)
        return NULL;
    al_auto(al_freep) char *line = al_text_join_lines(text);

    al_str_adds(&out, line + strspn(line, " "));
    return finish(&out, max_bytes);
}

char *al_upstream_text(const char *text, size_t max_bytes)
{
    struct al_str out = AL_STR_INIT;

    if (!text)
        return NULL;
    al_text_sanitize(text, strlen(text), &out);
    return finish(&out, max_bytes);
}

static void clean_member(json_t *object, const char *name, size_t max_bytes)
{
    const char *text = al_json_get_string(object, name);
    al_auto(al_freep) char *safe = al_upstream_text(text, max_bytes);

    if (text && !safe)
        al_json_set(object, name, al_json_string(""));
    else if (text && strcmp(text, safe) != 0)
        al_json_set(object, name, al_json_string(safe));
}

void al_upstream_clean(json_t *value)
{
    const char *name;
    json_t *item;
    size_t i;

    clean_member(value, "title", AL_UPSTREAM_TITLE_MAX_BYTES);
    clean_member(value, "description", AL_UPSTREAM_DESCRIPTION_MAX_BYTES);
    json_array_foreach(value, i, item)
    {
        al_upstream_clean(item);
    }
    json_object_foreach(value, name, item)
    {
        al_upstream_clean(item);
    }
}
