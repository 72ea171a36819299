// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "review/web/private.h"

/* Decode a name or a value.  NULL: an escape is wrong, or means NUL. */
static char *decode(const char *text, size_t len)
{
    struct al_str decoded = AL_STR_INIT;

    for (size_t i = 0; i < len; i++) {
        int c = text[i] == '+' ? ' ' : (unsigned char)text[i];

        if (c == '%') {
            char digits[3];

            (void)snprintf(digits, sizeof(digits), "%.*s", i + 2 < len ? 2 : 0, text + i + 1);
            c = strspn(digits, "0123456789abcdefABCDEF") == 2 ? (int)strtol(digits, NULL, 16) : 0;
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
