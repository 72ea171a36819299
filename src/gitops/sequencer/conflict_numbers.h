// SPDX-License-Identifier: Apache-2.0
/*
 * Which of the equal conflicts of a file one is.
 *
 * Equal conflicts are numbered in the order in which git made them, so that a number names the same
 * one while others are resolved.  The conflicts that are left are found among those that git made
 * by the text between them:
 *
 *   1. from the beginning and from the end, as long as conflicts and the text between are the same
 *   2. behind the last one that was found, if the text up to it is what git made, with any
 *      resolution in the places of those that were resolved
 *   3. otherwise by what is next to them, among the next few
 *
 * The time is linear in the length of the texts.
 */
#ifndef AL_GITOPS_SEQUENCER_CONFLICT_NUMBERS_H
#define AL_GITOPS_SEQUENCER_CONFLICT_NUMBERS_H

#include "gitops/sequencer/conflict_blocks.h"
#include "util/str.h"

/** A text and its conflicts.  Borrowed. */
struct al_conflict_text {
    const struct al_str *text;
    const struct al_conflict_blocks *blocks;
};

/**
 * Number the conflicts of a text.
 *
 * @param disk         The text with the conflicts that are left.
 * @param made         The text as git made it.
 * @param ret_numbers  One for each conflict of `disk`, from 1.  A conflict that git did not make is
 *                     numbered among those of `disk`.
 */
void al_conflict_number(const struct al_conflict_text *disk, const struct al_conflict_text *made,
                        size_t *ret_numbers);

#endif
