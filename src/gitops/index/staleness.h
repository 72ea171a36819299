// SPDX-License-Identifier: Apache-2.0
/*
 * Whether git would read files again and again because an index does not vouch for them.
 *
 * git takes a file for unchanged when its stat is the one in the index.  After a copy or a restore
 * of the tree no stat is; and a file as young as the index itself is never believed ("racy git").
 * git cures this by writing the index, which a git that reads may not do.
 */
#ifndef AL_GITOPS_INDEX_STALENESS_H
#define AL_GITOPS_INDEX_STALENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/**
 * Estimate how many entries of an index git would compare by content, from a sample.
 *
 * @param index_fd  Open for reading.
 * @param index     The stat of the index.
 * @param top_fd    The top of the working tree.
 * @param[out] ret_most  Most of the sample is stale.
 * @return 0 when the index was not understood.
 */
size_t al_index_stale_entries(int index_fd, const struct stat *index, int top_fd, bool sha256,
                              bool *ret_most);

#endif
