// SPDX-License-Identifier: Apache-2.0
/*
 * The review page: /review and what lies below it, for a server over HTTP.
 *
 *   GET   /review[?k=KEY]              what waits, runs and happened; a key opens it
 *   GET   /review/live, /review/events for the script
 *   GET   /review/ID                   a question in full
 *   POST  /review/ID                   its answer: decision, reason, csrf
 *   GET   /review/execution/SEQ        what an execution changed
 *   GET   /review/execution/SEQ/rollback   what a rollback would change
 *   POST  /review/execution/SEQ/rollback   the rollback: decision, newest, csrf
 *   GET   /review/staged/ID            a staged commit
 *
 * The server that has a site checks Host and Origin before it hands a request over.  A POST may
 * have the Origin `null`, which browsers send under the site's Referrer-Policy: the cookie and the
 * csrf protect it.  The site also refuses what a browser says another site has sent.
 *
 * Threads: al_site_link() any; the functions for requests the HTTP thread; the others one.
 *
 * Source: docs/APPROVALS.md.
 */
#ifndef AL_REVIEW_WEB_SITE_H
#define AL_REVIEW_WEB_SITE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/setup.h"
#include "serve/http/address.h"
#include "serve/http/server.h"

struct al_site;

/**
 * Make a site, in a process that has called al_proc_init().
 *
 * @param setup            After al_setup_config(); borrowed.
 * @param dirs             Of the sockets; copied.
 * @param always_attached  Calls wait for this site also while no browser looks at it: see
 *                         review/door.h.
 */
int al_site_new(const struct al_setup *setup, const struct al_strv *dirs, bool always_attached,
                struct al_site **ret_site, struct al_error *err);

/** Answer what waits and end the streams.  Requests are refused from now on.  NULL is fine. */
void al_site_stop(struct al_site *site);

/** After the end of the HTTP server, and al_site_stop().  NULL is fine. */
void al_site_free(struct al_site *site);

/**
 * Make a link that opens the site once.
 *
 * @param origin  Where the site is: "http://127.0.0.1:8080".
 * @return NULL: getrandom(2) fails.  The caller wipes and frees it.
 */
char *al_site_link(struct al_site *site, const char *origin);

/** Test whether a request is the site's. */
bool al_site_owns(const struct al_http_request *request);

/** The on_headers() of al_http_handler, for requests of the site's, before the body is read.  It
 * sets no data of an exchange. */
void al_site_on_headers(struct al_site *site, struct al_http_exchange *exchange,
                        const struct al_http_request *request);
void al_site_on_request(struct al_site *site, struct al_http_exchange *exchange,
                        const struct al_http_request *request);

/**
 * The origin of a place: "http://127.0.0.1:8080".  The origin of a place that is every address of
 * the machine is the loopback one; behind a proxy it is the first of `hosts`, over https.
 *
 * @param hosts  [serve] hosts.
 * @return NULL for a Unix socket.  Caller frees.
 */
char *al_web_origin(const struct al_http_place *place, const struct al_strv *hosts);

#endif
