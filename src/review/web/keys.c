// SPDX-License-Identifier: Apache-2.0
#include <nettle/memops.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/secret.h"
#include "review/web/private.h"

/* A link that was sent, until it was used; then the other two keys of the browser that used it. */
struct visitor {
    struct al_web_key link, cookie, csrf;
};

struct al_web_keys {
    pthread_mutex_t lock;
    struct visitor visitors[AL_WEB_KEYS_MAX]; /* a ring: the n-th is at n % AL_WEB_KEYS_MAX */
    size_t count;
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

bool al_web_key_is(const struct al_web_key *key, const char *text)
{
    return text && strlen(text) == AL_WEB_KEY_CHARS &&
           memeql_sec(key->text, text, AL_WEB_KEY_CHARS);
}

void al_web_keys_make(struct al_web_keys *keys, struct al_web_key *ret_key)
{
    al_random_hex(AL_WEB_KEY_CHARS / 2, ret_key->text);
    al_hold(&keys->lock);
    keys->visitors[keys->count++ % AL_WEB_KEYS_MAX] = (struct visitor){ .link = *ret_key };
}

bool al_web_keys_use(struct al_web_keys *keys, const char *key, struct al_web_key *ret_cookie)
{
    struct visitor visitor = { .link.text = "" };

    al_random_hex(AL_WEB_KEY_CHARS / 2, visitor.cookie.text);
    al_random_hex(AL_WEB_KEY_CHARS / 2, visitor.csrf.text);
    al_hold(&keys->lock);
    for (size_t i = 0; i < AL_WEB_KEYS_MAX; i++) {
        if (!al_web_key_is(&keys->visitors[i].link, key))
            continue;
        keys->visitors[i] = visitor;
        *ret_cookie = visitor.cookie;
        return true;
    }
    return false;
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
    for (size_t i = 0; i < AL_WEB_KEYS_MAX; i++) {
        if (!al_web_key_is(&keys->visitors[i].cookie, shown.text))
            continue;
        *ret_csrf = keys->visitors[i].csrf;
        found = true;
    }
    return found;
}
