// SPDX-License-Identifier: Apache-2.0
#include "git/diff/hunks.h"

#include <stdlib.h>

#include "base/utf8.h"

/** Larger line numbers are rejected. */
#define LINES_MAX INT32_MAX

bool al_hunks_begins(const char *line, size_t len, const char *words)
{
    const size_t wanted = strlen(words);

    return len >= wanted && !memcmp(line, words, wanted);
}

static bool begins(const struct al_patch_line *line, const char *words)
{
    return al_hunks_begins(line->text, line->len, words);
}

/* Decode one character of a quoted name. Returns how many bytes it takes in the quoted form. */
static size_t unquote_one(const char *at, size_t len, char *ret)
{
    static const char letters[] = "abtnvfr\"\\", values[] = "\a\b\t\n\v\f\r\"\\";
    const char *letter;

    *ret = *at;
    if (*at != '\\' || len < 2)
        return 1;
    letter = memchr(letters, at[1], sizeof(letters) - 1);
    if (letter) {
        *ret = values[letter - letters];
        return 2;
    }
    if (len < 4 || at[1] < '0' || at[1] > '3' || at[2] < '0' || at[2] > '7' || at[3] < '0' ||
        at[3] > '7')
        return 1;
    *ret = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
    return 4;
}

char *al_hunks_name(const char *at, size_t len)
{
    struct al_str name = AL_STR_INIT;

    if (!len || *at != '"')
        return al_strndup(at, len);
    at++;
    len--;
    while (len && *at != '"') {
        char c;
        size_t n = unquote_one(at, len, &c);

        al_str_addc(&name, c);
        at += n;
        len -= n;
    }
    return al_str_detach(&name);
}

/* The file name on a line "--- a/name" or "+++ b/name". git quotes unusual names, and adds a tab
 * after a name with a space. Returns NULL for /dev/null. */
static char *name_on(const struct al_patch_line *line, const char *prefix)
{
    const char *text = line->text + 4;
    size_t len = line->len - 4;
    const char *tab = memchr(text, '\t', len);
    al_auto(al_freep) char *name = al_hunks_name(text, tab ? (size_t)(tab - text) : len);

    if (!strcmp(name, "/dev/null"))
        return NULL;
    return al_strdup(al_starts_with(name, prefix) ? name + strlen(prefix) : name);
}

static void forget_names(struct al_hunks *hunks)
{
    free(al_take(&hunks->old_name));
    free(al_take(&hunks->new_name));
}

static bool read_number(const char **at, const char *end, int64_t *ret)
{
    const char *first = *at;
    int64_t number = 0;

    while (*at < end && **at >= '0' && **at <= '9' && number <= LINES_MAX)
        number = number * 10 + (*(*at)++ - '0');
    *ret = number;
    return *at > first && number <= LINES_MAX;
}

/* Parse "12,3", or "12", which means one line. */
static bool read_range(const char **at, const char *end, int64_t *ret_start, int64_t *ret_lines)
{
    *ret_lines = 1;
    if (!read_number(at, end, ret_start))
        return false;
    if (*at == end || **at != ',')
        return true;
    (*at)++;
    return read_number(at, end, ret_lines);
}

/* Parse "@@ -1,2 +3,4 @@ header". A combined diff has one range more for each further parent, "@@@
 * -1,2 -1,2 +3,4 @@@ header"; the first range is used. Returns the number of parents, 0 when the
 * line is no hunk header. */
static int read_head(const struct al_patch_line *line, struct al_hunk *hunk)
{
    const char *at = line->text, *end = line->text + line->len;
    int marks = 0, parents = 0;
    int64_t start, lines;

    while (at < end && *at == '@') {
        at++;
        marks++;
    }
    for (; end - at > 2 && at[0] == ' ' && at[1] == '-'; parents++) {
        at += 2;
        if (!read_range(&at, end, &start, &lines))
            return 0;
        if (!parents) {
            hunk->old_start = start;
            hunk->old_lines = lines;
        }
    }
    if (marks < 2 || parents != marks - 1 || end - at < 3 || at[0] != ' ' || at[1] != '+')
        return 0;
    at += 2;
    if (!read_range(&at, end, &hunk->new_start, &hunk->new_lines))
        return 0;
    if (end - at < 1 + marks || *at++ != ' ')
        return 0;
    for (int i = 0; i < marks; i++)
        if (*at++ != '@')
            return 0;
    at += at < end && *at == ' ';
    hunk->header = at;
    hunk->header_len = (size_t)(end - at);
    return parents;
}

static bool is_content(char kind)
{
    return kind == ' ' || kind == '+' || kind == '-' || kind == '\\';
}

