// SPDX-License-Identifier: Apache-2.0
/* Settings of a server's configuration that are allowed, and are hardly what the user means. */
#ifndef AL_SERVE_COMMAND_WARN_H
#define AL_SERVE_COMMAND_WARN_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/config/config.h"
#include "cli/options.h"
#include "cli/setup.h"

/** Warn of a grant that covers none of the roots: each of its calls would be refused. */
void al_warn_of_grant(const struct al_setup *setup, const struct al_grant *grant);

/** Test whether clients reach the server by names that it does not accept. */
bool al_serve_lacks_hosts(const struct al_config *config);

/**
 * Check the options and the configuration of `serve`.
 *
 * - Everybody may come in who reaches a server without a token: loopback and Unix sockets only.
 * - Elsewhere a token would be read on its way: TLS, or a proxy that does it.
 *
 * @return 0, or AL_ERR_BAD_ARGS saying what to do.
 */
int al_http_check(const struct al_options *options, const struct al_config *config,
                  struct al_error *err);

/** Check the certificate and the key that are configured, see al_http_tls_check(). */
int al_http_check_tls(const struct al_config *config, struct al_error *err);

#endif
