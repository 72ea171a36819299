// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <nettle/base16.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>

void al_base64_encode(const void *data, size_t len, struct al_str *out)
{
    size_t need = BASE64_ENCODE_RAW_LENGTH(len);

    al_str_reserve(out, need);
    base64_encode_raw(out->buf + out->len, len, data);
    out->len += need;
    out->buf[out->len] = '\0';
}

/* nettle takes a single digit before "===" for no byte. */
static bool has_lone_digit(const char *text, size_t len)
{
    size_t digits = 0;

    for (size_t i = 0; i < len; i++)
        digits += !strchr("= \t\r\n\v\f", text[i]);
    return digits % 4 == 1;
}

bool al_base64_decode(const char *text, size_t len, struct al_str *out)
{
    struct base64_decode_ctx ctx;
    size_t n = BASE64_DECODE_LENGTH(len);

    base64_decode_init(&ctx);
    al_str_reserve(out, n);
    if (has_lone_digit(text, len) ||
        !base64_decode_update(&ctx, &n, (uint8_t *)out->buf + out->len, len, text) ||
        !base64_decode_final(&ctx)) {
        out->buf[out->len] = '\0';
        return false;
    }
    out->len += n;
    out->buf[out->len] = '\0';
    return true;
}

char *al_sha256(const void *data, size_t len)
{
    char hex[BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE)];
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx ctx;

    sha256_init(&ctx);
    sha256_update(&ctx, len, data);
    sha256_digest(&ctx, sizeof(digest), digest);
    base16_encode_update(hex, sizeof(digest), digest);
    return al_strndup(hex, sizeof(hex));
}
