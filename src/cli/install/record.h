// SPDX-License-Identifier: Apache-2.0
/*
 * What `airlock install` changed in a file, kept below the state directory, so that `--remove`
 * takes back exactly this, also after the user has edited the file elsewhere.
 */
#ifndef AL_CLI_INSTALL_RECORD_H
#define AL_CLI_INSTALL_RECORD_H

#include <stdbool.h>

#include "util/error.h"
#include "util/str.h"

struct al_install_record {
    bool exists;
    bool made_file;               /**< the file was made by the installation */
    unsigned dirs;                /**< directories that were made for it */
    struct al_strv before, after; /**< as in struct al_settings_text */
    char *path;                   /**< of the record itself */
};

#define AL_INSTALL_RECORD_INIT                                                                     \
    ((struct al_install_record){ .before = AL_STRV_INIT, .after = AL_STRV_INIT })

void al_install_record_clear(struct al_install_record *record);

/** Read the record of a file; `exists` is false when there is none that can be read. */
void al_install_record_read(const char *state_dir, const char *file, struct al_install_record *ret);

/** Write it.  0 or AL_ERR_EXECUTION. */
int al_install_record_write(const struct al_install_record *record, const char *file,
                            struct al_error *err);

/** Forget it. */
void al_install_record_forget(const struct al_install_record *record);

#endif
