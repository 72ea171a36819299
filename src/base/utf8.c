// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <string.h>

/* Bidi controls, joiners, selectors, fillers, tags, separators.  Sorted. */
static const struct {
    uint32_t first, last;
} invisible[] = {
    { 0x00ad, 0x00ad },   { 0x034f, 0x034f }, { 0x061c, 0x061c },   { 0x115f, 0x1160 },
    { 0x17b4, 0x17b5 },   { 0x180b, 0x180f }, { 0x200b, 0x200f },   { 0x2028, 0x202e },
    { 0x2060, 0x206f },   { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
    { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
    { 0xe0000, 0xe0fff },
};

bool al_utf8_is_invisible(uint32_t c)
{
    for (size_t i = 0; i < AL_COUNT(invisible) && c >= invisible[i].first; i++)
        if (c <= invisible[i].last)
            return true;
    return false;
}

bool al_utf8_is_hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || al_utf8_is_invisible(c);
}

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
        low = 0xa0; /* overlong below */
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

void al_utf8_add(uint32_t c, struct al_str *out)
{
    static const unsigned char leading[] = { 0, 0xc0, 0xe0, 0xf0 };
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

    al_str_addc(out, (char)(leading[more] | c >> 6 * more));
    while (more-- > 0)
        al_str_addc(out, (char)(0x80 | (c >> 6 * more & 0x3f)));
}

/* The number of leading bytes that are whole characters. */
static size_t valid_part(const char *text, size_t len)
{
    size_t at = 0;
    uint32_t c;
    int n;

    while ((n = al_utf8_next(text + at, len - at, &c)) > 0)
        at += (size_t)n;
    return at;
}

bool al_utf8_valid(const char *text, size_t len)
{
    return valid_part(text, len) == len;
}

void al_utf8_replace(const char *text, size_t len, struct al_str *out)
{
    for (;;) {
        size_t valid = valid_part(text, len);

        al_str_add(out, text, valid);
        if (valid == len)
            return;
        al_str_adds(out, AL_UTF8_REPLACEMENT);
        text += valid + 1;
        len -= valid + 1;
    }
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

unsigned char al_utf8_escaped_byte(const char *text)
{
    int high = text[0] == '<' ? hex_digit(text[1]) : -1;
    int low = high < 0 ? -1 : hex_digit(text[2]);
    int byte = high * 16 + low;

    return low >= 0 && text[3] == '>' && (byte >= 0x80 || byte == '<') ? (unsigned char)byte : 0;
}

void al_utf8_escape(const char *text, size_t len, struct al_str *out)
{
    for (size_t at = 0; at < len;) {
        uint32_t c = 0;
        int n = al_utf8_next(text + at, len - at, &c);

        if (n <= 0 || (len - at >= 4 && al_utf8_escaped_byte(text + at)))
            al_str_addf(out, "<%02X>", (unsigned char)text[at]);
        else
            al_str_add(out, text + at, (size_t)n);
        at += n > 0 ? (size_t)n : 1;
    }
}

void al_utf8_unescape(const char *text, struct al_str *out)
{
    while (*text) {
        unsigned char byte = al_utf8_escaped_byte(text);

        al_str_addc(out, byte ? (char)byte : *text);
        text += byte ? strlen("<E9>") : 1;
    }
}

size_t al_utf8_floor(const char *text, size_t len)
{
    size_t at = len;

    /* A cut before byte `at` is clean unless that byte continues a character. */
    while (at > 0 && len - at < 4 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}
