// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

_Noreturn void fuzz_broken(const char *promise, const char *file, int line)
{
    (void)fprintf(stderr, "%s:%d: broken: %s\n", file, line, promise);
    abort();
}

uint8_t fuzz_byte(struct fuzz_input *input)
{
    if (!input->len)
        return 0;
    input->len--;
    return (uint8_t)*input->data++;
}

char *fuzz_bytes(const struct fuzz_input *input)
{
    char *copy = al_malloc(input->len);

    if (input->len)
        memcpy(copy, input->data, input->len);
    return copy;
}

char *fuzz_string(const struct fuzz_input *input)
{
    return al_strndup(input->data, strnlen(input->data, input->len));
}

size_t fuzz_piece(uint32_t *state, size_t left)
{
    size_t piece;

    *state = *state * 1664525u + 1013904223u;
    piece = 1 + (*state >> 16) % ((*state >> 30) ? 7 : 5000);
    return piece < left ? piece : left;
}

/* Chosen by hand from the Unicode tables, independently of the code that is tested. */
static bool is_harmful(uint32_t c)
{
    return c == 0x7f || (c >= 0x80 && c < 0xa0) || c == 0xad || c == 0x61c ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xe0000 && c <= 0xe007f);
}

bool fuzz_is_safe(const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        uint32_t c;
        int n = al_utf8_next(text + i, len - i, &c);

        if (n <= 0 || is_harmful(c))
            return false;
        if (c < 0x20 && c != '\t' && c != '\n' &&
            !(c == '\r' && i + 1 < len && text[i + 1] == '\n'))
            return false;
        i += (size_t)n;
    }
    return true;
}

bool fuzz_is_safe_line(const char *text)
{
    return fuzz_is_safe(text, strlen(text)) && !strpbrk(text, "\r\n\t");
}
