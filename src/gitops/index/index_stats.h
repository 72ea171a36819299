// SPDX-License-Identifier: Apache-2.0
/*
 * The stat data of a copied index: what is believed of it, and what an earlier copy knows better.
 *
 * Source: gitformat-index(5).
 */
#ifndef AL_GITOPS_INDEX_INDEX_STATS_H
#define AL_GITOPS_INDEX_INDEX_STATS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Replace the stat data of every entry of an index.  An entry that an earlier index has with the
 * same name, mode and object gets that one's, if git would have believed it there.  Of any other
 * entry only mode and size are left, so that git compares the content.
 *
 * @param to_fd    The index, open for reading and writing.
 * @param from_fd  The earlier index; its stat data is of airlock's own git.  -1: none.
 * @return 0; -ENOTSUP when `to_fd` is not understood; another -errno.
 */
int al_index_set_stats(int to_fd, int from_fd, bool sha256);

#endif
