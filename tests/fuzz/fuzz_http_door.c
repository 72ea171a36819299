// SPDX-License-Identifier: Apache-2.0
/* serve/http/address.h, http/server.h and cli/config/tokens.h: without configured names nothing but
 * the server's own is accepted; a token has no white space; no token of a file is in a message. */
#include <string.h>
#include <strings.h>

#include "cli/config/tokens.h"
#include "serve/http/address.h"
#include "serve/http/server.h"
#include "tests/fuzz/fuzz.h"

static const struct al_http_place place = { .address = "127.0.0.1", .port = 7420 };

static bool is_one_of(const char *text, const char *first, const char *second)
{
    return !strcasecmp(text, first) || !strcasecmp(text, second);
}

static void require_places(const char *text)
{
    const struct al_strv none = AL_STRV_INIT;
    char *items[] = { (char *)text };
    const struct al_strv one = { .items = items, .count = 1 };

    fuzz_require(al_http_accepts_host(&place, &none, text) ==
                 is_one_of(text, "127.0.0.1:7420", "localhost:7420"));
    fuzz_require(al_http_accepts_origin(&place, &none, text) ==
                 is_one_of(text, "http://127.0.0.1:7420", "http://localhost:7420"));
    /* What may be configured is found again. */
    if (al_http_check_host(text, NULL) == 0)
        fuzz_require(al_http_accepts_host(&place, &one, text));
    if (al_http_check_origin(text, NULL) == 0)
        fuzz_require(al_http_is_configured_origin(&one, text));
}

static void require_bearer(const char *text)
{
    const char *token = NULL;
    size_t len = 0;

    if (!al_http_bearer(text, &token, &len))
        return;
    fuzz_require(len > 0 && token + len == text + strlen(text));
    for (size_t i = 0; i < len; i++)
        fuzz_require(token[i] > ' ' && token[i] < 0x7f);
}

static void require_tokens(const uint8_t *data, size_t size)
{
    al_auto(al_tokens_clear) struct al_tokens tokens = AL_TOKENS_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const struct al_grants none = AL_GRANTS_INIT;

    al_str_add(&text, data, size);
    if (al_tokens_parse("tokens", &text, &none, &tokens, &err) == 0) {
        fuzz_require(tokens.count > 0 && !tokens.items[0].grant);
        fuzz_require(!al_tokens_find(&tokens, "", 0));
        return;
    }
    fuzz_require(tokens.count == 0 && fuzz_is_safe_line(err.message));
    /* The longest message of this parser says what a line is; no word of the file is in it. */
    fuzz_require(strlen(err.message) < 160);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    al_auto(al_freep) char *text = fuzz_string(&input);

    require_places(text);
    require_bearer(text);
    require_tokens(data, size);
    return 0;
}
