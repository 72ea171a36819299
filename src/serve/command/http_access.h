// SPDX-License-Identifier: Apache-2.0
/*
 * Admission over HTTP: the tokens, what each may do, and the accepted hosts and origins.
 *
 * All of it comes from one reading of the configuration and the token file.  A later reading
 * replaces it as a whole, or not at all.  A token whose grant, agent and rules are the same in both
 * keeps its account, and so its sessions; each other account of the old reading is ended.
 *
 * Threads: safe, but for al_http_access_new(), al_http_access_reload() and al_http_access_free(),
 * which are for one thread.
 */
#ifndef AL_SERVE_COMMAND_HTTP_ACCESS_H
#define AL_SERVE_COMMAND_HTTP_ACCESS_H

#include <stddef.h>

#include "base/error.h"
#include "cli/options.h"
#include "cli/setup.h"
#include "serve/http/origin.h"
#include "serve/mcp/http/endpoint.h"

struct al_http_access;

/**
 * Read the token file that is configured; without one make a token, unless none is needed.
 *
 * @param setup     After al_setup_session(), with `many_agents`.  Borrowed, as the next two.
 * @param endpoint  That the tokens have accounts of.
 * @param ret_made  The token that was made; untouched: none.  The caller clears it with
 *                  explicit_bzero(3).
 * @return 0; AL_ERR_BAD_ARGS when the user has to correct a file; AL_ERR_EXECUTION.
 */
int al_http_access_new(const struct al_setup *setup, const struct al_options *options,
                       struct al_endpoint *endpoint, struct al_http_access **ret_access,
                       struct al_str *ret_made, struct al_error *err);

/** After the endpoint was freed, which has ended all accounts. */
void al_http_access_free(struct al_http_access *access);

/** How many tokens there are; 0: none is needed. */
size_t al_http_access_count(const struct al_http_access *access);

/**
 * Read the configuration and the token file again.
 *
 * @param ret_ended  How many accounts were ended.
 * @return 0; AL_ERR_BAD_ARGS or AL_ERR_EXECUTION, and everything stays as it was.
 */
int al_http_access_reload(struct al_http_access *access, size_t *ret_ended, struct al_error *err);

/**
 * The account of a token; without one, where none is needed, that of everybody.
 *
 * @return a reference for the caller; NULL: there is no such token.
 */
struct al_account *al_http_access_find(struct al_http_access *access, const char *token,
                                       size_t len);

/** The newest configuration; valid until al_http_access_free(). */
const struct al_config *al_http_access_config(struct al_http_access *access);

#endif
