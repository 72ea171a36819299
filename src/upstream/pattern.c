// SPDX-License-Identifier: Apache-2.0
#include "upstream/pattern.h"

#include <ctype.h>
#include <string.h>

#include "util/mem.h"

/* With the flag u, only these may follow a backslash: what has a meaning, and what needs one. */
#define CLASS_ESCAPES    "dDwWsSbnrtfv"
#define IDENTITY_ESCAPES "^$\\.*+?()[]{}|/"

static bool is_one_of(const char *set, char c)
{
    return c && strchr(set, c);
}

/* "x41", "u0041" or "u{1F600}" behind a backslash; NULL: none of them. */
static const char *skip_code(const char *p)
{
    const int digits = *p == 'x' ? 2 : *p == 'u' ? 4 : 0;
    const char *digit;

    if (!digits)
        return NULL; /* also at the end of the text */
    digit = ++p;
    if (digits == 4 && *p == '{') {
        for (digit = ++p; isxdigit((unsigned char)*p); p++)
            ;
        return *p == '}' && p > digit && p - digit <= 5 ? p + 1 : NULL;
    }
    while (isxdigit((unsigned char)*p) && p - digit < digits)
        p++;
    return p - digit == digits ? p : NULL;
}

/* Behind an escape, from its backslash on; NULL: not a known one. */
static const char *skip_escape(const char *p, bool in_class)
{
    p++;
    if (is_one_of(CLASS_ESCAPES, *p) || is_one_of(IDENTITY_ESCAPES, *p) ||
        (in_class ? *p == '-' : *p == 'B'))
        return p + 1;
    return skip_code(p);
}

/* Behind a class, from its '[' on; NULL: it has no end.  A range that begins or ends with a class
 * escape is wrong, and so is one that runs backwards; both are doubtful here if they have an
 * escape.
 */
static const char *skip_class(const char *p)
{
    p += p[1] == '^' ? 2 : 1;
    while (*p && *p != ']') {
        const char *from = p;
        const bool escaped = *p == '\\';

        p = escaped ? skip_escape(p, true) : p + 1;
        if (!p)
            return NULL;
        if (*p != '-' || p[1] == ']' || !p[1])
            continue;
        if (escaped || p[1] == '\\' || (unsigned char)p[1] < (unsigned char)*from)
            return NULL;
        p += 2;
    }
    return *p == ']' ? p + 1 : NULL;
}

/* Behind "{3}", "{3,}" or "{3,5}"; NULL: no quantifier. */
static const char *skip_braces(const char *p)
{
    const char *digit = ++p;

    while (isdigit((unsigned char)*p))
        p++;
    if (p == digit || p - digit > 6)
        return NULL;
    if (*p == ',' && p[1] == '}')
        return p + 2;
    if (*p == ',')
        return NULL; /* the second number may be smaller */
    return *p == '}' ? p + 1 : NULL;
}

/* Behind the beginning of a group, from its '(' on; NULL: a kind that is not known. */
static const char *skip_group(const char *p)
{
    if (p[1] != '?')
        return p + 1;
    return is_one_of(":=!", p[2]) ? p + 3 : NULL;
}

/* Behind a quantifier, and the '?' that makes it lazy. */
static const char *skip_quantifier(const char *p)
{
    p = *p == '{' ? skip_braces(p) : p + 1;
    return p && *p == '?' ? p + 1 : p;
}

bool al_upstream_is_pattern(const char *pattern)
{
    bool atom = false; /* there is something to repeat */
    int open = 0;

    for (const char *p = pattern; *p;) {
        const char c = *p;

        if (is_one_of("*+?{", c))
            p = atom ? skip_quantifier(p) : NULL;
        else if (c == '\\')
            p = skip_escape(p, false);
        else if (c == '[')
            p = skip_class(p);
        else if (c == '(')
            p = skip_group(p);
        else
            p = is_one_of("]}", c) ? NULL : p + 1;
        if (!p || (c == ')' && open == 0))
            return false;
        open += (c == '(') - (c == ')');
        atom = !is_one_of("*+?{(|^$", c) && !(c == '\\' && is_one_of("bB", p[-1]));
    }
    return open == 0;
}
