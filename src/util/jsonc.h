// SPDX-License-Identifier: Apache-2.0
/*
 * Where the values are in a text of JSON, which may have comments and trailing commas (JSONC, as
 * editors write their settings).
 *
 * A settings file belongs to the user: a program that changes one value must leave every other byte
 * as it is.  A parser of values cannot do that.  This one gives positions, and al_jsonc_strict()
 * hands the values themselves to jansson.
 *
 * Source: RFC 8259; "JSON with Comments" as Visual Studio Code reads it.
 */
#ifndef AL_UTIL_JSONC_H
#define AL_UTIL_JSONC_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"
#include "util/str.h"

/** Objects and arrays may be nested this deep. */
#define AL_JSONC_DEPTH_MAX 200

/** A value.  Positions are bytes of the text. */
struct al_jsonc_node {
    char kind; /**< the first byte of the value: '{', '[', '"', '-', a digit or a letter */
    size_t
        key_begin;  /**< of a member of an object: its name, with quotes; else that of the value */
    size_t key_end; /**< 0: no member of an object */
    size_t begin, end; /**< of the value, with brackets or quotes */
    size_t comma_end;  /**< behind the comma after the value; 0: no comma */
    size_t count;      /**< members of an object, items of an array */
    size_t child;      /**< the first of them, 0: none */
    size_t last;       /**< the last of them, 0: none */
    size_t next;       /**< the next one of the same object or array, 0: none */
};

/** A parsed text, which is borrowed.  Node 0 is the value that the text has. */
struct al_jsonc {
    const char *text;
    size_t len;
    struct al_jsonc_node *nodes;
    size_t count;
};

#define AL_JSONC_INIT ((struct al_jsonc){ .nodes = NULL })

/**
 * Parse a text of one value.  A byte order mark may come first.
 * @return 0; or AL_ERR_BAD_ARGS with a message that begins with the line: "line 3: …".
 */
int al_jsonc_parse(const char *text, size_t len, struct al_jsonc *ret, struct al_error *err);

/** Cleanup for `al_auto(al_jsonc_clear) struct al_jsonc doc = AL_JSONC_INIT`. */
void al_jsonc_clear(struct al_jsonc *doc);

/**
 * Find a member of an object by its name.
 * @param[out] ret_again  The object has another member of this name, so readers disagree about the
 *                        value.  May be NULL.
 * @return the first member; 0: the node is no object, or has no such member.
 */
size_t al_jsonc_member(const struct al_jsonc *doc, size_t object, const char *name,
                       bool *ret_again);

/** Append the text of a value as plain JSON, without comments and trailing commas. */
void al_jsonc_strict(const struct al_jsonc *doc, size_t node, struct al_str *out);

/** Where the comments and the white space that begin at `at` end. */
size_t al_jsonc_skip(const struct al_jsonc *doc, size_t at);

#endif
