// SPDX-License-Identifier: Apache-2.0
/* guard/text.h: sanitized text is safe, bounded, and does not depend on the pieces it was read in.
 */
#include "guard/text.h"

#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"

/* The longest thing one character becomes: "<U+E0001>". */
#define CHARACTER_MAX_BYTES 9

#define EXCERPT_MAX_BYTES   (16u * 1024u + 64u) /* and the line that says how much is missing */
#define EXCERPT_MAX_LINES   201u

static size_t count(const char *data, size_t len, char wanted)
{
    size_t found = 0;

    for (size_t i = 0; i < len; i++)
        found += data[i] == wanted;
    return found;
}

/* Two texts with a cap: one fed whole, one in pieces. */
static void check_stream(const char *data, size_t len, size_t max_bytes, uint32_t seed)
{
    al_auto(al_text_clear) struct al_text whole = AL_TEXT_INIT(max_bytes);
    al_auto(al_text_clear) struct al_text pieces = AL_TEXT_INIT(max_bytes);
    bool more = al_text_add(&whole, data, len), wanted = true;

    for (size_t at = 0, n; at < len && wanted; at += n) {
        n = fuzz_piece(&seed, len - at);
        wanted = al_text_add(&pieces, data + at, n);
    }
    fuzz_require(more == (whole.out.len <= max_bytes));
    fuzz_require(wanted == (pieces.out.len <= max_bytes));
    al_text_end(&whole);
    al_text_end(&pieces);
    fuzz_require(whole.out.len == pieces.out.len);
    fuzz_require(!memcmp(whole.out.buf, pieces.out.buf, whole.out.len));
    fuzz_require(fuzz_is_safe(whole.out.buf, whole.out.len));
    fuzz_require(whole.out.len <= max_bytes || whole.out.len - max_bytes <= CHARACTER_MAX_BYTES);
}

/* Sanitizing preserves every line, and sanitizing again changes nothing. */
static void check_clean(const char *data, size_t len, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str again = AL_STR_INIT;

    al_text_sanitize(data, len, out);
    fuzz_require(fuzz_is_safe(out->buf, out->len));
    fuzz_require(count(data, len, '\n') == count(out->buf, out->len, '\n'));
    al_text_sanitize(out->buf, out->len, &again);
    fuzz_require(again.len == out->len && !memcmp(again.buf, out->buf, out->len));
}

static void check_truncate(struct al_str *text, size_t max_bytes)
{
    size_t before = text->len;
    size_t least = strlen(AL_TEXT_MARKER);
    bool cut = al_text_truncate(text, max_bytes);

    fuzz_require(cut == (before > max_bytes));
    fuzz_require(!cut || al_ends_with(text->buf, AL_TEXT_MARKER));
    fuzz_require(text->len <= (max_bytes > least ? max_bytes : least) || !cut);
    fuzz_require(al_utf8_valid(text->buf, text->len));
}

static void check_excerpt(const char *data, size_t len)
{
    for (int more = 0; more < 2; more++) {
        al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

        al_text_add_excerpt(&out, data, len, more);
        fuzz_require(fuzz_is_safe(out.buf, out.len));
        fuzz_require(out.len <= EXCERPT_MAX_BYTES);
        fuzz_require(count(out.buf, out.len, '\n') <= EXCERPT_MAX_LINES);
    }
}

static void check_words(const char *text, size_t max_items)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(text);
    al_auto(al_strv_clear) struct al_strv items = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

    fuzz_require(fuzz_is_safe_line(word));
    for (size_t i = 0; i < 3; i++)
        al_strv_add(&items, text);
    al_text_add_list(&list, &items, max_items);
    fuzz_require(fuzz_is_safe_line(list.buf));
    fuzz_require(max_items >= 3 || al_ends_with(list.buf, "..."));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    uint8_t seed = fuzz_byte(&input);
    uint8_t cap = fuzz_byte(&input);
    size_t max_bytes = (size_t)cap << (seed & 7);
    al_auto(al_freep) char *bytes = fuzz_bytes(&input);
    al_auto(al_freep) char *text = fuzz_string(&input);
    al_auto(al_str_clear) struct al_str clean = AL_STR_INIT;

    check_stream(bytes, input.len, max_bytes, seed);
    check_stream(bytes, input.len, SIZE_MAX, cap);
    check_clean(bytes, input.len, &clean);
    check_truncate(&clean, max_bytes);
    check_excerpt(bytes, input.len);
    check_words(text, cap % 5u);
    return 0;
}
