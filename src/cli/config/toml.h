// SPDX-License-Identifier: Apache-2.0
/*
 * TOML as a flat walk over its keys.
 *
 * toml++ is C++ and stays behind this header: none of its types and exceptions leave toml.cc.
 */
#ifndef AL_CLI_CONFIG_TOML_H
#define AL_CLI_CONFIG_TOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum al_toml_type {
    AL_TOML_TABLE,
    AL_TOML_STRING,
    AL_TOML_INT,
    AL_TOML_BOOL,
    AL_TOML_STRINGS, /**< a list of strings; the empty list too */
    AL_TOML_LIST,    /**< a list with other items */
    AL_TOML_FLOAT,
    AL_TOML_TIME,   /**< dates and times */
    AL_TOML_TABLES, /**< a non-empty list of tables */
};

/** One string and its line.  `text` is NUL-terminated and may contain further NULs. */
struct al_toml_item {
    const char *text;
    size_t len;
    unsigned line;
};

/** A key and its value.  Valid during the visit. */
struct al_toml_value {
    const char *key;  /**< dotted, from the top; parts that are not bare keys are quoted */
    const char *name; /**< the key's last part, without quotes */
    size_t name_len;
    unsigned depth; /**< of the key's table; 0 at the top */
    unsigned line;
    bool in_list; /**< the table is an item of a list of tables */
    enum al_toml_type type;
    bool boolean;
    int64_t integer;
    const struct al_toml_item *items; /**< one for a string, any number for a list of strings */
    size_t nitems;
};

/**
 * Called for each value, and for each table before its contents.  Each table of a list is visited
 * in turn, under the list's key.  Such lists keep the file's order; nothing else does.
 *
 * @return for a table or a list of tables: whether to visit its contents.  Otherwise ignored.
 */
typedef bool (*al_toml_visit_fn)(void *payload, const struct al_toml_value *value);

/** Called once if the text is not TOML. */
typedef void (*al_toml_fail_fn)(void *payload, unsigned line, const char *what);

/**
 * Walk over `text`.
 * @return 0, or -1 when the text is not TOML.
 */
int al_toml_walk(const char *text, size_t len, al_toml_visit_fn visit, al_toml_fail_fn fail,
                 void *payload);

#ifdef __cplusplus
}
#endif

#endif
