// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cli/review/web/private.h"

void al_web_form_clear(struct al_web_form *form)
{
    al_strv_clear(&form->names);
    al_strv_clear(&form->values);
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decode a name or a value.  NULL: an escape is wrong, or means NUL. */
static char *decode(const char *text, size_t len)
{
    struct al_str decoded = AL_STR_INIT;

    for (size_t i = 0; i < len; i++) {
        int c = text[i] == '+' ? ' ' : (unsigned char)text[i];

        if (c == '%') {
            const int high = i + 2 < len ? digit(text[i + 1]) : -1;
            const int low = i + 2 < len ? digit(text[i + 2]) : -1;

            c = high < 0 || low < 0 ? 0 : high * 16 + low;
            i += 2;
        }
        if (c == 0) {
            al_str_clear(&decoded);
            return NULL;
        }
        al_str_addc(&decoded, (char)c);
    }
    return al_str_detach(&decoded);
}

static bool add_field(const char *text, size_t len, struct al_web_form *form)
{
    const char *equals = memchr(text, '=', len);
    const size_t name_len = equals ? (size_t)(equals - text) : len;
    char *name = decode(text, name_len);
    char *value = equals ? decode(equals + 1, len - name_len - 1) : al_strdup("");
    const bool is_good = name && value && form->names.count < AL_WEB_FIELDS_MAX &&
                         !al_strv_contains(&form->names, name);

    if (!is_good) {
        al_freep(&name);
        al_freep(&value);
        return false;
    }
    al_strv_take(&form->names, name);
    al_strv_take(&form->values, value);
    return true;
}

bool al_web_form_read(const char *text, size_t len, struct al_web_form *ret_form)
{
    *ret_form = AL_WEB_FORM_INIT;
    if (len > AL_WEB_FORM_MAX_BYTES)
        return false;
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '&', len - at);
        const size_t field = end ? (size_t)(end - text) - at : len - at;

        if (field && !add_field(text + at, field, ret_form)) {
            al_web_form_clear(ret_form);
            return false;
        }
        at += field + 1;
    }
    return true;
}

const char *al_web_form_get(const struct al_web_form *form, const char *name)
{
    for (size_t i = 0; i < form->names.count; i++)
        if (!strcmp(form->names.items[i], name))
            return form->values.items[i];
    return NULL;
}

bool al_web_number(const char *text, uint64_t *ret)
{
    uint64_t number = 0;

    if (!text || !*text)
        return false;
    for (; *text; text++) {
        const uint64_t value = (uint64_t)(*text - '0');

        if (*text < '0' || *text > '9' || number > (UINT64_MAX - value) / 10)
            return false;
        number = number * 10 + value;
    }
    *ret = number;
    return true;
}
