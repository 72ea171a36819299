// SPDX-License-Identifier: Apache-2.0
#include "review/lines.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* The place of a line in a diff. */
struct place {
    bool in_file;    /* between a file's first line and its first hunk */
    size_t nparents; /* of the hunk; 2 and more: a combined diff; 0: in no hunk */
};

static bool begins(const char *line, size_t len, const char *with)
{
    const size_t wanted = strlen(with);

    return len >= wanted && !memcmp(line, with, wanted);
}

/* The parents of the hunk that this line is the header of: "@@ -1,2 +3,4 @@ ..."; 0: it is none. */
static size_t read_hunk(const char *line, size_t len)
{
    size_t nats = 0;

    while (nats < len && line[nats] == '@')
        nats++;
    return nats >= 2 && begins(line + nats, len - nats, " -") ? nats - 1 : 0;
}

/* A line of a hunk, which has a column for each parent.  False: the hunk is over. */
static bool read_body(size_t nparents, const char *line, size_t len,
                      enum al_review_line_kind *ret_kind)
{
    *ret_kind = AL_LINE_NOTE;
    if (!len || !memchr(" +-\\", *line, 4))
        return false;
    for (size_t i = 0; i < len && i < nparents && *line != '\\'; i++)
        if (line[i] == '+' || line[i] == '-')
            *ret_kind = line[i] == '+' ? AL_LINE_ADDED : AL_LINE_REMOVED;
    return true;
}

static bool is_meta(const char *line, size_t len)
{
    static const char *const words[] = {
        "index ",    "--- ",         "+++ ",        "old mode ",        "new mode ",
        "new file ", "deleted file", "similarity ", "dissimilarity ",   "rename ",
        "copy ",     "Binary files", "mode ",       "GIT binary patch",
    };

    for (size_t i = 0; i < AL_COUNT(words); i++)
        if (begins(line, len, words[i]))
            return true;
    return false;
}

static enum al_review_line_kind kind_of(struct place *place, const char *line, size_t len)
{
    enum al_review_line_kind kind;

    if (place->nparents && read_body(place->nparents, line, len, &kind))
        return kind;
    place->nparents = read_hunk(line, len);
    if (place->nparents) {
        place->in_file = false;
        return AL_LINE_HUNK;
    }
    if (begins(line, len, "diff --")) {
        place->in_file = true;
        return AL_LINE_FILE;
    }
    place->in_file = place->in_file && is_meta(line, len);
    return place->in_file ? AL_LINE_META : AL_LINE_NOTE;
}

static size_t piece_of(const char *text, size_t len)
{
    size_t cut;

    if (len <= AL_REVIEW_LINE_MAX)
        return len;
    cut = al_utf8_floor(text, AL_REVIEW_LINE_MAX);
    return cut ? cut : AL_REVIEW_LINE_MAX;
}

size_t al_review_cut(const char *text, size_t len, struct al_review_line **ret_lines)
{
    struct al_review_line *lines = NULL;
    struct place place = { .in_file = false };
    size_t count = 0;

    for (const char *at = text, *last = text + len; at < last;) {
        const char *begin = at, *eol = memchr(at, '\n', (size_t)(last - at)),
                   *end = eol ? eol : last;
        const enum al_review_line_kind kind = kind_of(&place, at, (size_t)(end - at));

        do {
            const size_t piece = piece_of(at, (size_t)(end - at));

            lines = al_grow(lines, count, sizeof(*lines));
            lines[count++] = (struct al_review_line){
                .text = at, .len = piece, .kind = kind, .continues = at > begin
            };
            at += piece;
        } while (at < end);
        at += eol != NULL;
    }
    *ret_lines = lines;
    return count;
}

void al_review_add_escaped(const char *text, size_t len, struct al_str *out)
{
    for (size_t i = 0; i < len; i++) {
        const char *reference = text[i] == '&'    ? "&amp;"
                                : text[i] == '<'  ? "&lt;"
                                : text[i] == '>'  ? "&gt;"
                                : text[i] == '"'  ? "&quot;"
                                : text[i] == '\'' ? "&#39;"
                                                  : NULL;

        if (reference)
            al_str_adds(out, reference);
        else
            al_str_addc(out, text[i]);
    }
}
