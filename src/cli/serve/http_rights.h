// SPDX-License-Identifier: Apache-2.0
/* The principal of one token: its session, and a text by which two readings are compared. */
#ifndef AL_CLI_SERVE_HTTP_RIGHTS_H
#define AL_CLI_SERVE_HTTP_RIGHTS_H

#include <stdatomic.h>

#include "cli/setup.h"
#include "config/tokens.h"
#include "mcp/principal.h"
#include "util/error.h"

/** A configuration that principals borrow grants and rules from. */
struct al_rules {
    struct al_config config;
    atomic_uint refs;
};

/** An empty configuration, with one reference for the caller. */
struct al_rules *al_rules_new(void);

/** Take another reference.  Returns `rules`.  Threads: safe. */
struct al_rules *al_rules_ref(struct al_rules *rules);

/** Drop a reference; NULL is allowed.  Threads: safe. */
void al_rules_unref(struct al_rules *rules);

/**
 * Choose the rights of a token, and describe them.
 *
 * @param rules     Not used by another thread yet.
 * @param token     NULL: everybody, without a token.
 * @param ret_text  Equal for equal rights.
 * @return 0, or AL_ERR_BAD_ARGS.
 */
int al_rights_describe(const struct al_setup *setup, struct al_rules *rules,
                       const struct al_token *token, struct al_str *ret_text, struct al_error *err);

/**
 * Make the principal of a token.  It takes a reference to `rules`.
 *
 * @param setup  Outlives the principal.
 * @return 0 with a reference for the caller; AL_ERR_BAD_ARGS or AL_ERR_EXECUTION.
 */
int al_rights_new(const struct al_setup *setup, struct al_rules *rules,
                  const struct al_token *token, struct al_principal **ret_principal,
                  struct al_error *err);

#endif
