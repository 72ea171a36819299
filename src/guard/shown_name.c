// SPDX-License-Identifier: Apache-2.0
#include "guard/shown_name.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "guard/glob.h"
#include "util/str.h"
#include "util/utf8.h"

#define LARGEST_CHAR 0x10ffff

/* The longest is <U+10FFFF>. */
#define SHOWN_BYTES 16

static bool is_shown(uint32_t c)
{
    return (c > 0 && c < 0x20) || (c >= 0x7f && c <= 0x9f) || al_char_is_invisible(c);
}

/* Read a character that is shown; its length in `text`, or 0. */
static size_t read_one(const char *text, uint32_t *ret_char)
{
    char again[SHOWN_BYTES];
    unsigned long long c;

    if (!al_starts_with(text, "<U+"))
        return 0;
    c = strtoull(text + strlen("<U+"), NULL, 16);
    if (c > LARGEST_CHAR || !is_shown((uint32_t)c))
        return 0;
    (void)snprintf(again, sizeof(again), "<U+%04X>", (unsigned)c);
    *ret_char = (uint32_t)c;
    return al_starts_with(text, again) ? strlen(again) : 0;
}

char *al_shown_name_read(const char *shown)
{
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;
    bool any = false;

    while (*shown) {
        uint32_t c = 0;
        size_t len = read_one(shown, &c);

        if (len)
            al_utf8_add(c, &name);
        else
            al_str_addc(&name, *shown);
        any |= len > 0;
        shown += len ? len : 1;
    }
    return any ? al_str_detach(&name) : NULL;
}
