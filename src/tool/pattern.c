// SPDX-License-Identifier: Apache-2.0
#include "tool/pattern.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "util/str.h"

#define DIGITS "0123456789"

/* The subset: printable ASCII, escaped metacharacters, brackets without escapes and classes,
 * groups, and at most one quantifier for each atom.  A dot is not in the subset: the dialects
 * disagree about newlines.  skip_*() return what follows, or NULL outside the subset. */
#define METACHARACTERS "^$\\.*+?()[]{}|"

static const char *skip_branches(const char *at, bool grouped);

static bool is_literal(char c)
{
    return c >= ' ' && c <= '~' && !strchr(METACHARACTERS, c);
}

static const char *skip_bracket(const char *at)
{
    if (*at == '^')
        at++;
    if (*at == ']')
        return NULL; /* a literal in POSIX, the end of the bracket in ECMA-262 */
    while (*at >= ' ' && *at <= '~' && !strchr("[]\\", *at))
        at++;
    return *at == ']' ? at + 1 : NULL;
}

static const char *skip_quantifier(const char *at)
{
    if (*at == '{') {
        at += 1 + strspn(at + 1, DIGITS);
        if (at[-1] == '{')
            return NULL;
        if (*at == ',')
            at += 1 + strspn(at + 1, DIGITS);
        if (*at++ != '}')
            return NULL;
    } else if (*at && strchr("*+?", *at)) {
        at++;
    }
    return *at && strchr("*+?{", *at) ? NULL : at;
}

static const char *skip_atom(const char *at)
{
    if (*at == '[')
        return skip_bracket(at + 1);
    if (*at == '(') {
        at = skip_branches(at + 1, true);
        return at && *at == ')' ? at + 1 : NULL;
    }
    if (*at == '\\')
        return at[1] && strchr(METACHARACTERS, at[1]) ? at + 2 : NULL;
    return is_literal(*at) ? at + 1 : NULL;
}

static const char *skip_branches(const char *at, bool grouped)
{
    bool empty = true;

    while (*at && *at != ')' && *at != '$') {
        if (*at == '|') {
            if (empty || !grouped) /* outside a group each anchor would apply to one branch */
                return NULL;
            empty = true;
            at++;
            continue;
        }
        at = skip_atom(at);
        at = at ? skip_quantifier(at) : NULL;
        if (!at)
            return NULL;
        empty = false;
    }
    return empty ? NULL : at;
}

char *al_pattern_fault(const char *pattern)
{
    regex_t compiled;
    const char *end;

    if (*pattern != '^' || !al_ends_with(pattern, "$"))
        return al_strdup("has a pattern that is not anchored");
    if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return al_strdup("has a pattern that does not compile");
    regfree(&compiled);
    end = skip_branches(pattern + 1, false);
    if (!end || strcmp(end, "$") != 0)
        return al_strdup("has a pattern outside what POSIX ERE and ECMA-262 share");
    return NULL;
}

bool al_pattern_matches(const char *pattern, const char *text)
{
    regex_t compiled;
    bool matches;

    /* Compiling for each call takes a few microseconds, and needs no lock. */
    if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        abort();
    matches = regexec(&compiled, text, 0, NULL, 0) == 0;
    regfree(&compiled);
    return matches;
}
