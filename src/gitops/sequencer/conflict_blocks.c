// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/conflict_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

void al_conflict_blocks_clear(struct al_conflict_blocks *blocks)
{
    free(blocks->items);
    *blocks = AL_CONFLICT_BLOCKS_INIT;
}

/* A text that is read line by line. */
struct lines {
    const char *text;
    size_t len, at, number;
};

/* The next line with its newline; false at the end. */
static bool next_line(struct lines *lines, struct al_bytes *ret_line)
{
    const char *start = lines->text + lines->at;
    const char *newline;

    if (lines->at == lines->len)
        return false;
    newline = memchr(start, '\n', lines->len - lines->at);
    ret_line->data = start;
    ret_line->len = newline ? (size_t)(newline - start) + 1 : lines->len - lines->at;
    lines->at += ret_line->len;
    lines->number++;
    return true;
}

/* Whether a line is a marker, such as "<<<<<<<", alone or followed by a space and a label. */
static bool is_marker(const struct al_bytes *line, char c, size_t marker_size)
{
    if (line->len < marker_size)
        return false;
    for (size_t i = 0; i < marker_size; i++)
        if (line->data[i] != c)
            return false;
    return line->len == marker_size || strchr(" \r\n", line->data[marker_size]);
}

static void end_side(const struct al_bytes *marker, struct al_bytes *side)
{

    side->len = (size_t)(marker->data - side->data);
}

/* Read the rest of a block, whose first marker was just read.  False when it has no end. */
static bool read_block(struct lines *lines, size_t marker_size, struct al_conflict_block *block)
{
    enum al_stage now = AL_STAGE_OURS;
    struct al_bytes line;

    block->sides[now].data = lines->text + lines->at;
    while (next_line(lines, &line)) {
        bool parts = is_marker(&line, '=', marker_size);

        if (now == AL_STAGE_OURS && is_marker(&line, '|', marker_size)) {
            end_side(&line, &block->sides[now]);
            now = AL_STAGE_BASE;
            block->has_base = true;
            block->sides[now].data = lines->text + lines->at;
        } else if (now != AL_STAGE_THEIRS && parts) {
            end_side(&line, &block->sides[now]);
            now = AL_STAGE_THEIRS;
            block->sides[now].data = lines->text + lines->at;
        } else if (now == AL_STAGE_THEIRS && is_marker(&line, '>', marker_size)) {
            end_side(&line, &block->sides[now]);
            block->end = lines->at;
            return true;
        }
    }
    return false;
}

void al_conflict_blocks_find(const char *text, size_t len, size_t marker_size,
                             struct al_conflict_blocks *ret_blocks)
{
    struct lines lines = { .text = text, .len = len };
    struct al_bytes line;

    *ret_blocks = AL_CONFLICT_BLOCKS_INIT;
    while (next_line(&lines, &line)) {
        struct al_conflict_block block = { .start = (size_t)(line.data - text),
                                           .line = lines.number };

        if (!is_marker(&line, '<', marker_size))
            continue;
        if (!read_block(&lines, marker_size, &block))
            return;
        ret_blocks->items =
            al_reallocarray(ret_blocks->items, ret_blocks->count + 1, sizeof(*ret_blocks->items));
        ret_blocks->items[ret_blocks->count++] = block;
    }
}

size_t al_bytes_find_lines(const struct al_bytes *in, const struct al_bytes *lines, size_t from)
{
    size_t at = from;

    while (at <= in->len && in->len - at >= lines->len) {
        const char *newline;

        if (!lines->len || !memcmp(in->data + at, lines->data, lines->len))
            return at;
        newline = memchr(in->data + at, '\n', in->len - at);
        if (!newline)
            break;
        at = (size_t)(newline - in->data) + 1;
    }
    return (size_t)-1;
}
