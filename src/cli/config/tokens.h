// SPDX-License-Identifier: Apache-2.0
/*
 * The token file of `serve --http`: who may come in, with which grant and under which name.
 *
 *   # comment
 *   TOKEN [GRANT [AGENT]]
 *
 * Words are separated by spaces and tabs; a word that begins with '#' begins a comment.  A token
 * without a grant has the server's.  A message names the file and the line, and no word of it: a
 * word in the wrong place may be a token.
 *
 * Tokens are kept as SHA-256 digests only.
 */
#ifndef AL_CLI_CONFIG_TOKENS_H
#define AL_CLI_CONFIG_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "guard/grant.h"

#define AL_TOKEN_MIN_BYTES   32u
#define AL_TOKEN_MAX_BYTES   1024u
#define AL_TOKENS_MAX        1024u
#define AL_TOKEN_FILE_MAX    (1u << 20)
#define AL_TOKEN_DIGEST_SIZE 32u

/** One token.  Strings are owned. */
struct al_token {
    uint8_t digest[AL_TOKEN_DIGEST_SIZE];
    char *grant;   /**< NULL: the server's */
    char *agent;   /**< a checked agent name; NULL: none is given */
    unsigned line; /**< of the file; 0: it was made */
};

/** The tokens of a file, in its order. */
struct al_tokens {
    struct al_token *items;
    size_t count;
};

#define AL_TOKENS_INIT ((struct al_tokens){ .items = NULL })

void al_tokens_clear(struct al_tokens *tokens);

/**
 * Read a token file: a regular file that belongs to this process's user, with no rights for anybody
 * else.  Links are followed.
 *
 * @param grants      Those of the configuration; a token's grant has to be one of them.
 * @param ret_tokens  On success only.
 * @return 0, or AL_ERR_BAD_ARGS with "<file>: <why>" or "<file>:<line>: <why>".
 */
int al_tokens_read(const char *path, const struct al_grants *grants, struct al_tokens *ret_tokens,
                   struct al_error *err);

/** The same for the text of a file, which is cut up; `name` is for messages. */
int al_tokens_parse(const char *name, struct al_str *text, const struct al_grants *grants,
                    struct al_tokens *ret_tokens, struct al_error *err);

/**
 * Make a random token, and add it without grant and agent.
 *
 * @param ret_text  The token, for the user.  The caller clears it with explicit_bzero(3).
 */
void al_tokens_make(struct al_tokens *tokens, struct al_str *ret_text);

/**
 * Find the token that a client presents.  The time depends on neither the token nor its place.
 *
 * @return borrowed; NULL: there is no such token.
 */
const struct al_token *al_tokens_find(const struct al_tokens *tokens, const char *presented,
                                      size_t len);

#endif
