// SPDX-License-Identifier: Apache-2.0
/* gitops/diff/patch_split.h: patches of git's output are the same however it arrives, none of its
 * bytes go to another patch, and no name is a path. */
#include <stdlib.h>

#include "git/diff/patch_files.h"
#include "tests/fuzz/fuzz.h"

/* One byte stands for a longer text that a fuzzer would take long to find. */
static const struct {
    char byte;
    const char *text;
    size_t len;
} shorts[] = {
    { (char)0xf0, ":100644 100644 1 2 M", sizeof(":100644 100644 1 2 M") },
    { (char)0xf1, ":100644 120000 1 2 T", sizeof(":100644 120000 1 2 T") },
    { (char)0xf2, "diff --git ", sizeof("diff --git ") - 1 },
    { (char)0xf3, "\ndiff --git a/x b/x\n", sizeof("\ndiff --git a/x b/x\n") - 1 },
    { (char)0xf4, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 32 },
};

static void write_out(const struct fuzz_input *input, struct al_str *out)
{
    for (size_t i = 0; i < input->len; i++) {
        size_t k = 0;

        while (k < AL_COUNT(shorts) && shorts[k].byte != input->data[i])
            k++;
        if (k < AL_COUNT(shorts))
            al_str_add(out, shorts[k].text, shorts[k].len);
        else
            al_str_addc(out, input->data[i]);
    }
}

/* The output of a splitter. */
struct seen {
    struct al_str all;     /* every byte of every patch */
    struct al_str patches; /* the same, a NUL before each patch */
    size_t begun, stop_at; /* begin() refuses this one */
};

#define SEEN_INIT(stop)                                                                            \
    ((struct seen){ .all = AL_STR_INIT, .patches = AL_STR_INIT, .stop_at = (stop) })

static void seen_clear(struct seen *seen)
{
    al_str_clear(&seen->all);
    al_str_clear(&seen->patches);
}

static bool begin(void *payload, size_t number)
{
    struct seen *seen = payload;

    fuzz_require(number == seen->begun);
    if (seen->begun == seen->stop_at)
        return false;
    seen->begun++;
    al_str_addc(&seen->patches, '\0');
    return true;
}

static bool add(void *payload, const char *data, size_t len)
{
    struct seen *seen = payload;

    fuzz_require(seen->begun > 0);
    al_str_add(&seen->all, data, len);
    al_str_add(&seen->patches, data, len);
    return true;
}

/* Feed everything; in pieces unless `seed` is NULL. */
static bool split(struct al_patch_split *splitter, const struct al_str *text, uint32_t *seed)
{
    bool more = true;

    for (size_t at = 0, n; at < text->len && more; at += n) {
        n = seed ? fuzz_piece(seed, text->len - at) : text->len;
        more = al_patch_split_add(splitter, text->buf + at, n);
    }
    return more;
}

static void require_names(const struct al_patch_split *splitter)
{
    bool fits = al_patch_split_check_limits(splitter, NULL) == 0;

    for (size_t i = 0; i < splitter->names.count; i++) {
        const char *name = splitter->names.items[i];

        fuzz_require(al_ends_with(name, ".patch"));
        fuzz_require(!strchr(name, '/') && *name != '\0');
        fuzz_require(!fits || strlen(name) <= 255);
        for (const char *c = name; *c; c++)
            fuzz_require((unsigned char)*c >= 0x20 && *c != 0x7f);
        for (size_t k = 0; k < i; k++)
            fuzz_require(strcmp(name, splitter->names.items[k]) != 0);
    }
}

/* The first line that begins a patch: everything from there on belongs to patches. */
static const char *find_patches(const struct al_str *text)
{
    const char *at = text->buf, *end = text->buf + text->len;

    while (at < end && *at) { /* records */
        const char *nul = memchr(at, '\0', (size_t)(end - at));

        if (!nul)
            return end;
        at = nul + 1;
    }
    if (at >= end)
        return end;
    for (at++; at < end; at++) { /* lines */
        if ((size_t)(end - at) >= strlen("diff --git ") &&
            !memcmp(at, "diff --git ", strlen("diff --git ")))
            return at;
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at)
            return end;
    }
    return end;
}

/* An incomplete header at the very end is dropped: a whole diff ends with a complete line. */
static void require_bytes(const struct seen *seen, const struct al_str *text, bool whole)
{
    const char *from = find_patches(text);
    size_t len = (size_t)(text->buf + text->len - from);

    fuzz_require(seen->all.len <= len);
    fuzz_require(!memcmp(seen->all.buf, from, seen->all.len));
    fuzz_require(!whole || len - seen->all.len < strlen("diff --git "));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    uint32_t seed = fuzz_byte(&input);
    uint8_t choice = fuzz_byte(&input);
    al_auto(seen_clear) struct seen seen = SEEN_INIT(choice < 16 ? choice : SIZE_MAX);
    al_auto(seen_clear) struct seen pieces = SEEN_INIT(seen.stop_at);
    al_auto(al_patch_split_clear) struct al_patch_split a = AL_PATCH_SPLIT_INIT(begin, add, &seen);
    al_auto(al_patch_split_clear) struct al_patch_split b =
        AL_PATCH_SPLIT_INIT(begin, add, &pieces);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    bool whole;

    write_out(&input, &text);
    whole = split(&a, &text, NULL);
    fuzz_require(split(&b, &text, &seed) == whole);
    fuzz_require(seen.patches.len == pieces.patches.len);
    fuzz_require(!memcmp(seen.patches.buf, pieces.patches.buf, seen.patches.len));
    fuzz_require(a.names.count == b.names.count);
    fuzz_require(seen.begun <= a.names.count);
    require_names(&a);
    require_bytes(&seen, &text, whole);
    fuzz_require(!whole || al_patch_split_check_count(&a, NULL) == 0 || seen.begun < a.names.count);
    return 0;
}
