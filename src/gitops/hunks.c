// SPDX-License-Identifier: Apache-2.0
#include "gitops/hunks.h"

#include <stdlib.h>

#include "util/str.h"

/** A number of lines beyond this is no number of lines. */
#define LINES_MAX INT32_MAX

struct line {
    const char *text;
    size_t len; /* without the newline */
};

/** Where in the patch we are. */
struct walk {
    const char *at, *end;
    char *old_name, *new_name;
};

static bool peek(const struct walk *walk, struct line *line)
{
    const char *newline;

    if (walk->at == walk->end)
        return false;
    newline = memchr(walk->at, '\n', (size_t)(walk->end - walk->at));
    line->text = walk->at;
    line->len = (size_t)((newline ? newline : walk->end) - walk->at);
    return true;
}

static void skip(struct walk *walk, const struct line *line)
{
    walk->at = line->text + line->len;
    walk->at += walk->at < walk->end;
}

static bool begins(const struct line *line, const char *word)
{
    size_t len = strlen(word);

    return line->len >= len && !memcmp(line->text, word, len);
}

/* One character of a quoted name, and how many bytes it takes there. */
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

static char *unquote(const char *at, size_t len)
{
    struct al_str name = AL_STR_INIT;

    while (len && *at != '"') {
        char c;
        size_t n = unquote_one(at, len, &c);

        al_str_addc(&name, c);
        at += n;
        len -= n;
    }
    return al_str_detach(&name);
}

/* The name on a line "--- a/name" or "+++ b/name": quoted, or with a tab behind it when it has a
 * space in it.  NULL for /dev/null. */
static char *name_on(const struct line *line, const char *prefix)
{
    const char *text = line->text + 4;
    size_t len = line->len - 4;
    const char *tab = memchr(text, '\t', len);
    al_auto(al_freep) char *name = NULL;

    if (len && *text == '"')
        name = unquote(text + 1, len - 1);
    else
        name = al_strndup(text, tab ? (size_t)(tab - text) : len);
    if (!strcmp(name, "/dev/null"))
        return NULL;
    return al_strdup(al_starts_with(name, prefix) ? name + strlen(prefix) : name);
}

static void forget_names(struct walk *walk)
{
    free(al_take(&walk->old_name));
    free(al_take(&walk->new_name));
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

/* "12,3" or "12", which is one line. */
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

/* "@@ -1,2 +3,4 @@ header"; with a parent more "@@@ -1,2 -1,2 +3,4 @@@ header", of which the first
 * counts.  Gives the number of parents, 0 when the line is none. */
static int read_head(const struct line *line, struct al_hunk *hunk)
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

/* The lines the counts promise, and what is said about a missing newline behind them. */
static void skip_body(struct walk *walk, const struct al_hunk *hunk)
{
    int64_t old_left = hunk->old_lines, new_left = hunk->new_lines;
    struct line line;

    while (peek(walk, &line)) {
        char kind = line.len ? *line.text : ' '; /* diff.suppressBlankEmpty */

        if (kind != '\\' && old_left <= 0 && new_left <= 0)
            return;
        if (!is_content(kind))
            return;
        old_left -= kind == ' ' || kind == '-';
        new_left -= kind == ' ' || kind == '+';
        skip(walk, &line);
    }
}

/* The lines of a combined hunk have a column for each parent; no header begins like them. */
static void skip_combined_body(struct walk *walk)
{
    struct line line;

    while (peek(walk, &line) && line.len && is_content(*line.text))
        skip(walk, &line);
}

static bool is_file(const struct line *line)
{
    return begins(line, "diff --git ") || begins(line, "diff --cc ") ||
           begins(line, "diff --combined ") || begins(line, "* Unmerged path ");
}

static void take_hunk(struct walk *walk, struct al_hunk *hunk, int parents, al_hunk_fn take,
                      void *payload)
{
    hunk->file = walk->new_name ? walk->new_name : walk->old_name;
    hunk->body = walk->at;
    if (parents == 1)
        skip_body(walk, hunk);
    else
        skip_combined_body(walk);
    hunk->body_len = (size_t)(walk->at - hunk->body);
    if (take && hunk->file)
        take(payload, hunk);
}

size_t al_hunks_read(const char *patch, size_t len, al_hunk_fn take, void *payload)
{
    struct walk walk = { .at = patch, .end = patch + len };
    size_t files = 0;
    struct line line;

    while (peek(&walk, &line)) {
        struct al_hunk hunk = { .file = NULL };
        int parents = line.len && *line.text == '@' ? read_head(&line, &hunk) : 0;

        skip(&walk, &line);
        if (parents) {
            take_hunk(&walk, &hunk, parents, take, payload);
        } else if (is_file(&line)) {
            forget_names(&walk);
            files++;
        } else if (begins(&line, "--- ")) {
            free(walk.old_name);
            walk.old_name = name_on(&line, AL_HUNKS_OLD_PREFIX);
        } else if (begins(&line, "+++ ")) {
            free(walk.new_name);
            walk.new_name = name_on(&line, AL_HUNKS_NEW_PREFIX);
        }
    }
    forget_names(&walk);
    return files;
}
