// SPDX-License-Identifier: Apache-2.0
/* What a path below /review means. */
#ifndef AL_CLI_REVIEW_WEB_ROUTE_H
#define AL_CLI_REVIEW_WEB_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

/** The pages. */
enum al_route_kind {
    AL_ROUTE_OVERVIEW,
    AL_ROUTE_LIVE,
    AL_ROUTE_EVENTS,
    AL_ROUTE_STYLE,
    AL_ROUTE_SCRIPT,
    AL_ROUTE_QUESTION,
    AL_ROUTE_EXECUTION,
    AL_ROUTE_ROLLBACK,
    AL_ROUTE_STAGED,
};

/** A page and what its path names. */
struct al_route {
    enum al_route_kind kind;
    const char *id; /**< of a question or a staged commit; borrowed from the path */
    uint64_t seq;   /**< of an execution */
    bool posts;     /**< it takes POST too */
    bool is_open;   /**< it needs no cookie: nothing of the user is in it */
};

/** False: there is no such page. */
bool al_route_find(const char *path, struct al_route *ret_route);

#endif
