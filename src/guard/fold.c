// SPDX-License-Identifier: Apache-2.0
#include "guard/fold.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "guard/glob.h"
#include "util/mem.h"
#include "util/str.h"
#include "util/utf8.h"

/* What stands for every name with characters that do not fold to ASCII. */
#define OTHER "\x80"

/* --- One character --- */

static const struct {
    uint32_t c;
    const char *ascii;
} folded[] = {
    { 0x00df, "ss" },  { 0x0130, "i" },  { 0x0131, "i" },  { 0x017f, "s" },  { 0x1e9e, "ss" },
    { 0x212a, "k" },   { 0xfb00, "ff" }, { 0xfb01, "fi" }, { 0xfb02, "fl" }, { 0xfb03, "ffi" },
    { 0xfb04, "ffl" }, { 0xfb05, "st" }, { 0xfb06, "st" },
};

/* Separators and interlinear annotations are invisible, but a folded name keeps them. */
static bool is_ignored(uint32_t c)
{
    return al_char_is_invisible(c) && c != 0x2028 && c != 0x2029 && (c < 0xfff9 || c > 0xfffb);
}

/* NULL: it does not fold to ASCII. */
static const char *find_folded(uint32_t c)
{
    if (is_ignored(c))
        return "";
    for (size_t i = 0; i < AL_COUNT(folded); i++)
        if (c == folded[i].c)
            return folded[i].ascii;
    return NULL;
}

/* --- Names --- */

/* Append a component. */
static void add_name(const char *name, size_t len, struct al_str *out)
{
    const size_t before = out->len;

    for (size_t at = 0; at < len;) {
        uint32_t c;
        const int n = al_utf8_next(name + at, len - at, &c);
        const char *ascii = n > 0 && c >= 0x80 ? find_folded(c) : NULL;

        if (n <= 0 || (c >= 0x80 && !ascii)) {
            al_str_truncate(out, before);
            al_str_adds(out, OTHER);
            return;
        }
        if (ascii)
            al_str_adds(out, ascii);
        else
            al_str_addc(out, (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c));
        at += (size_t)n;
    }
}

char *al_fold_path(const char *path, size_t len)
{
    struct al_str out = AL_STR_INIT;

    for (size_t at = 0; at < len;) {
        const char *slash = memchr(path + at, '/', len - at);
        const size_t end = slash ? (size_t)(slash - path) : len;

        add_name(path + at, end - at, &out);
        if (slash)
            al_str_addc(&out, '/');
        at = end + 1;
    }
    return al_str_detach(&out);
}

static bool is_ascii(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)name[i] >= 0x80)
            return false;
    return true;
}

bool al_fold_is(const char *name, size_t len, const char *ascii)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    if (is_ascii(name, len))
        return len == strlen(ascii) && !strncasecmp(name, ascii, len);
    add_name(name, len, &out);
    return !strcmp(out.buf, ascii);
}
