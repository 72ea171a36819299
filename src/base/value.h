// SPDX-License-Identifier: Apache-2.0
/*
 * The YAML or TOML (cli/config/toml.h) of a user, as a tree of values that know their line.
 *
 * Of YAML only what settings need is read: one document of mappings, lists and scalars.  Anchors,
 * aliases, tags and repeated keys are refused, and so is what is deeper or has more values than the
 * limits below.  Messages quote the text of the file: sanitize them before they are shown.
 */
#ifndef AL_BASE_VALUE_H
#define AL_BASE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define AL_YAML_DEPTH_MAX      12u
#define AL_YAML_VALUES_MAX     2048u
#define AL_YAML_NAME_MAX_BYTES 1024u

enum al_value_type {
    AL_VALUE_NULL, /**< nothing, "~" or "null" */
    AL_VALUE_BOOL, /**< "true" or "false" */
    AL_VALUE_NUMBER,
    AL_VALUE_STRING, /**< any other scalar, and every scalar in quotes */
    AL_VALUE_TIME,   /**< a date or time, of TOML alone; it has no text */
    AL_VALUE_LIST,
    AL_VALUE_MAPPING,
};

/** A value.  Zero-initialised, it is AL_VALUE_NULL. */
struct al_value {
    enum al_value_type type;
    const char *file; /**< as messages name it; borrowed */
    unsigned line;    /**< of the value; of a member of a mapping, the line of its name */
    char *key;        /**< the way from the top: "toolsets.git.auto_pull[1].path"; "" at the top */
    char *name;       /**< of a member of a mapping; else NULL */
    char *text;       /**< of a scalar, as written but without quotes; has no NUL inside */
    struct al_value *items; /**< of a list, and the members of a mapping in the file's order */
    size_t count;
};

void al_value_clear(struct al_value *value);

/**
 * Read a document.  An empty one is AL_VALUE_NULL.
 *
 * @param file        For messages.  Borrowed; outlives the tree.
 * @param first_line  The line of the file in which `text` begins, from 1.
 * @return 0, or AL_ERR_BAD_ARGS "<file>:<line>: <key>: <what is wrong>".
 */
int al_yaml_read(const char *file, unsigned first_line, const char *text, size_t len,
                 struct al_value *ret_value, struct al_error *err);

/** Set an error about a value, "<file>:<line>: <key>: <what is wrong>".  Returns AL_ERR_BAD_ARGS.
 */
int al_value_error(const struct al_value *value, struct al_error *err, const char *fmt, ...)
    al_printf(3, 4);

/** The member of a mapping, borrowed; NULL: there is none. */
const struct al_value *al_value_get(const struct al_value *mapping, const char *name);

/** Check the type of a value: "must be a list, not a string". */
int al_value_check_type(const struct al_value *value, enum al_value_type wanted,
                        struct al_error *err);

/** Check that a value is a mapping whose members all have one of these names, which end with NULL.
 * The message names the nearest one. */
int al_value_check_names(const struct al_value *value, const char *const *names,
                         struct al_error *err);

/** Check that a value is a string that is not empty and not longer than `max_bytes`. */
int al_value_check_string(const struct al_value *value, size_t max_bytes, struct al_error *err);

/** Check that a value is a list of `min` to `max` items. */
int al_value_check_list(const struct al_value *value, size_t min, size_t max, struct al_error *err);

/** The string that is the member of a mapping, checked as by al_value_check_string().  `ret_text`
 * gets it, borrowed; NULL if there is no such member. */
int al_value_get_string(const struct al_value *mapping, const char *name, size_t max_bytes,
                        const char **ret_text, struct al_error *err);

#endif
