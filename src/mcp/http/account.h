// SPDX-License-Identifier: Apache-2.0
/*
 * What a server keeps for each token: its offer, its sessions, and how many calls it may have.
 *
 * Everything of a client is looked up in the account of its principal, so what one token has cannot
 * be found with another.
 *
 * Threads: any.
 */
#ifndef AL_MCP_HTTP_ACCOUNT_H
#define AL_MCP_HTTP_ACCOUNT_H

#include <pthread.h>
#include <stdatomic.h>

#include "mcp/http/endpoint.h"
#include "mcp/http/events.h"
#include "mcp/http/peer.h"
#include "mcp/http/stream.h"

struct al_principal;

/** The accounts of a server. */
struct al_accounts {
    struct al_service *service;
    struct al_endpoint_options limits; /**< for each token, and `idle_s` */
    int wake_fd; /**< eventfd that wakes the thread that calls al_accounts_end_idle() */

    pthread_mutex_t lock; /**< guards the list and the lists of sessions */
    struct al_account *first;
    uint64_t npeers; /**< the last peer's number */
};

struct al_account {
    struct al_accounts *accounts;
    atomic_size_t refs;
    struct al_principal *principal; /**< holds a reference */
    struct al_offer offer;
    struct al_call_quota quota;
    struct al_lane lane; /**< of its messages */
    struct al_event_store events;

    /* The lock of `accounts` guards these. */
    struct al_account *next;
    struct al_peer *modern;   /**< with a reference; NULL: no request came yet, or it has ended */
    struct al_peer *sessions; /**< with references */
    size_t nsessions;
};

struct al_account *al_account_ref(struct al_account *account);
void al_account_unref(struct al_account *account);

void al_accounts_init(struct al_accounts *accounts, struct al_service *service,
                      const struct al_endpoint_options *limits);

/** Only after al_accounts_end() and the end of all calls. */
void al_accounts_clear(struct al_accounts *accounts);

/** The account of a principal, with a reference; NULL: it has none. */
struct al_account *al_accounts_find(struct al_accounts *accounts, struct al_principal *principal);

/** The same; it is made when there is none.  NULL: it cannot be made, or the principal was revoked.
 */
struct al_account *al_accounts_open(struct al_accounts *accounts, struct al_principal *principal);

/** The peer of all modern requests, with a reference; NULL: the principal was revoked. */
struct al_peer *al_account_modern(struct al_account *account);

/** Make a session; NULL: there are as many as may be, or no random bytes.  With a reference. */
struct al_peer *al_account_add_session(struct al_account *account);

/** The session with this id, with a reference; NULL: there is none. */
struct al_peer *al_account_find_session(struct al_account *account, const char *id);

/** End a session of the account.  False: it was ended before. */
bool al_account_end_session(struct al_account *account, struct al_peer *peer);

/** What a client is told that has too many messages, and when it may try again. */
#define AL_ACCOUNT_BUSY                                                                            \
    "too many messages of this token are being served; wait for their answers, then send this "    \
    "one again"
#define AL_ACCOUNT_RETRY_S 1

/** Have a task that serves a message run, after those of the same session (NULL: none).  The caller
 * has references of both.  False: the account has too many, and nothing was done. */
bool al_account_submit(struct al_account *account, struct al_peer *session, struct al_task *task);

/** End every session that was not used for the idle time.  Returns when to call this again, in
 * milliseconds from now; -1: there is no session. */
int al_accounts_end_idle(struct al_accounts *accounts, int64_t now_ms);

/** End everything of a principal. */
void al_accounts_revoke(struct al_accounts *accounts, struct al_principal *principal);

/** End everything. */
void al_accounts_end(struct al_accounts *accounts);

#endif
