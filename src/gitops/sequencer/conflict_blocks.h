// SPDX-License-Identifier: Apache-2.0
/*
 * The conflicts in the text of a file, from the line "<<<<<<<" to the line ">>>>>>>".
 *
 * Source: git-merge(1), "HOW CONFLICTS ARE PRESENTED".
 */
#ifndef AL_GITOPS_SEQUENCER_CONFLICT_BLOCKS_H
#define AL_GITOPS_SEQUENCER_CONFLICT_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/sequencer/conflict.h"

/** Bytes of a text, borrowed from it. */
struct al_bytes {
    const char *data;
    size_t len;
};

/** One conflict.  Every side is whole lines. */
struct al_conflict_block {
    size_t start, end; /**< the bytes it takes up, with its markers and the newline of the last */
    size_t line;       /**< the line of its first marker, from 1 */
    bool has_base;     /**< it shows the base too, as merge.conflictStyle diff3 does */
    struct al_bytes sides[AL_STAGES];
};

/** The conflicts of a text, in order. */
struct al_conflict_blocks {
    struct al_conflict_block *items;
    size_t count;
};

#define AL_CONFLICT_BLOCKS_INIT ((struct al_conflict_blocks){ .items = NULL })

void al_conflict_blocks_clear(struct al_conflict_blocks *blocks);

/** Find the conflicts of a text, which has to outlive them.  One without an end is none. */
void al_conflict_blocks_find(const char *text, size_t len, size_t marker_size,
                             struct al_conflict_blocks *ret_blocks);

/** The offset of whole lines in other whole lines, at or after `from`; (size_t)-1: they are not
 * there. */
size_t al_bytes_find_lines(const struct al_bytes *in, const struct al_bytes *lines, size_t from);

#endif
