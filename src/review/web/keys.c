// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/secret.h"
#include "review/web/private.h"

struct browser {
    struct al_web_key cookie, csrf;
};

struct al_web_keys {
    pthread_mutex_t lock;
    struct al_web_key links[AL_WEB_KEYS_MAX]; /* oldest first */
    struct browser browsers[AL_WEB_KEYS_MAX]; /* oldest first */
    size_t nlinks, nbrowsers;
};

struct al_web_keys *al_web_keys_new(void)
{
    struct al_web_keys *keys = al_calloc(1, sizeof(*keys));

    (void)pthread_mutex_init(&keys->lock, NULL);
    return keys;
}

void al_web_keys_free(struct al_web_keys *keys)
{
    if (!keys)
        return;
    (void)pthread_mutex_destroy(&keys->lock);
    explicit_bzero(keys, sizeof(*keys));
    free(keys);
}

static bool make(struct al_web_key *key)
{
    return al_random_hex(AL_WEB_KEY_CHARS / 2, key->text);
}

bool al_web_key_is(const struct al_web_key *key, const char *text)
{
    unsigned char differs = 0;

    if (!text || strlen(text) != AL_WEB_KEY_CHARS)
        return false;
    for (size_t i = 0; i < AL_WEB_KEY_CHARS; i++)
        differs |= (unsigned char)(key->text[i] ^ text[i]);
    return differs == 0;
}

bool al_web_keys_make(struct al_web_keys *keys, struct al_web_key *ret_key)
{
    if (!make(ret_key))
        return false;
    al_hold(&keys->lock);
    if (keys->nlinks == AL_WEB_KEYS_MAX)
        memmove(keys->links, keys->links + 1, --keys->nlinks * sizeof(*keys->links));
    keys->links[keys->nlinks++] = *ret_key;
    return true;
}

/* Take the link out.  The caller has the lock. */
static bool take_link(struct al_web_keys *keys, const char *key)
{
    size_t at = keys->nlinks;

    for (size_t i = 0; i < keys->nlinks; i++)
        if (al_web_key_is(&keys->links[i], key))
            at = i;
    if (at == keys->nlinks)
        return false;
    keys->nlinks--;
    memmove(keys->links + at, keys->links + at + 1, (keys->nlinks - at) * sizeof(*keys->links));
    return true;
}

bool al_web_keys_use(struct al_web_keys *keys, const char *key, struct al_web_key *ret_cookie)
{
    struct browser browser;

    if (!make(&browser.cookie) || !make(&browser.csrf))
        return false;
    al_hold(&keys->lock);
    if (!take_link(keys, key))
        return false;
    if (keys->nbrowsers == AL_WEB_KEYS_MAX)
        memmove(keys->browsers, keys->browsers + 1, --keys->nbrowsers * sizeof(*keys->browsers));
    keys->browsers[keys->nbrowsers++] = browser;
    *ret_cookie = browser.cookie;
    return true;
}

/* The value of our cookie among those of the header, if it has the length of one. */
static bool read_cookie(const char *header, struct al_web_key *ret)
{
    static const char name[] = AL_WEB_COOKIE "=";

    while (header) {
        size_t len;

        header += strspn(header, " \t;");
        len = strcspn(header, ";");
        if (!strncmp(header, name, sizeof(name) - 1) &&
            len == sizeof(name) - 1 + AL_WEB_KEY_CHARS) {
            memcpy(ret->text, header + sizeof(name) - 1, AL_WEB_KEY_CHARS);
            ret->text[AL_WEB_KEY_CHARS] = '\0';
            return true;
        }
        header = strchr(header, ';');
    }
    return false;
}

bool al_web_keys_find(struct al_web_keys *keys, const char *cookie, struct al_web_key *ret_csrf)
{
    struct al_web_key shown;
    bool found = false;

    if (!read_cookie(cookie, &shown))
        return false;
    al_hold(&keys->lock);
    for (size_t i = 0; i < keys->nbrowsers; i++) {
        if (!al_web_key_is(&keys->browsers[i].cookie, shown.text))
            continue;
        *ret_csrf = keys->browsers[i].csrf;
        found = true;
    }
    return found;
}
