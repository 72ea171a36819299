// SPDX-License-Identifier: Apache-2.0
#include "cli/review/lines.h"

#include <string.h>

/* The longest line that is looked at as one of statistics. */
#define STAT_MAX_BYTES 4096

static bool begins(const char *line, size_t len, const char *with)
{
    const size_t wanted = strlen(with);

    return len >= wanted && !memcmp(line, with, wanted);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The next number of a hunk's header.  It stops counting where it would overflow. */
static uint64_t read_number(const char **at, const char *end)
{
    uint64_t number = 0;

    for (; *at < end && is_digit(**at); ++*at)
        number = number > UINT64_MAX / 100 ? number : number * 10 + (uint64_t)(**at - '0');
    return number;
}

/* Read "START[,COUNT]" after a sign; one line is not written as a count. */
static bool read_range(const char **at, const char *end, char sign, uint64_t *ret_count)
{
    if (*at == end || **at != sign || ++*at == end || !is_digit(**at))
        return false;
    (void)read_number(at, end);
    *ret_count = 1;
    if (*at < end && **at == ',') {
        ++*at;
        *ret_count = read_number(at, end);
    }
    return *at < end && *(*at)++ == ' ';
}

/* Whether this is the header of a hunk, "@@ -1,2 +3,4 @@ ..."; of a combined diff there are more
 * of each. */
static bool read_hunk(struct al_review_cutter *cutter, const char *line, size_t len)
{
    const char *at = line, *end = line + len;
    unsigned nparents = 0;
    uint64_t old_left = 0, new_left;

    while (at < end && *at == '@')
        at++;
    if (at - line < 2 || at - line > 64 || at == end || *at++ != ' ')
        return false;
    while (at < end && *at == '-') {
        if (!read_range(&at, end, '-', &old_left))
            return false;
        nparents++;
    }
    if (nparents == 0 || !read_range(&at, end, '+', &new_left) || at == end || *at != '@')
        return false;
    cutter->nparents = nparents;
    cutter->old_left = old_left;
    cutter->new_left = new_left;
    return true;
}

/* A line of a combined diff, which has a column for each parent.  False: it is none. */
static bool read_combined(const struct al_review_cutter *cutter, const char *line, size_t len,
                          enum al_review_line_kind *ret_kind)
{
    bool added = false, removed = false;

    if (len == 0 || !memchr(" +-\\", *line, 4))
        return false;
    for (size_t i = 0; i < len && i < cutter->nparents; i++) {
        added |= line[i] == '+';
        removed |= line[i] == '-';
    }
    *ret_kind = added ? AL_LINE_ADDED : removed ? AL_LINE_REMOVED : AL_LINE_CONTEXT;
    return true;
}

/* A line of the hunk.  False: the hunk is over. */
static bool read_body(struct al_review_cutter *cutter, const char *line, size_t len,
                      enum al_review_line_kind *ret_kind)
{
    const char first = len ? *line : ' '; /* some programs take the blank of an empty line away */

    *ret_kind = AL_LINE_CONTEXT;
    if (cutter->nparents > 1)
        return read_combined(cutter, line, len, ret_kind);
    if (first == '\\')
        return true;
    if (first == '+' && cutter->new_left) {
        cutter->new_left--;
        *ret_kind = AL_LINE_ADDED;
        return true;
    }
    if (first == '-' && cutter->old_left) {
        cutter->old_left--;
        *ret_kind = AL_LINE_REMOVED;
        return true;
    }
    if (first == ' ' && cutter->old_left && cutter->new_left) {
        cutter->old_left--;
        cutter->new_left--;
        return true;
    }
    return false;
}

/* " 3 files changed, 2 insertions(+)" */
static bool is_total(const char *line, size_t len)
{
    const char *at = line + 1, *end = line + len;

    (void)read_number(&at, end);
    return at > line + 1 && (begins(at, (size_t)(end - at), " file changed") ||
                             begins(at, (size_t)(end - at), " files changed"));
}

/* " a.txt | 12 ++--", " b.bin | Bin 0 -> 3 bytes": after the last bar only that. */
static bool is_stat(const char *line, size_t len)
{
    const char *at;

    if (len < 4 || len > STAT_MAX_BYTES || *line != ' ')
        return false;
    if (is_total(line, len))
        return true;
    at = memrchr(line, '|', len);
    if (!at || at - line < 2 || at[-1] != ' ')
        return false;
    for (at++; at < line + len && *at == ' ';)
        at++;
    if (begins(at, (size_t)(line + len - at), "Bin"))
        return true;
    if (at == line + len || !is_digit(*at))
        return false;
    (void)read_number(&at, line + len);
    while (at < line + len && memchr(" +-", *at, 3))
        at++;
    return at == line + len;
}

static bool is_meta(const char *line, size_t len)
{
    static const char *const words[] = {
        "index ",    "--- ",         "+++ ",        "old mode ",        "new mode ",
        "new file ", "deleted file", "similarity ", "dissimilarity ",   "rename ",
        "copy ",     "Binary files", "mode ",       "GIT binary patch",
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (begins(line, len, words[i]))
            return true;
    return false;
}

static enum al_review_line_kind kind_of(struct al_review_cutter *cutter, const char *line,
                                        size_t len)
{
    enum al_review_line_kind kind;

    if (cutter->nparents && read_body(cutter, line, len, &kind))
        return kind;
    if (read_hunk(cutter, line, len)) {
        cutter->in_file = false;
        return AL_LINE_HUNK;
    }
    cutter->nparents = 0;
    if (begins(line, len, "diff --")) {
        cutter->in_file = true;
        return AL_LINE_FILE;
    }
    if (cutter->in_file && is_meta(line, len))
        return AL_LINE_META;
    cutter->in_file = false;
    return is_stat(line, len) ? AL_LINE_STAT : AL_LINE_NOTE;
}

/* The length of the next piece, which does not cut a UTF-8 character in two. */
static size_t piece_of(const char *text, size_t len)
{
    size_t cut = AL_REVIEW_PIECE_MAX_BYTES;

    if (len <= cut)
        return len;
    for (size_t back = 0; back < 4; back++)
        if (((unsigned char)text[cut - back] & 0xc0) != 0x80)
            return cut - back;
    return cut;
}

bool al_review_cutter_next(struct al_review_cutter *cutter, struct al_review_line *ret_line)
{
    const bool continues = cutter->line_end != NULL;

    if (!continues) {
        if (cutter->at == cutter->end)
            return false;
        cutter->line_end = memchr(cutter->at, '\n', (size_t)(cutter->end - cutter->at));
        if (!cutter->line_end)
            cutter->line_end = cutter->end;
        cutter->kind = kind_of(cutter, cutter->at, (size_t)(cutter->line_end - cutter->at));
    }
    ret_line->text = cutter->at;
    ret_line->len = piece_of(cutter->at, (size_t)(cutter->line_end - cutter->at));
    ret_line->kind = cutter->kind;
    ret_line->continues = continues;
    cutter->at += ret_line->len;
    if (cutter->at == cutter->line_end) {
        cutter->at += cutter->at < cutter->end; /* the line end */
        cutter->line_end = NULL;
    }
    return true;
}
