// SPDX-License-Identifier: Apache-2.0
#include "guard/char_class.h"

#include <endian.h>
#include <string.h>

#include "util/mem.h"

/* Invisible characters: bidi controls, joiners, selectors, fillers, tags, separators.  Sorted. */
static const struct {
    uint32_t first, last;
} invisible[] = {
    { 0x00ad, 0x00ad },   { 0x034f, 0x034f }, { 0x061c, 0x061c },   { 0x115f, 0x1160 },
    { 0x17b4, 0x17b5 },   { 0x180b, 0x180f }, { 0x200b, 0x200f },   { 0x2028, 0x202e },
    { 0x2060, 0x206f },   { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
    { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
    { 0xe0000, 0xe0fff },
};

bool al_char_is_invisible(uint32_t c)
{
    for (size_t i = 0; i < AL_COUNT(invisible) && c >= invisible[i].first; i++)
        if (c <= invisible[i].last)
            return true;
    return false;
}

/* For the fast path, sixteen bytes a line: the length of the character that this byte begins, or 0
 * if such a character may need care.  0 covers the leading bytes of invisible and C1 characters,
 * and leading bytes whose second byte has narrower bounds. */
static const char easy_length[] = "0000000001100000"
                                  "0000000000000000"
                                  "1111111111111111" /* 2 */
                                  "1111111111111111"
                                  "1111111111111111" /* 4 */
                                  "1111111111111111"
                                  "1111111111111111" /* 6 */
                                  "1111111111111110"
                                  "0000000000000000" /* 8 */
                                  "0000000000000000"
                                  "0000000000000000" /* a */
                                  "0000000000000000"
                                  "0002222222222022" /* c */
                                  "2222222202222222"
                                  "0000333333333030" /* e */
                                  "0000000000000000";

bool al_char_continues(char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Sets the high bit of each of eight bytes that is not printable ASCII, tab or newline; all other
 * bits are 0. */
static uint64_t careful_of_eight(const unsigned char *s)
{
    const uint64_t each = 0x0101010101010101;
    uint64_t w, low, control, blank, del;

    memcpy(&w, s, sizeof(w));
    w = le64toh(w);
    low = w & 0x7f * each; /* no sum below carries into the next byte */
    control = ~(low + (0x80 - ' ') * each);
    blank = (low + (0x80 - '\t') * each) & ~(low + (0x80 - '\n' - 1) * each);
    del = low + each;
    return ((control & ~blank) | del | w) & 0x80 * each;
}

size_t al_char_plain_run(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t i = 0;

    while (i < len) {
        uint64_t careful = 0;
        char length;

        while (len - i >= 8 && !(careful = careful_of_eight(s + i)))
            i += 8;
        i += careful ? (size_t)__builtin_ctzll(careful) / 8 : 0;
        /* Constant steps: adding a table value would keep the processor from reading ahead. */
        while (i < len && (length = easy_length[s[i]]) != '1') {
            if (length == '3' && len - i >= 3 && al_char_continues(text[i + 1]) &&
                al_char_continues(text[i + 2]))
                i += 3;
            else if (length == '2' && len - i >= 2 && al_char_continues(text[i + 1]))
                i += 2;
            else
                return i;
        }
        i += i < len;
    }
    return i;
}
