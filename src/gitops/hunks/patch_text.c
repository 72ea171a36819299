// SPDX-License-Identifier: Apache-2.0
#include "gitops/hunks/patch_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

bool al_patch_at(const struct al_str *text, size_t at, struct al_patch_at *ret_line)
{
    const char *newline;

    if (at >= text->len)
        return false;
    newline = memchr(text->buf + at, '\n', text->len - at);
    *ret_line = (struct al_patch_at){ .text = text->buf + at, .at = at };
    ret_line->len = newline ? (size_t)(newline - ret_line->text) : text->len - at;
    ret_line->next = at + ret_line->len + (newline != NULL);
    return true;
}

bool al_patch_begins(const struct al_patch_at *line, const char *words)
{
    const size_t len = strlen(words);

    return line->len >= len && !memcmp(line->text, words, len);
}

bool al_patch_begins_file(const struct al_patch_at *line)
{
    return al_patch_begins(line, "diff --git ") || al_patch_begins(line, "diff --cc ") ||
           al_patch_begins(line, "diff --combined ") || al_patch_begins(line, "* Unmerged path ");
}

/* Parse "12,3"; "12" means one line. */
static bool read_range(const char **at, int64_t *ret_start, int64_t *ret_lines)
{
    char *end;

    if (!isdigit((unsigned char)**at))
        return false;
    *ret_start = strtoll(*at, &end, 10);
    *ret_lines = 1;
    if (*end == ',' && isdigit((unsigned char)end[1]))
        *ret_lines = strtoll(end + 1, &end, 10);
    *ret_start += !*ret_lines;
    *at = end;
    return true;
}

bool al_patch_ranges(const struct al_patch_at *line, struct al_patch_ranges *ret_ranges)
{
    const char *at = line->text + strlen("@@ -");

    if (!al_patch_begins(line, "@@ -") ||
        !read_range(&at, &ret_ranges->old_start, &ret_ranges->old_lines) ||
        strncmp(at, " +", 2) != 0)
        return false;
    at += 2;
    return read_range(&at, &ret_ranges->new_start, &ret_ranges->new_lines) &&
           strncmp(at, " @@", 3) == 0;
}

void al_patch_add_ranges(const struct al_patch_ranges *ranges, struct al_str *out)
{
    al_str_addf(out, "-%" PRId64 ",%" PRId64 " +%" PRId64 ",%" PRId64,
                ranges->old_start - !ranges->old_lines, ranges->old_lines,
                ranges->new_start - !ranges->new_lines, ranges->new_lines);
}
