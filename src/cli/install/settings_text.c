// SPDX-License-Identifier: Apache-2.0
#include "cli/install/settings_text.h"

#include <string.h>

void al_settings_text_clear(struct al_settings_text *settings)
{
    al_str_clear(&settings->text);
    al_strv_clear(&settings->before);
    al_strv_clear(&settings->after);
}

static void replace(struct al_str *text, size_t begin, size_t end, const char *by)
{
    struct al_str changed = AL_STR_INIT;

    al_str_add(&changed, text->buf, begin);
    al_str_adds(&changed, by);
    al_str_add(&changed, text->buf + end, text->len - end);
    al_str_clear(text);
    *text = changed;
}

void al_settings_text_replace(struct al_settings_text *settings, size_t begin, size_t end,
                              const char *by)
{
    al_strv_take(&settings->before, al_strndup(settings->text.buf + begin, end - begin));
    al_strv_add(&settings->after, by);
    replace(&settings->text, begin, end, by);
}

/* The position of `part`, which has to be there exactly once. */
static bool find_once(const struct al_str *text, const char *part, size_t *ret_at)
{
    const size_t len = strlen(part);
    const char *found = len ? memmem(text->buf, text->len, part, len) : NULL;

    if (!found)
        return false;
    *ret_at = (size_t)(found - text->buf);
    found++;
    return !memmem(found, text->len - (size_t)(found - text->buf), part, len);
}

bool al_settings_text_undo(struct al_settings_text *settings, const struct al_strv *before,
                           const struct al_strv *after)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    size_t at;

    al_str_add(&text, settings->text.buf, settings->text.len);
    for (size_t i = after->count; i-- > 0;) {
        if (!find_once(&text, after->items[i], &at))
            return false;
        replace(&text, at, at + strlen(after->items[i]), before->items[i]);
    }
    al_settings_text_replace(settings, 0, settings->text.len, text.buf ? text.buf : "");
    return true;
}
