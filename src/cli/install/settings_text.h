// SPDX-License-Identifier: Apache-2.0
/*
 * The text of a settings file of a client, and the changes that are made to it.
 *
 * A change replaces some bytes and leaves all others as they are, comments too.  The changes are
 * remembered, so that they can be undone exactly (cli/install/record.h).
 */
#ifndef AL_CLI_INSTALL_SETTINGS_TEXT_H
#define AL_CLI_INSTALL_SETTINGS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"
#include "util/json.h"
#include "util/str.h"
#include <sys/types.h>

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

struct al_settings_text {
    struct al_str text;
    /** Every change in the order in which it was made: `before[i]` became `after[i]`. */
    struct al_strv before, after;
};

#define AL_SETTINGS_TEXT_INIT                                                                      \
    ((struct al_settings_text){                                                                    \
        .text = AL_STR_INIT, .before = AL_STRV_INIT, .after = AL_STRV_INIT })

void al_settings_text_clear(struct al_settings_text *settings);

/** Replace the bytes from `begin` to `end`. */
void al_settings_text_replace(struct al_settings_text *settings, size_t begin, size_t end,
                              const char *by);

/**
 * Undo changes that were made earlier, the last one first.
 * @return whether each of them was there exactly once.  If not, the text is unchanged.
 */
bool al_settings_text_undo(struct al_settings_text *settings, const struct al_strv *before,
                           const struct al_strv *after);

/* --- JSON, with or without comments --- */

/** Names of members, from the top object; NULL ends them.  At most 3. */
typedef const char *const *al_settings_path;

/**
 * Set a member, and make the objects that lead to it.  A member that already has this value stays
 * as it is.  An empty text counts as an empty object.
 * @return 0; or AL_ERR_BAD_ARGS: the text is no JSON, or has something else in the way.
 */
int al_settings_json_put(struct al_settings_text *settings, al_settings_path path,
                         const json_t *value, struct al_error *err);

/** Add a string to an array, and make what leads to it.  A string that is there is not added. */
int al_settings_json_add(struct al_settings_text *settings, al_settings_path path, const char *item,
                         struct al_error *err);

/** The value of a member as a new reference; NULL: the text is no JSON, or has no such member. */
json_t *al_settings_json_get(const struct al_settings_text *settings, al_settings_path path);

/** Remove a member.  An object that is empty then stays.  Nothing happens without the member. */
int al_settings_json_remove(struct al_settings_text *settings, al_settings_path path,
                            struct al_error *err);

/** Remove a string from an array, if it is there. */
void al_settings_json_take(struct al_settings_text *settings, al_settings_path path,
                           const char *item);

/* --- TOML --- */

/** Set the table [mcp_servers.<name>]: its lines are replaced, or the table is added at the end. */
int al_settings_toml_put(struct al_settings_text *settings, const char *name, const json_t *entry,
                         struct al_error *err);

/** Remove the table [mcp_servers.<name>], and what is below it. */
int al_settings_toml_remove(struct al_settings_text *settings, const char *name,
                            struct al_error *err);

/** The strings and lists of strings of the table as an object; NULL: there is no such table. */
json_t *al_settings_toml_get(const struct al_settings_text *settings, const char *name);

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
