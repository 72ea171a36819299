// SPDX-License-Identifier: Apache-2.0
#include "serve/http/throttle.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

/* The bytes of an IPv6 address that count. */
#define PREFIX_BYTES 8

/* An address, or the network of one. */
struct peer {
    unsigned char key[1 + PREFIX_BYTES]; /* the kind, then the address */
    int64_t wrong_ms[AL_THROTTLE_FREE];  /* the last wrong tokens, in a ring */
    size_t nwrong;                       /* all of them */
};

struct al_throttle {
    struct peer peers[AL_THROTTLE_ADDRESSES_MAX];
    size_t count;
};

struct al_throttle *al_throttle_new(void)
{
    return al_calloc(1, sizeof(struct al_throttle));
}

static void make_key(const char *address, unsigned char *ret_key)
{
    unsigned char bytes[sizeof(struct in6_addr)] = { 0 };
    static const unsigned char mapped[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

    memset(ret_key, 0, 1 + PREFIX_BYTES);
    if (inet_pton(AF_INET, address, bytes) == 1) {
        ret_key[0] = 4;
        memcpy(ret_key + 1, bytes, 4);
    } else if (inet_pton(AF_INET6, address, bytes) == 1 && !memcmp(bytes, mapped, sizeof(mapped))) {
        ret_key[0] = 4;
        memcpy(ret_key + 1, bytes + sizeof(mapped), 4);
    } else if (*address) {
        ret_key[0] = 6;
        memcpy(ret_key + 1, bytes, PREFIX_BYTES);
    }
}

static int64_t last_wrong(const struct peer *peer)
{
    return peer->wrong_ms[(peer->nwrong - 1) % AL_THROTTLE_FREE];
}

/* The peer's entry, new if it has none. */
static struct peer *find_peer(struct al_throttle *throttle, const unsigned char *key)
{
    struct peer *oldest = NULL;

    for (size_t i = 0; i < throttle->count; i++) {
        struct peer *peer = &throttle->peers[i];

        if (!memcmp(peer->key, key, sizeof(peer->key)))
            return peer;
        if (!oldest || last_wrong(peer) < last_wrong(oldest))
            oldest = peer;
    }
    if (throttle->count < AL_THROTTLE_ADDRESSES_MAX)
        oldest = &throttle->peers[throttle->count++];
    *oldest = (struct peer){ .nwrong = 0 };
    memcpy(oldest->key, key, sizeof(oldest->key));
    return oldest;
}

int al_throttle_wrong(struct al_throttle *throttle, const char *address, int64_t now_ms)
{
    unsigned char key[1 + PREFIX_BYTES];
    struct peer *peer;
    int64_t *slot;
    bool waits;

    make_key(address, key);
    peer = find_peer(throttle, key);
    slot = &peer->wrong_ms[peer->nwrong % AL_THROTTLE_FREE];
    waits = peer->nwrong >= AL_THROTTLE_FREE && now_ms - *slot < AL_THROTTLE_WINDOW_MS;
    *slot = now_ms;
    peer->nwrong++;
    return waits ? AL_THROTTLE_WAIT_MS : 0;
}
