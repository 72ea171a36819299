// SPDX-License-Identifier: Apache-2.0
/*
 * requestState: what a client carries from the call that asked for approval to the call that brings
 * the answer.
 *
 * A state holds its number, the time of issue and two digests: of the call, and of what was shown
 * to the user.  It is authenticated with HMAC-SHA256 under a key of this process, so a client
 * cannot change it.
 *
 * A state is valid for AL_REQUEST_STATE_LIFETIME_MS, as long as it is among the last
 * AL_REQUEST_STATES_MAX that were issued, and can be spent once.
 *
 * Source: MCP 2026-07-28, "Multi round-trip requests"; RFC 2104.
 */
#ifndef AL_SERVE_MCP_REQUEST_STATE_H
#define AL_SERVE_MCP_REQUEST_STATE_H

#include <nettle/hmac.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/** The time for which a state is valid. */
#define AL_REQUEST_STATE_LIFETIME_MS (5 * 60 * 1000)

/** The newest states, of which it is known whether they were spent. */
#define AL_REQUEST_STATES_MAX 4096

/** Characters of a state as text (base64url). */
#define AL_REQUEST_STATE_CHARS 160

/** A digest of something a state is bound to. */
struct al_request_state_digest {
    uint8_t bytes[SHA256_DIGEST_SIZE];
};

/** A state that was read and whose authentication code is right. */
struct al_request_state {
    uint64_t number; /**< of the process; the first is 1 */
    int64_t issued_ms;
    struct al_request_state_digest call;  /**< tool and arguments */
    struct al_request_state_digest shown; /**< what was shown to the user */
};

/** The states of one server. */
struct al_request_states {
    struct hmac_sha256_ctx key;
    int64_t (*clock_ms)(void); /**< al_clock_ms(), or a test's clock */

    pthread_mutex_t lock;              /**< guards the members below */
    uint64_t last;                     /**< the number of the newest state */
    bool spent[AL_REQUEST_STATES_MAX]; /**< of a state, by its number */
};

/** Make a key.  0 or AL_ERR_EXECUTION. */
int al_request_states_init(struct al_request_states *states, struct al_error *err);
void al_request_states_clear(struct al_request_states *states);

/** Issue a state.  0, or AL_ERR_EXECUTION when getrandom(2) fails.  Threads: any. */
int al_request_state_issue(struct al_request_states *states,
                           const struct al_request_state_digest *call,
                           const struct al_request_state_digest *shown,
                           char ret_text[AL_REQUEST_STATE_CHARS + 1], struct al_error *err);

/** Read a state of this process, expired or not; false: it is none.  Threads: any. */
bool al_request_state_read(const struct al_request_states *states, const char *text, size_t len,
                           struct al_request_state *ret_state);

/** Spend a state.  False: it was spent before, or is too old.  Threads: any. */
bool al_request_state_spend(struct al_request_states *states, const struct al_request_state *state);

#endif
