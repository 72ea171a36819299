// SPDX-License-Identifier: Apache-2.0
/* Which options of a server over HTTP belong together. */
#ifndef AL_CLI_SERVE_HTTP_CHECK_H
#define AL_CLI_SERVE_HTTP_CHECK_H

#include "cli/options.h"
#include "config/config.h"
#include "util/error.h"

/**
 * Check the options and the configuration of `serve`.
 *
 * - Without a token everybody may come in who reaches the server: loopback and Unix sockets only.
 * - Elsewhere a token would be read on its way: TLS, or a proxy that does it.
 *
 * @return 0, or AL_ERR_BAD_ARGS saying what to do.
 */
int al_http_check(const struct al_options *options, const struct al_config *config,
                  struct al_error *err);

/** Check the certificate and the key that are configured, see al_http_tls_check(). */
int al_http_check_tls(const struct al_config *config, struct al_error *err);

#endif
