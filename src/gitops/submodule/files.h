// SPDX-License-Identifier: Apache-2.0
/*
 * The entries of a submodule's index compared with its files.
 *
 * An entry with the stat of its file is unchanged if the index is younger than the file; otherwise
 * the content is hashed.  Anybody may have written the index: its names are opened below the top of
 * the working tree and through no link.
 *
 * Source: gitformat-index(5), git's racy-git.txt.
 */
#ifndef AL_GITOPS_SUBMODULE_FILES_H
#define AL_GITOPS_SUBMODULE_FILES_H

#include "gitops/submodule/scan.h"

/** Compare the entries of an open index with the files, and fill scan->names and scan->nested. */
void al_scan_files(struct al_submodule_scan *scan, int index_fd);

#endif
