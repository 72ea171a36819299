// SPDX-License-Identifier: Apache-2.0
/* airlock review --web: the review page for a browser of this machine. */
#ifndef AL_REVIEW_WEB_WEB_H
#define AL_REVIEW_WEB_WEB_H

#include "base/str.h"
#include "cli/setup.h"

/**
 * Print a link to the page of a server of this user that has one; else serve the page, print its
 * link, and return at a signal.
 *
 * @param setup    After al_setup_config().
 * @param dirs     Of the sockets.
 * @param address  "127.0.0.1:8080"; NULL: a free port of loopback.
 * @return the exit code: 2 when the address is not of this machine alone.
 */
int al_review_web(struct al_setup *setup, const struct al_strv *dirs, const char *address);

#endif
