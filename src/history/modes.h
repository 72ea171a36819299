// SPDX-License-Identifier: Apache-2.0
/*
 * The permissions of the files of a working tree, which git does not record: those that most files
 * have, and each file with others.  The file `modes` of a store has them as they were recorded
 * last:
 *
 *   <plain> SP <executable> LF      of most files, octal
 *   <mode> SP <path> NUL            of another one; sorted by path
 */
#ifndef AL_HISTORY_MODES_H
#define AL_HISTORY_MODES_H

#include "history/store.h"

/** Permissions.  Set up with AL_MODES_INIT. */
struct al_modes {
    unsigned plain, executable;
    struct al_differences set;   /**< what was set now, in any order; mode 0: forget it */
    struct al_differences known; /**< the exceptions, sorted */
    uint32_t written_s;          /**< since 1970; changes before were seen */
    bool is_new; /**< nothing was read: what is set now tells what most files have */
};

#define AL_MODES_INIT ((struct al_modes){ .plain = 0644, .executable = 0755, .is_new = true })

void al_modes_clear(struct al_modes *modes);

/** Read those of the last time.  None when there are none. */
void al_modes_read(struct al_modes *modes, const struct al_store *store);

/** Set the mode of a file (st_mode); 0: there is none. */
void al_modes_set(struct al_modes *modes, const char *path, unsigned mode);

/** Join what was set with what was known, and write the file. */
int al_modes_write(struct al_modes *modes, const struct al_store *store, struct al_error *err);

/** Append the text of the file. */
void al_modes_dump(const struct al_modes *modes, struct al_str *out);

/** Give the files of the working tree, which come first, their permissions from such a text, on
 * both sides.  Their modes are git's. */
void al_modes_apply(const struct al_str *text, struct al_differences *files);

#endif
