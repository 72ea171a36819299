// SPDX-License-Identifier: Apache-2.0
/*
 * The bytes of a value inside JSON text that a parser has accepted already.
 *
 * A parsed tree has lost what some answers need: the digits of an integer larger than 64 bits, and
 * which names were written twice.  These functions find the bytes again; the tree decides what the
 * message is, and bytes that do not have its value are not used (mcp/jsonrpc.c).  On text that is
 * not well-formed they find something or nothing, but never read outside it.
 */
#ifndef AL_MCP_RAW_JSON_H
#define AL_MCP_RAW_JSON_H

#include <stddef.h>

struct al_raw_json {
    const char *at; /**< NULL: there is no such value */
    size_t len;
};

/** The value of the last member called `name`, as the parser has it; none when there is none. */
struct al_raw_json al_raw_json_member(struct al_raw_json object, const char *name);

/** How many members are called `name`. */
size_t al_raw_json_count_members(struct al_raw_json object, const char *name);

/** The item after `item`, or the first when `item` is none; none at the end. */
struct al_raw_json al_raw_json_next(struct al_raw_json array, struct al_raw_json item);

/** How many values the text holds at most: the commas and brackets outside strings, plus one. */
size_t al_raw_json_count_values(struct al_raw_json text);

/**
 * The text with "e0" behind every integer of more than 18 digits: a parser limited to 64 bits then
 * reads a real.  Malformed text stays malformed.  Caller frees; *ret_len is its length.
 */
char *al_raw_json_widen(struct al_raw_json text, size_t *ret_len);

#endif
