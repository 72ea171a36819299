// SPDX-License-Identifier: Apache-2.0
/*
 * A settings file of a client: read with its name resolved, and replaced by rename.
 *
 * A file that is a link is written where the link leads, as an editor does.  Rights stay, and so
 * does everything that changed in the file after it was read: it is then not written at all.
 */
#ifndef AL_CLI_INSTALL_SETTINGS_FILE_H
#define AL_CLI_INSTALL_SETTINGS_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"
#include "util/str.h"

/** Files larger than this are not settings. */
#define AL_SETTINGS_FILE_MAX_BYTES (16u * 1024u * 1024u)

struct al_settings_file {
    char *path;      /**< absolute, as the client has it */
    char *real_path; /**< where it is written */
    bool exists;
    mode_t mode;
    struct al_str text; /**< as it was read */
};

#define AL_SETTINGS_FILE_INIT ((struct al_settings_file){ .text = AL_STR_INIT })

void al_settings_file_clear(struct al_settings_file *file);

/**
 * Read a file.  One that does not exist is an empty text.
 * @return 0; or AL_ERR_EXECUTION: it is no regular file, another user's, too large, not UTF-8.
 */
int al_settings_file_read(const char *path, struct al_settings_file *ret, struct al_error *err);

/**
 * Replace the text, or make the file, and the directories that lead to it.
 *
 * @param[out] ret_dirs  How many directories were made.
 * @return 0; or AL_ERR_EXECUTION: it changed after it was read, or cannot be written.
 */
int al_settings_file_write(const struct al_settings_file *file, const struct al_str *text,
                           unsigned *ret_dirs, struct al_error *err);

/** Remove the file, and up to `dirs` directories above it that are empty.  Checks like writing. */
int al_settings_file_remove(const struct al_settings_file *file, unsigned dirs,
                            struct al_error *err);

#endif
