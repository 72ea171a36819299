// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/request_state.h"

#include <errno.h>
#include <nettle/base64.h>
#include <nettle/memops.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/lock.h"

#define KEY_BYTES 32

/* Layout: random bytes, number, time of issue, two digests, and the authentication code over all of
 * them. */
enum {
    AT_NUMBER = 8,
    AT_TIME = AT_NUMBER + 8,
    AT_CALL = AT_TIME + 8,
    AT_SHOWN = AT_CALL + SHA256_DIGEST_SIZE,
    AT_MAC = AT_SHOWN + SHA256_DIGEST_SIZE,
    RAW_BYTES = AT_MAC + SHA256_DIGEST_SIZE,
};

_Static_assert(BASE64_ENCODE_RAW_LENGTH(RAW_BYTES) == AL_REQUEST_STATE_CHARS,
               "a multiple of three bytes, so that no character has bits to spare");

int al_request_states_init(struct al_request_states *states, struct al_error *err)
{
    uint8_t key[KEY_BYTES];

    if (getrandom(key, sizeof(key), 0) != (ssize_t)sizeof(key))
        return al_error_errno(err, errno, "cannot make a key");
    *states = (struct al_request_states){ .clock_ms = al_clock_ms };
    hmac_sha256_set_key(&states->key, sizeof(key), key);
    explicit_bzero(key, sizeof(key));
    (void)pthread_mutex_init(&states->lock, NULL);
    return 0;
}

void al_request_states_clear(struct al_request_states *states)
{
    (void)pthread_mutex_destroy(&states->lock);
    explicit_bzero(&states->key, sizeof(states->key));
}

static uint64_t next_number(struct al_request_states *states)
{
    al_hold(&states->lock);
    states->spent[++states->last % AL_REQUEST_STATES_MAX] = false;
    return states->last;
}

static void compute_mac(const struct al_request_states *states, const uint8_t *raw,
                        uint8_t *ret_mac)
{
    struct hmac_sha256_ctx ctx = states->key;

    hmac_sha256_update(&ctx, AT_MAC, raw);
    hmac_sha256_digest(&ctx, SHA256_DIGEST_SIZE, ret_mac);
}

int al_request_state_issue(struct al_request_states *states,
                           const struct al_request_state_digest *call,
                           const struct al_request_state_digest *shown,
                           char ret_text[AL_REQUEST_STATE_CHARS + 1], struct al_error *err)
{
    const int64_t now = states->clock_ms();
    const uint64_t number = next_number(states);
    struct base64_encode_ctx base64;
    uint8_t raw[RAW_BYTES];

    if (getrandom(raw, AT_NUMBER, 0) != AT_NUMBER)
        return al_error_errno(err, errno, "cannot make a request state");
    memcpy(raw + AT_NUMBER, &number, sizeof(number));
    memcpy(raw + AT_TIME, &now, sizeof(now));
    memcpy(raw + AT_CALL, call->bytes, sizeof(call->bytes));
    memcpy(raw + AT_SHOWN, shown->bytes, sizeof(shown->bytes));
    compute_mac(states, raw, raw + AT_MAC);
    base64url_encode_init(&base64);
    (void)base64_encode_update(&base64, ret_text, sizeof(raw), raw);
    ret_text[AL_REQUEST_STATE_CHARS] = '\0';
    return 0;
}

bool al_request_state_read(const struct al_request_states *states, const char *text, size_t len,
                           struct al_request_state *ret_state)
{
    uint8_t raw[BASE64_DECODE_LENGTH(AL_REQUEST_STATE_CHARS)], mac[SHA256_DIGEST_SIZE];
    struct base64_decode_ctx base64;
    size_t n = sizeof(raw);

    if (len != AL_REQUEST_STATE_CHARS)
        return false;
    base64url_decode_init(&base64);
    if (!base64_decode_update(&base64, &n, raw, len, text) || n != RAW_BYTES)
        return false;
    compute_mac(states, raw, mac);
    if (!memeql_sec(mac, raw + AT_MAC, sizeof(mac)))
        return false;
    memcpy(&ret_state->number, raw + AT_NUMBER, sizeof(ret_state->number));
    memcpy(&ret_state->issued_ms, raw + AT_TIME, sizeof(ret_state->issued_ms));
    memcpy(ret_state->call.bytes, raw + AT_CALL, sizeof(ret_state->call.bytes));
    memcpy(ret_state->shown.bytes, raw + AT_SHOWN, sizeof(ret_state->shown.bytes));
    return true;
}

bool al_request_state_spend(struct al_request_states *states, const struct al_request_state *state)
{
    bool *spent = &states->spent[state->number % AL_REQUEST_STATES_MAX], counts;

    al_hold(&states->lock);
    counts = states->clock_ms() - state->issued_ms < AL_REQUEST_STATE_LIFETIME_MS &&
             states->last - state->number < AL_REQUEST_STATES_MAX && !*spent;
    if (counts)
        *spent = true;
    return counts;
}
