// SPDX-License-Identifier: Apache-2.0
/* What all clients of a server share, whatever they may do: its calls, its name, and the news about
 * its list of tools. */
#ifndef AL_SERVE_MCP_SERVICE_H
#define AL_SERVE_MCP_SERVICE_H

#include "call/call.h"
#include "serve/mcp/calls.h"
#include "serve/mcp/listing.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct al_principal {
    /** Its grant and its agent name; git, journal, checkpoints and all else are the server's.
     * `approvals` is NULL: every MCP session has its own copy of this struct, with its own. */
    struct al_session session;
    char *name; /**< for log lines, safe text: the agent's name or the token's line; never a token.
                   Owned */
    uint64_t number; /**< of this principal in the process, never used again; not 0 */
    atomic_uint refs;
    atomic_bool revoked;            /**< the token was removed: nothing is begun for it any more */
    void (*release)(void *payload); /**< after the last reference is gone; may be NULL */
    void *payload;                  /**< what `session` borrows from; for `release` */
};

struct al_service {
    char *info;                    /**< serverInfo, a JSON object */
    char *meta;                    /**< the member of a modern _meta that holds serverInfo */
    struct al_result_extra modern; /**< what every modern result adds */
    struct al_listings listings;
    struct al_calls calls;
};

/** `version` is that of airlock; `mounts` may be NULL. */
void al_service_init(struct al_service *service, const char *version, struct al_mounts *mounts,
                     const struct al_calls_options *calls);

/** Only after the last call has ended and the last listing was cleared. */
void al_service_clear(struct al_service *service);

/**
 * Make a principal, with one reference for the caller.
 *
 * @param session  Copied.  What it points to lives until `release` is called.
 * @param name     Copied.
 */
struct al_principal *al_principal_new(const struct al_session *session, const char *name,
                                      void (*release)(void *payload), void *payload);

/** Take another reference.  Returns `principal`.  Threads: safe. */
struct al_principal *al_principal_ref(struct al_principal *principal);

/** Drop a reference; NULL is allowed.  Threads: safe.  The last one calls `release`. */
void al_principal_unref(struct al_principal *principal);

#endif
