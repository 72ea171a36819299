// SPDX-License-Identifier: Apache-2.0
#include "sandbox/match.h"

#include <limits.h>
#include <string.h>

#include "guard/glob.h"

/* Match one component of each, given as the text up to the next '/'. */
static bool match_component(const char *pattern, size_t pattern_len, const char *name,
                            size_t name_len)
{
    char one[AL_GLOB_PATTERN_MAX + 1], other[NAME_MAX + 1];

    if (pattern_len >= sizeof(one) || name_len >= sizeof(other))
        return false;
    memcpy(one, pattern, pattern_len);
    one[pattern_len] = '\0';
    memcpy(other, name, name_len);
    other[name_len] = '\0';
    return al_glob_match_any(one, other);
}

/* The text behind the next '/', or its end. */
static const char *next(const char *at)
{
    at += strcspn(at, "/");
    return *at ? at + 1 : at;
}

static bool is_many(const char *pattern, size_t len)
{
    return len == 2 && !strncmp(pattern, "**", 2);
}

/* Match component by component.  As with '*' in a name, only the last "**" has to be tried again
 * with one component more. */
static bool match_path(const char *pattern, const char *path)
{
    const char *many = NULL, *retry = NULL;

    while (*path) {
        size_t pattern_len = strcspn(pattern, "/"), len = strcspn(path, "/");

        if (is_many(pattern, pattern_len)) {
            many = pattern = next(pattern);
            retry = path;
            if (!*pattern)
                return true;
        } else if (*pattern && match_component(pattern, pattern_len, path, len)) {
            pattern = next(pattern);
            path = next(path);
        } else if (many) {
            pattern = many;
            path = retry = next(retry);
        } else {
            return false;
        }
    }
    return !*pattern;
}

bool al_sandbox_match(const char *pattern, const char *path)
{
    const char *name = strrchr(path, '/');
    size_t len = strlen(pattern);

    if (!len || pattern[len - 1] == '/') /* of a directory, and there are files only */
        return false;
    if (!strchr(pattern, '/') && !is_many(pattern, strlen(pattern)))
        return match_path(pattern, name ? name + 1 : path);
    return match_path(pattern, path);
}

const char *al_sandbox_pattern_hint(const char *pattern)
{
    const char *brace = strchr(pattern, '{');

    if (brace && strchr(brace, '}'))
        return "; '{…}' is not expanded, so give a pattern for each of its words";
    return *pattern == '!' ? "; a pattern cannot exclude files" : "";
}
