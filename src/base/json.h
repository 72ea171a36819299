// SPDX-License-Identifier: Apache-2.0
/*
 * jansson, with two additions: a function that builds a value aborts when memory runs out, and
 * takes bytes that are not UTF-8.  Ownership is as in jansson: `al_json_set()` and
 * `al_json_append()` take the value over.
 */
#ifndef AL_BASE_JSON_H
#define AL_BASE_JSON_H

#include <jansson.h>

#include "base/str.h"

/** Cleanup for `al_auto(al_json_decrefp) json_t *value`. */
void al_json_decrefp(json_t **value);

/** A new value.  Caller owns the reference. */
json_t *al_json_object(void);
json_t *al_json_array(void);
json_t *al_json_int(int64_t value);
json_t *al_json_bool(bool value);

/** A name or a word: bytes that are not UTF-8 are shown as <E9>, see al_utf8_escape(). */
json_t *al_json_string(const char *text);

/** A name that al_utf8_unescape() gives back, whatever its bytes. */
json_t *al_json_name(const char *name);

/** Content: bytes that are not UTF-8 become U+FFFD. */
json_t *al_json_stringn(const char *text, size_t len);

/** Set `object[name]`, taking `value` over. */
void al_json_set(json_t *object, const char *name, json_t *value);

/** Append to an array, taking `value` over. */
void al_json_append(json_t *array, json_t *value);

/** Append compact JSON to `out`, on one line, with members in the order in which they were set.
 * Hidden characters are escaped (al_utf8_is_hidden()), so it is safe to show: the same value.
 * `ascii` escapes all other characters beyond ASCII too. */
void al_json_dump(const json_t *value, bool ascii, struct al_str *out);

/** Append a JSON string literal in the same way, with its quotes.  Bytes that are not UTF-8 become
 * U+FFFD. */
void al_json_quote(const char *text, size_t len, struct al_str *out);

/** Bytes of each value in al_json_bytes(), beside its text. */
#define AL_JSON_VALUE_BYTES 64

/** About the memory that a value takes, in bytes: AL_JSON_VALUE_BYTES for it and each value in it,
 * and the bytes of their strings and names.  NULL takes none. */
size_t al_json_bytes(const json_t *value);

/** `object[name]` when it is a string, else NULL.  Borrowed. */
const char *al_json_get_string(const json_t *object, const char *name);

#endif
