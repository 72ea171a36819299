// SPDX-License-Identifier: Apache-2.0
/*
 * The settings file of a client, and changes of one value in its text.
 *
 * The file belongs to the user: a change replaces some bytes and leaves all others as they are,
 * comments too.
 */
#ifndef AL_CLI_INSTALL_SETTINGS_H
#define AL_CLI_INSTALL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

struct al_settings_file {
    char *path;      /**< absolute, as the client has it */
    char *real_path; /**< where it is written */
    bool exists;
    mode_t mode;
    unsigned max_mib;   /**< larger files are refused */
    struct al_str text; /**< as it was read; empty without a file */
};

#define AL_SETTINGS_FILE_INIT ((struct al_settings_file){ .text = AL_STR_INIT })

void al_settings_file_clear(struct al_settings_file *file);

/** Larger files are not settings. */
#define AL_SETTINGS_MAX_MIB 16u

/**
 * Read a file.  One that does not exist is an empty text.
 * @return 0; or AL_ERR_EXECUTION: it is no regular file, another user's, too large, not UTF-8.
 */
int al_settings_file_read(const char *path, unsigned max_mib, struct al_settings_file *ret,
                          struct al_error *err);

/**
 * Replace the text, or make the file and the directories that lead to it, or remove them.
 *
 * @param text  NULL: remove the file, and up to `*dirs` empty directories above it.
 * @param dirs  With a text it is set to the number of directories that were made.
 * @return 0; or AL_ERR_EXECUTION: it changed after it was read, or cannot be written.
 */
int al_settings_file_write(const struct al_settings_file *file, const struct al_str *text,
                           unsigned *dirs, struct al_error *err);

/** Replace the bytes of a text from `begin` to `end`. */
void al_settings_replace(struct al_str *text, size_t begin, size_t end, const char *by);

/** Names of members, from the top object, or numbers of items of an array; NULL ends them. */
typedef const char *const *al_settings_path;

/** Names of a path, with the NULL. */
#define AL_SETTINGS_PATH_MAX 4

/*
 * JSON, which may have comments and trailing commas (JSONC, as editors write their settings).
 *
 * Source: RFC 8259; "JSON with Comments" as Visual Studio Code reads it.
 */

/**
 * Set a member, and make the objects that lead to it.  A member that already has this value stays
 * as it is.  An empty text counts as an empty object.
 * @return 0; or AL_ERR_BAD_ARGS: the text is no JSON, or has something else in the way.
 */
int al_settings_json_put(struct al_str *text, al_settings_path path, const json_t *value,
                         struct al_error *err);

/** Add a value to an array, and make what leads to it.  One that is there is not added. */
int al_settings_json_add(struct al_str *text, al_settings_path path, const json_t *item,
                         struct al_error *err);

/** The value of a member as a new reference; NULL: the text is no JSON, or has no such member. */
json_t *al_settings_json_get(const struct al_str *text, al_settings_path path);

/** Remove a member, if it is there; with `item`, remove that value from the array that it is.  A
 * container that has nothing left goes too, but for the top object. */
int al_settings_json_remove(struct al_str *text, al_settings_path path, const json_t *item,
                            struct al_error *err);

/* TOML: a table of its own lines.  One that is written in another way is refused. */

/** Set a table ("mcp_servers.airlock"): its lines are replaced, or it is added at the end. */
int al_settings_toml_put(struct al_str *text, const char *table, const json_t *entry,
                         struct al_error *err);

/** Remove a table and what is below it, if it is there. */
int al_settings_toml_remove(struct al_str *text, const char *table, struct al_error *err);

/** The strings, whole numbers and lists of strings of the table as an object; NULL: there is no
 * such table. */
json_t *al_settings_toml_get(const struct al_str *text, const char *table);

#endif
