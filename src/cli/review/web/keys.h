// SPDX-License-Identifier: Apache-2.0
/*
 * Who may see the page: links that open it once, and the browsers that did.
 *
 *   key       128 random bits in a link; the first browser that shows it gets a cookie for it
 *   cookie    128 random bits; whoever has it may see the page
 *   csrf      128 random bits that each form of a browser has; a page of elsewhere cannot know it
 *
 * All live in memory only, and end with the process.  The oldest makes room for one too many.
 * Comparisons take the same time wherever a difference is.
 *
 * Threads: safe.
 */
#ifndef AL_CLI_REVIEW_WEB_KEYS_H
#define AL_CLI_REVIEW_WEB_KEYS_H

#include <stdbool.h>

/** Characters of a key, a cookie and a csrf, all hexadecimal digits. */
#define AL_WEB_KEY_CHARS 32

/** Keys that were not used yet, and browsers, at once. */
#define AL_WEB_KEYS_MAX 16

/** A key, a cookie or a csrf. */
struct al_web_key {
    char text[AL_WEB_KEY_CHARS + 1];
};

struct al_web_keys;

struct al_web_keys *al_web_keys_new(void);

/** Wipes all of them.  NULL is fine. */
void al_web_keys_free(struct al_web_keys *keys);

/** Make a key for a link.  False: getrandom(2) fails. */
bool al_web_keys_make(struct al_web_keys *keys, struct al_web_key *ret_key);

/** Use a key up.  False: it is none, or was used.
 *
 * @param key  Any text; NULL is no key. */
bool al_web_keys_use(struct al_web_keys *keys, const char *key, struct al_web_key *ret_cookie);

/** The csrf of the browser with a cookie.  False: there is none with it.
 *
 * @param cookie  The whole header Cookie of a request; NULL: it has none. */
bool al_web_keys_find(struct al_web_keys *keys, const char *cookie, struct al_web_key *ret_csrf);

/** Test whether a text is this key; NULL is not.  Takes the same time for all of its length. */
bool al_web_key_is(const struct al_web_key *key, const char *text);

/** The name of the cookie. */
#define AL_WEB_COOKIE "airlock-review"

#endif
