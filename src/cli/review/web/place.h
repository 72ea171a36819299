// SPDX-License-Identifier: Apache-2.0
/* How a browser writes the place where a page is served. */
#ifndef AL_CLI_REVIEW_WEB_PLACE_H
#define AL_CLI_REVIEW_WEB_PLACE_H

#include "http/origin.h"
#include "util/str.h"

/**
 * The origin of a place: "http://127.0.0.1:8080".  For a place that is every address of the machine
 * it is the loopback one; behind a proxy it is the first of `hosts`, over https.
 *
 * @param hosts  [serve] hosts.
 * @return NULL for a Unix socket.  Caller frees.
 */
char *al_web_origin(const struct al_http_place *place, const struct al_strv *hosts);

#endif