/* Whether the line belongs to the current hunk: it is one of the lines that the header counts, or
 * the remark about a missing newline. A line of a combined hunk has one column for each parent, and
 * no header begins like one. */
static bool is_body(struct al_hunks *hunks, const struct al_patch_line *line)
{
    char kind =
        line->len ? *line->text : ' '; /* an empty context line under diff.suppressBlankEmpty */

    if (hunks->parents > 1)
        return line->len && is_content(kind);
    if (!is_content(kind) || (kind != '\\' && hunks->old_left <= 0 && hunks->new_left <= 0))
        return false;
    hunks->old_left -= kind == ' ' || kind == '-';
    hunks->new_left -= kind == ' ' || kind == '+';
    return true;
}

/* "diff --git a/x b/x": both names are the same, unless further lines say that the file was
 * renamed. So the blank between them is in the middle, whatever blanks they have. */
char *al_hunks_begun_file(const char *line, size_t len, bool *ret_unmerged)
{
    static const char *const words[] = { "diff --git ", "diff --cc ", "diff --combined ",
                                         "* Unmerged path " };

    for (size_t i = 0; i < AL_COUNT(words); i++) {
        const char *text = line + strlen(words[i]);
        al_auto(al_freep) char *name = NULL;

        if (!al_hunks_begins(line, len, words[i]))
            continue;
        len -= strlen(words[i]);
        *ret_unmerged = i > 0;
        name = al_hunks_name(text, i == 0 && len && *text != '"' ? len / 2 : len);
        return i == 0 && al_starts_with(name, AL_HUNKS_OLD_PREFIX)
                   ? al_strdup(name + strlen(AL_HUNKS_OLD_PREFIX))
                   : al_take(&name);
    }
    return NULL;
}

static void read_header(struct al_hunks *hunks, const struct al_patch_line *line)
{
    bool is_unmerged;
    al_auto(al_freep) char *begun = al_hunks_begun_file(line->text, line->len, &is_unmerged);

    if (begun) {
        forget_names(hunks);
        hunks->files++;
    } else if (begins(line, "--- ")) {
        free(hunks->old_name);
        hunks->old_name = name_on(line, AL_HUNKS_OLD_PREFIX);
    } else if (begins(line, "+++ ")) {
        free(hunks->new_name);
        hunks->new_name = name_on(line, AL_HUNKS_NEW_PREFIX);
    }
}

/* Classify the line, and update the state for the next one. */
static void read_line(struct al_hunks *hunks, struct al_patch_line *line)
{
    struct al_hunk *hunk = &hunks->hunk;

    if (hunks->parents && is_body(hunks, line)) {
        line->in_hunk = hunk->file != NULL;
        return;
    }
    hunks->parents = line->len && *line->text == '@' ? read_head(line, hunk) : 0;
    if (!hunks->parents) {
        read_header(hunks, line);
        return;
    }
    hunk->file = hunks->new_name ? hunks->new_name : hunks->old_name;
    hunks->old_left = hunk->old_lines;
    hunks->new_left = hunk->new_lines;
    line->head = hunk->file ? hunk : NULL;
}

static void take_line(struct al_hunks *hunks, const char *text, size_t len, bool ended)
{
    struct al_patch_line line = { .text = text, .len = len, .ended = ended };

    read_line(hunks, &line);
    hunks->take(hunks->payload, &line);
}

void al_hunks_add(struct al_hunks *hunks, const char *data, size_t len)
{
    struct al_str *partial_line = &hunks->partial_line;
    const char *newline;

    while ((newline = memchr(data, '\n', len))) {
        size_t piece = (size_t)(newline - data);

        if (partial_line->len) {
            al_str_add(partial_line, data, piece);
            take_line(hunks, partial_line->buf, partial_line->len, true);
            al_str_reset(partial_line);
        } else {
            take_line(hunks, data, piece, true);
        }
        data += piece + 1;
        len -= piece + 1;
    }
    al_str_add(partial_line, data, len);
}

/* Length of the text without an incomplete UTF-8 character at its end. */
static size_t whole_characters(const struct al_str *text)
{
    for (size_t back = 1; back < 4 && back <= text->len; back++) {
        uint32_t c;

        if (al_utf8_next(text->buf + text->len - back, back, &c) == 0)
            return text->len - back;
    }
    return text->len;
}

void al_hunks_end(struct al_hunks *hunks)
{
    struct al_str *partial_line = &hunks->partial_line;

    if (hunks->truncated)
        al_str_truncate(partial_line, whole_characters(partial_line));
    if (partial_line->len)
        take_line(hunks, partial_line->buf, partial_line->len, false);
    al_str_reset(partial_line);
}

void al_hunks_clear(struct al_hunks *hunks)
{
    forget_names(hunks);
    al_str_clear(&hunks->partial_line);
}
