// SPDX-License-Identifier: Apache-2.0
#include "mcp/request_state.h"

#include <errno.h>
#include <nettle/base64.h>
#include <nettle/memops.h>
#include <string.h>
#include <sys/random.h>

#include "util/clock.h"

#define KEY_BYTES 32

/* Nonce, time of issue, two digests; then the MAC over them. */
enum {
    AT_TIME = 16,
    AT_CALL = AT_TIME + 8,
    AT_SHOWN = AT_CALL + SHA256_DIGEST_SIZE,
    AT_MAC = AT_SHOWN + SHA256_DIGEST_SIZE,
    RAW_BYTES = AT_MAC + SHA256_DIGEST_SIZE,
};

_Static_assert(BASE64_ENCODE_RAW_LENGTH(RAW_BYTES) == AL_REQUEST_STATE_CHARS,
               "a multiple of three bytes, so that no character has bits to spare");

int al_request_states_init(struct al_request_states *tickets, struct al_error *err)
{
    uint8_t key[KEY_BYTES];

    if (getrandom(key, sizeof(key), 0) != (ssize_t)sizeof(key))
        return al_error_errno(err, errno, "cannot make a key");
    *tickets = (struct al_request_states){ .clock_ms = al_clock_ms, .given_up_ms = INT64_MIN };
    hmac_sha256_set_key(&tickets->key, sizeof(key), key);
    explicit_bzero(key, sizeof(key));
    (void)pthread_mutex_init(&tickets->lock, NULL);
    return 0;
}

void al_request_states_clear(struct al_request_states *tickets)
{
    (void)pthread_mutex_destroy(&tickets->lock);
    explicit_bzero(&tickets->key, sizeof(tickets->key));
}

static void mac_of(const struct al_request_states *tickets, const uint8_t *raw, uint8_t *ret_mac)
{
    struct hmac_sha256_ctx ctx = tickets->key;

    hmac_sha256_update(&ctx, AT_MAC, raw);
    hmac_sha256_digest(&ctx, SHA256_DIGEST_SIZE, ret_mac);
}

int al_request_state_issue(struct al_request_states *tickets,
                           const struct al_request_state_digest *call,
                           const struct al_request_state_digest *shown,
                           char ret_text[AL_REQUEST_STATE_CHARS + 1], struct al_error *err)
{
    const int64_t now = tickets->clock_ms();
    struct base64_encode_ctx base64;
    uint8_t raw[RAW_BYTES];

    if (getrandom(raw, AT_TIME, 0) != AT_TIME)
        return al_error_errno(err, errno, "cannot number a question");
    memcpy(raw + AT_TIME, &now, sizeof(now));
    memcpy(raw + AT_CALL, call->bytes, sizeof(call->bytes));
    memcpy(raw + AT_SHOWN, shown->bytes, sizeof(shown->bytes));
    mac_of(tickets, raw, raw + AT_MAC);
    base64url_encode_init(&base64);
    (void)base64_encode_update(&base64, ret_text, sizeof(raw), raw);
    ret_text[AL_REQUEST_STATE_CHARS] = '\0';
    return 0;
}

bool al_request_state_read(const struct al_request_states *tickets, const char *text, size_t len,
                           struct al_request_state *ret_ticket)
{
    uint8_t raw[BASE64_DECODE_LENGTH(AL_REQUEST_STATE_CHARS)], mac[SHA256_DIGEST_SIZE];
    struct base64_decode_ctx base64;
    size_t n = sizeof(raw);

    if (len != AL_REQUEST_STATE_CHARS)
        return false;
    base64url_decode_init(&base64);
    if (!base64_decode_update(&base64, &n, raw, len, text) || n != RAW_BYTES)
        return false;
    mac_of(tickets, raw, mac);
    if (!memeql_sec(mac, raw + AT_MAC, sizeof(mac)))
        return false;
    memcpy(ret_ticket->nonce, raw, sizeof(ret_ticket->nonce));
    memcpy(&ret_ticket->issued_ms, raw + AT_TIME, sizeof(ret_ticket->issued_ms));
    memcpy(ret_ticket->call.bytes, raw + AT_CALL, sizeof(ret_ticket->call.bytes));
    memcpy(ret_ticket->shown.bytes, raw + AT_SHOWN, sizeof(ret_ticket->shown.bytes));
    return true;
}

static bool has_expired(int64_t issued_ms, int64_t now)
{
    return now - issued_ms >= AL_REQUEST_STATE_LIFETIME_MS;
}

static void forget(struct al_request_states *tickets, size_t index)
{
    tickets->spent[index] = tickets->spent[--tickets->nspent];
}

static void forget_expired(struct al_request_states *tickets, int64_t now)
{
    for (size_t i = tickets->nspent; i > 0; i--)
        if (has_expired(tickets->spent[i - 1].issued_ms, now))
            forget(tickets, i - 1);
}

/* One that is forgotten before its time takes all of its age with it: none can come back. */
static void give_up_oldest(struct al_request_states *tickets)
{
    size_t oldest = 0;

    for (size_t i = 1; i < tickets->nspent; i++)
        if (tickets->spent[i].issued_ms < tickets->spent[oldest].issued_ms)
            oldest = i;
    tickets->given_up_ms = tickets->spent[oldest].issued_ms;
    for (size_t i = tickets->nspent; i > 0; i--)
        if (tickets->spent[i - 1].issued_ms <= tickets->given_up_ms)
            forget(tickets, i - 1);
}

static bool was_spent(const struct al_request_states *tickets,
                      const struct al_request_state *ticket)
{
    if (ticket->issued_ms <= tickets->given_up_ms)
        return true;
    for (size_t i = 0; i < tickets->nspent; i++)
        if (!memcmp(tickets->spent[i].nonce, ticket->nonce, sizeof(ticket->nonce)))
            return true;
    return false;
}

static bool spend(struct al_request_states *tickets, const struct al_request_state *ticket)
{
    int64_t now = tickets->clock_ms();
    struct al_request_state_spent *spent;

    forget_expired(tickets, now);
    if (has_expired(ticket->issued_ms, now) || was_spent(tickets, ticket))
        return false;
    if (tickets->nspent == AL_TICKETS_SPENT_MAX)
        give_up_oldest(tickets);
    if (ticket->issued_ms <= tickets->given_up_ms)
        return false;
    spent = &tickets->spent[tickets->nspent++];
    memcpy(spent->nonce, ticket->nonce, sizeof(spent->nonce));
    spent->issued_ms = ticket->issued_ms;
    return true;
}

bool al_request_state_spend(struct al_request_states *tickets,
                            const struct al_request_state *ticket)
{
    bool spent_now;

    (void)pthread_mutex_lock(&tickets->lock);
    spent_now = spend(tickets, ticket);
    (void)pthread_mutex_unlock(&tickets->lock);
    return spent_now;
}
