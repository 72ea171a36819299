// SPDX-License-Identifier: Apache-2.0
/* guard/url.h: an accepted address is never an option, and neither its shown form nor the form
 * given to git holds a password. */
#include <stdlib.h>

#include "guard/url.h"
#include "tests/fuzz/fuzz.h"

static bool is_same(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

static void require_url(const struct al_url *url)
{
    fuzz_require(url->host && url->path && url->bare && url->shown && *url->protocol);
    fuzz_require(*url->host != '-' && *url->bare != '-');
    fuzz_require(fuzz_is_safe_line(url->shown));
    fuzz_require(url->port >= 0 && url->port <= 65535);
    fuzz_require((url->kind == AL_URL_PATH) == (*url->host == '\0'));
    fuzz_require((url->kind == AL_URL_HTTP) == (url->origin != NULL));
}

/* git gets the same address without the password. */
static void require_bare(const struct al_url *url)
{
    al_auto(al_url_clear) struct al_url bare = AL_URL_INIT;

    fuzz_require(al_url_parse(url->bare, &bare, NULL) == 0);
    fuzz_require(bare.kind == url->kind && bare.port == url->port);
    fuzz_require(is_same(bare.host, url->host) && is_same(bare.path, url->path));
    fuzz_require(url->kind != AL_URL_HTTP || !bare.password);
    fuzz_require(is_same(bare.bare, url->bare));
}

static void require_hidden(const char *text)
{
    al_auto(al_freep) char *shown = al_url_shown(text);
    al_auto(al_str_clear) struct al_str once = AL_STR_INIT, twice = AL_STR_INIT;

    fuzz_require(fuzz_is_safe_line(shown));
    al_url_redact(text, strlen(text), &once);
    al_url_redact(once.buf, once.len, &twice);
    fuzz_require(once.len == twice.len && !memcmp(once.buf, twice.buf, once.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    al_auto(al_freep) char *text = fuzz_string(&input);
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    require_hidden(text);
    if (al_url_parse(text, &url, &err) == 0) {
        fuzz_require(strlen(text) <= AL_URL_MAX_BYTES);
        require_url(&url);
        require_bare(&url);
    } else {
        fuzz_require(err.status == AL_ERR_EXECUTION && fuzz_is_safe_line(err.message));
    }
    return 0;
}
