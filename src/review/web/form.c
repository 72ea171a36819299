// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "review/web/private.h"

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

char *al_web_field(const char *text, const char *name)
{
    while (text && *text) {
        const size_t len = strcspn(text, "&"), name_len = strcspn(text, "=&");
        al_auto(al_freep) char *found = decode(text, name_len);

        if (found && !strcmp(found, name))
            return name_len < len ? decode(text + name_len + 1, len - name_len - 1) : al_strdup("");
        text += len + (text[len] == '&');
    }
    return NULL;
}
