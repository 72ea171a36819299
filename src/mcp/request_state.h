// SPDX-License-Identifier: Apache-2.0
/*
 * The requestState of a question: what a client carries from the call that asked to the call that
 * brings the answer.
 *
 * A ticket names the call it belongs to and what the person was shown, as digests, and when it was
 * issued.  The client can read none of it and change none of it: it is authenticated under a key of
 * this process.  It counts for AL_REQUEST_STATE_LIFETIME_MS and can be spent once.  Questions
 * nobody answers cost no memory; the tickets that were spent are remembered until they would have
 * expired, and when there are too many of them, those issued longest ago are given up together with
 * all other tickets of their time.
 *
 * Source: MCP 2026-07-28, "Multi round-trip requests".
 */
#ifndef AL_MCP_REQUEST_STATE_H
#define AL_MCP_REQUEST_STATE_H

#include <nettle/hmac.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/** How long a question can be answered. */
#define AL_REQUEST_STATE_LIFETIME_MS (5 * 60 * 1000)

/** Spent tickets that are remembered at once. */
#define AL_REQUEST_STATES_SPENT_MAX 512

/** Characters of a sealed ticket. */
#define AL_REQUEST_STATE_CHARS 160

/** A digest of what a ticket is bound to. */
struct al_request_state_digest {
    uint8_t bytes[SHA256_DIGEST_SIZE];
};

/** A ticket that was read. */
struct al_request_state {
    uint8_t nonce[16];
    int64_t issued_ms;
    struct al_request_state_digest call;  /**< tool and arguments */
    struct al_request_state_digest shown; /**< what the person decided on */
};

/** The tickets of one server. */
struct al_request_states {
    struct hmac_sha256_ctx key;
    int64_t (*clock_ms)(void); /**< al_clock_ms(), unless a test has another */

    pthread_mutex_t lock;
    struct al_request_state_spent {
        uint8_t nonce[16];
        int64_t issued_ms;
    } spent[AL_REQUEST_STATES_SPENT_MAX];
    size_t nspent;
    int64_t revoked_until_ms; /**< tickets issued until then no longer count */
};

/** Make a key.  0 or AL_ERR_EXECUTION. */
int al_request_states_init(struct al_request_states *states, struct al_error *err);
void al_request_states_clear(struct al_request_states *states);

/** Issue a ticket.  0 or AL_ERR_EXECUTION when there is no randomness.  Threads: any. */
int al_request_state_issue(struct al_request_states *states,
                           const struct al_request_state_digest *call,
                           const struct al_request_state_digest *shown,
                           char ret_text[AL_REQUEST_STATE_CHARS + 1], struct al_error *err);

/** Read a ticket of this process; false when it is none.  How old it is does not matter here. */
bool al_request_state_read(const struct al_request_states *states, const char *text, size_t len,
                           struct al_request_state *ret_state);

/** Use a ticket up.  False when it was used before, or has expired.  Threads: any. */
bool al_request_state_spend(struct al_request_states *states, const struct al_request_state *state);

#endif
