// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "gitops/sequencer/conflict.h"

/* Whether the line is a marker, such as "<<<<<<<", alone or followed by a space and a label. */
static bool is_marker(const char *line, size_t len, char c, size_t marker_size)
{
    if (len < marker_size)
        return false;
    for (size_t i = 0; i < marker_size; i++)
        if (line[i] != c)
            return false;
    return len == marker_size || line[marker_size] == ' ' || line[marker_size] == '\r';
}

static size_t line_length(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    return (size_t)((newline ? newline : end) - at);
}

/* End of the hunk that begins at `at`, without its last newline; NULL when the hunk has no end. */
static const char *end_of_hunk(const char *at, const char *end, size_t marker_size)
{
    bool separated = false;

    while (at < end) {
        size_t len = line_length(at, end);

        if (is_marker(at, len, '=', marker_size))
            separated = true;
        else if (separated && is_marker(at, len, '>', marker_size))
            return at + len;
        at += len + 1;
    }
    return NULL;
}

bool al_conflict_hunks(const char *text, size_t len, size_t marker_size, size_t max_bytes,
                       struct al_str *out)
{
    const char *end = text + len;
    size_t start = out->len;
    size_t line;

    for (const char *at = text; at < end; at += line + 1) {
        const char *hunk = at;
        bool first = out->len == start;

        line = line_length(at, end);
        if (!is_marker(at, line, '<', marker_size))
            continue;
        at = end_of_hunk(at, end, marker_size);
        if (!at)
            return true; /* this hunk has no end, so no later one has */
        if (out->len - start + (size_t)(at - hunk) + !first > max_bytes)
            return false;
        if (!first)
            al_str_addc(out, '\n');
        al_str_add(out, hunk, (size_t)(at - hunk));
        line = 0;
    }
    return true;
}

bool al_conflict_has_markers(const char *text, size_t len, size_t marker_size)
{
    const char *end = text + len;
    size_t line;

    for (const char *at = text; at < end; at += line + 1) {
        line = line_length(at, end);
        if (is_marker(at, line, '<', marker_size) || is_marker(at, line, '|', marker_size) ||
            is_marker(at, line, '>', marker_size))
            return true;
    }
    return false;
}
