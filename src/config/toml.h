// SPDX-License-Identifier: Apache-2.0
/*
 * TOML read into a flat walk over its keys.
 *
 * toml++ is C++, so it stays behind this header; nothing of it and no exception leaves toml.cc.
 */
#ifndef AL_CONFIG_TOML_H
#define AL_CONFIG_TOML_H

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
    AL_TOML_LIST,    /**< a list with anything else in it */
    AL_TOML_FLOAT,
    AL_TOML_TIME,   /**< dates and times */
    AL_TOML_TABLES, /**< a list of tables, not empty */
};

/** One string and where it stands.  `text` ends with a NUL and may hold others before it. */
struct al_toml_item {
    const char *text;
    size_t len;
    unsigned line;
};

/** A key and its value, valid during the visit. */
struct al_toml_value {
    const char *key;  /**< dotted from the top; parts that are not bare keys are quoted */
    const char *name; /**< its last part as it is, without quotes */
    size_t name_len;
    unsigned depth; /**< of the table it is in; 0 at the top */
    unsigned line;
    bool in_list; /**< a table that is one of a list of tables */
    enum al_toml_type type;
    bool boolean;
    int64_t integer;
    const struct al_toml_item *items; /**< one for a string, any number for strings */
    size_t nitems;
};

/** Called for each table before what is in it, and for each value.  For a table or a list of
 * tables: whether to look inside; the answer does not matter otherwise.  Each table of a list is
 * visited in turn, with the list's key.  Order is not that of the file, but for such lists. */
typedef bool (*al_toml_visit_fn)(void *payload, const struct al_toml_value *value);

/** Called once when the text is not TOML. */
typedef void (*al_toml_fail_fn)(void *payload, unsigned line, const char *what);

/** Walk `text`.  0 when it was walked, -1 when it is not TOML. */
int al_toml_walk(const char *text, size_t len, al_toml_visit_fn visit, al_toml_fail_fn fail,
                 void *payload);

#ifdef __cplusplus
}
#endif

#endif
