// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the bytes of a value inside JSON text that the parser has accepted.
 *
 * A parsed tree has lost the digits of integers of more than 64 bits, and which names were given
 * twice.  These functions find the bytes again.  The tree stays authoritative: wire/jsonrpc.c does
 * not use bytes that parse to another value.  On malformed text the result is unspecified, but
 * nothing outside the text is read.
 */
#ifndef AL_WIRE_RAW_JSON_H
#define AL_WIRE_RAW_JSON_H

#include <stddef.h>

struct al_raw_json {
    const char *at; /**< NULL: not found */
    size_t len;
};

/** The value of the last member called `name`: jansson keeps the last as well. */
struct al_raw_json al_raw_json_member(struct al_raw_json object, const char *name);

/** The number of members called `name`. */
size_t al_raw_json_count_members(struct al_raw_json object, const char *name);

/** The item after `item`, or the first if item.at is NULL.  at is NULL at the end. */
struct al_raw_json al_raw_json_next(struct al_raw_json array, struct al_raw_json item);

/** An upper bound of the number of values: the commas and brackets outside strings, plus one. */
size_t al_raw_json_count_values(struct al_raw_json text);

/**
 * A copy of the text with "e0" behind every integer of more than 18 digits, so that a parser
 * limited to 64 bits reads a real.  Malformed text stays malformed.  Caller frees; *ret_len is its
 * length.
 */
char *al_raw_json_widen(struct al_raw_json text, size_t *ret_len);

#endif
