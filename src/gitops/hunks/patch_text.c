// SPDX-License-Identifier: Apache-2.0
#include "gitops/hunks/patch_text.h"

#include <inttypes.h>

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

void al_patch_add_ranges(const struct al_patch_ranges *ranges, struct al_str *out)
{
    al_str_addf(out, "-%" PRId64 ",%" PRId64 " +%" PRId64 ",%" PRId64,
                ranges->old_start - !ranges->old_lines, ranges->old_lines,
                ranges->new_start - !ranges->new_lines, ranges->new_lines);
}
