// SPDX-License-Identifier: Apache-2.0
#include "util/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

int al_utf8_next(const char *text, size_t len, uint32_t *ret_char)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */
    uint32_t c;
    int need;

    if (!len)
        return 0;
    if (s[0] < 0x80) {
        *ret_char = s[0];
        return 1;
    }
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return -1;
    need = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    c = s[0] & (need == 2 ? 0x1fu : need == 3 ? 0x0fu : 0x07u);
    if (s[0] == 0xe0)
        low = 0xa0; /* shorter forms exist */
    else if (s[0] == 0xed)
        high = 0x9f; /* surrogates */
    else if (s[0] == 0xf0)
        low = 0x90;
    else if (s[0] == 0xf4)
        high = 0x8f; /* beyond U+10FFFF */
    for (int i = 1; i < need; i++) {
        if ((size_t)i >= len)
            return 0;
        if (s[i] < low || s[i] > high)
            return -1;
        low = 0x80;
        high = 0xbf;
        c = c << 6 | (s[i] & 0x3fu);
    }
    *ret_char = c;
    return need;
}

bool al_utf8_valid(const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        uint32_t c;
        int n = al_utf8_next(text + i, len - i, &c);

        if (n <= 0)
            return false;
        i += (size_t)n;
    }
    return true;
}

void al_utf8_replace(const char *text, size_t len, struct al_str *out)
{
    for (size_t i = 0; i < len;) {
        uint32_t c;
        int n = al_utf8_next(text + i, len - i, &c);

        if (n > 0) {
            al_str_add(out, text + i, (size_t)n);
            i += (size_t)n;
        } else {
            al_str_adds(out, REPLACEMENT);
            i++;
        }
    }
}

size_t al_utf8_floor(const char *text, size_t len)
{
    size_t at = len;

    /* The cut is between bytes at-1 and at: it is clean unless byte `at` continues a character. */
    while (at > 0 && len - at < 4 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}
