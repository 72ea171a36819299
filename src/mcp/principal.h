// SPDX-License-Identifier: Apache-2.0
/*
 * Who a request over HTTP comes from: what it may do, and under which name.
 *
 * A principal is what a token stands for.  The token itself is known to cli/ only.  A principal
 * never changes: when a token gets another grant, agent or rules, it gets another principal, and
 * the sessions of the old one end.  Two tokens never share a principal, also with equal rights, so
 * sessions, calls and cursors of one are compared by this pointer.
 */
#ifndef AL_MCP_PRINCIPAL_H
#define AL_MCP_PRINCIPAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tool/call.h"

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
