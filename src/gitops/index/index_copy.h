// SPDX-License-Identifier: Apache-2.0
/*
 * Copying an index file without what git would believe about the working tree unseen.
 *
 * The entries and two extensions are copied: the trees that the entries make up (TREE), and how
 * conflicts were resolved (REUC).  The untracked cache (UNTR) and the file system monitor's list
 * (FSMN) are left out: git takes them for what it once saw itself, so a forged one hides files.
 *
 * Source: gitformat-index(5).
 */
#ifndef AL_GITOPS_INDEX_INDEX_COPY_H
#define AL_GITOPS_INDEX_INDEX_COPY_H

#include <stdbool.h>
#include <stdint.h>

/** The largest index that is copied. */
#define AL_INDEX_COPY_MAX_BYTES (INT64_C(256) << 20)

/**
 * Copy an index.  The file system shares the blocks of both files where it can.
 *
 * The last bytes of the copy are zero, which is git's word for "no checksum computed".
 *
 * @param      from_fd      Open for reading; its offset does not matter.
 * @param      to_fd        An empty file, open for reading and writing.
 * @param[out] ret_entries  The number of entries.
 * @return 0; -ENOTSUP for an index that is not understood, or that needs other files or other
 *         readers (split and sparse indexes); -EFBIG for a larger one; another -errno.
 */
int al_index_copy(int from_fd, int to_fd, bool sha256, uint32_t *ret_entries);

#endif
