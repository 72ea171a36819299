// SPDX-License-Identifier: Apache-2.0
/*
 * The conflicts in a text, from the line "<<<<<<<" to the line ">>>>>>>".
 *
 * Source: git-merge(1), "HOW CONFLICTS ARE PRESENTED".
 */
#include <stdlib.h>
#include <string.h>

#include "gitops/sequencer/conflict_hunks.h"
#include "util/mem.h"

void al_conflict_blocks_clear(struct al_conflict_blocks *blocks)
{
    free(blocks->items);
    *blocks = (struct al_conflict_blocks){ .items = NULL };
}

bool al_conflict_next_line(struct al_bytes *text, struct al_bytes *ret_line)
{
    const char *newline = text->len ? memchr(text->data, '\n', text->len) : NULL;

    if (!text->len)
        return false;
    ret_line->data = text->data;
    ret_line->len = newline ? (size_t)(newline - text->data) + 1 : text->len;
    text->data += ret_line->len;
    text->len -= ret_line->len;
    return true;
}

size_t al_conflict_count_lines(struct al_bytes text)
{
    struct al_bytes line;
    size_t count = 0;

    while (al_conflict_next_line(&text, &line))
        count++;
    return count;
}

char al_conflict_marker(struct al_bytes line, size_t marker_size)
{
    if (line.len < marker_size || !memchr("<|=>", line.data[0], 4))
        return 0;
    for (size_t i = 1; i < marker_size; i++)
        if (line.data[i] != line.data[0])
            return 0;
    return line.len == marker_size || memchr(" \r\n", line.data[marker_size], 3) ? line.data[0] : 0;
}

/* A text that is read marker by marker. */
struct markers {
    struct al_bytes left, line; /* the line is the last marker */
    size_t size, number;        /* of the line, from 1 */
    const size_t *lines;
};

static char next_marker(struct markers *markers)
{
    while (al_conflict_next_line(&markers->left, &markers->line)) {
        char c = markers->lines && markers->lines[markers->number] == AL_CONFLICT_OWN
                     ? 0
                     : al_conflict_marker(markers->line, markers->size);

        markers->number++;
        if (c)
            return c;
    }
    return 0;
}

/* Read the rest of a block, whose first marker was just read.  False when it has no end. */
static bool read_block(struct markers *markers, const char *text, struct al_conflict_block *block)
{
    enum al_stage now = AL_STAGE_OURS, next;

    block->sides[now].data = markers->left.data;
    for (char c = next_marker(markers); c; c = next_marker(markers)) {
        if (now == AL_STAGE_OURS && c == '|')
            next = AL_STAGE_BASE;
        else if (now != AL_STAGE_THEIRS && c == '=')
            next = AL_STAGE_THEIRS;
        else if (now == AL_STAGE_THEIRS && c == '>')
            next = AL_STAGES;
        else
            continue;
        block->sides[now].len = (size_t)(markers->line.data - block->sides[now].data);
        block->end = (size_t)(markers->left.data - text);
        if (next == AL_STAGES)
            return true;
        block->has_base = block->has_base || next == AL_STAGE_BASE;
        block->sides[next].data = markers->left.data;
        now = next;
    }
    return false;
}

void al_conflict_blocks_find(struct al_bytes text, size_t marker_size, const size_t *lines,
                             struct al_conflict_blocks *ret_blocks)
{
    struct markers markers = { .left = text, .size = marker_size, .lines = lines };
    size_t room = 0;

    *ret_blocks = (struct al_conflict_blocks){ .items = NULL };
    for (char c = next_marker(&markers); c; c = next_marker(&markers)) {
        struct al_conflict_block block = { .start = (size_t)(markers.line.data - text.data),
                                           .line = markers.number };

        if (c != '<')
            continue;
        if (!read_block(&markers, text.data, &block))
            return;
        if (ret_blocks->count == room) {
            room = room ? 2 * room : 16;
            ret_blocks->items = al_reallocarray(ret_blocks->items, room, sizeof(block));
        }
        ret_blocks->items[ret_blocks->count++] = block;
    }
}

void al_conflict_take_side(struct al_bytes text, size_t marker_size, enum al_stage side,
                           struct al_str *out)
{
    struct al_conflict_blocks blocks = { .items = NULL };
    size_t at = 0;

    if (marker_size)
        al_conflict_blocks_find(text, marker_size, NULL, &blocks);
    for (size_t i = 0; i < blocks.count; i++) {
        al_str_add(out, text.data + at, blocks.items[i].start - at);
        al_str_add(out, blocks.items[i].sides[side].data, blocks.items[i].sides[side].len);
        at = blocks.items[i].end;
    }
    al_str_add(out, text.data + at, text.len - at);
    al_conflict_blocks_clear(&blocks);
}
