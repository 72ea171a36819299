// SPDX-License-Identifier: Apache-2.0
/* git/command.h, git/diff/diff.h: output of git means the same however it arrives, and no field
 * grows without bound. */
#include "git/diff/diff.h"
#include "git/run.h"
#include "tests/fuzz/fuzz.h"

#define FIELD_MAX_BYTES (16u << 20)

/* A byte that stands for a long run, so that short inputs reach the limits. */
#define LONG_BYTE  ((char)0xfe)
#define LONG_BYTES (31u * 1024u)
#define LONG_MAX   5

static void inflate(const struct fuzz_input *input, struct al_str *out)
{
    int runs = 0;

    for (size_t i = 0; i < input->len; i++) {
        if (input->data[i] != LONG_BYTE || runs++ >= LONG_MAX) {
            al_str_addc(out, input->data[i]);
            continue;
        }
        al_str_reserve(out, LONG_BYTES);
        memset(out->buf + out->len, 'x', LONG_BYTES);
        out->len += LONG_BYTES;
        out->buf[out->len] = '\0';
    }
}

/* The output of a parser, in one string. */
struct seen {
    struct al_str text;
    size_t nfields, left; /* records still wanted */
};

#define SEEN_INIT(n, wanted)                                                                       \
    ((struct seen){ .text = AL_STR_INIT, .nfields = (n), .left = (wanted) })

static void see(struct seen *seen, const char *field)
{
    size_t len = strlen(field);

    fuzz_require(len <= FIELD_MAX_BYTES);
    al_str_add(&seen->text, field, len);
    al_str_addc(&seen->text, '\n');
}

static bool take_record(void *payload, char *const *fields)
{
    struct seen *seen = payload;

    fuzz_require(seen->left > 0);
    for (size_t i = 0; i < seen->nfields; i++)
        see(seen, fields[i]);
    return --seen->left > 0;
}

/* Feed everything; in pieces unless `seed` is NULL. */
static void feed(bool (*add)(void *, const char *, size_t), void *parser, const struct al_str *text,
                 uint32_t *seed)
{
    bool more = true;

    for (size_t at = 0, n; at < text->len && more; at += n) {
        n = seed ? fuzz_piece(seed, text->len - at) : text->len;
        more = add(parser, text->buf + at, n);
    }
}

static void read_records(const struct al_str *text, uint32_t *seed, struct seen *seen)
{
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(seen->nfields, take_record, seen);

    feed(al_nul_records_add, &records, text, seed);
}

/* The same records, read by the simplest code possible. */
static void read_simply(const struct al_str *text, struct seen *seen)
{
    al_auto(al_strv_clear) struct al_strv fields = AL_STRV_INIT;
    const char *at = text->buf, *end = text->buf + text->len, *nul;

    for (; seen->left > 0 && (nul = memchr(at, '\0', (size_t)(end - at))); at = nul + 1) {
        size_t len = (size_t)(nul - at);

        al_strv_take(&fields, al_strndup(at, len < FIELD_MAX_BYTES ? len : FIELD_MAX_BYTES));
        if (fields.count == seen->nfields) {
            (void)take_record(seen, fields.items);
            al_strv_clear(&fields);
        }
    }
}

static void require_equal(const struct seen *a, const struct seen *b)
{
    fuzz_require(a->text.len == b->text.len && !memcmp(a->text.buf, b->text.buf, a->text.len));
}

static bool add_hunks(void *payload, const char *data, size_t len)
{
    al_hunks_add(payload, data, len);
    return true;
}

static void see_bytes(struct seen *seen, const char *text, size_t len)
{
    al_str_add(&seen->text, text, len);
    al_str_addc(&seen->text, '\n');
}

/* The parts of a hunk's first line lie in it, and its other lines follow. */
static void take_line(void *payload, const struct al_patch_line *line)
{
    const struct al_hunk *head = line->head;
    struct seen *seen = payload;

    fuzz_require(!memchr(line->text, '\n', line->len));
    fuzz_require(!line->in_hunk || (!head && seen->nfields));
    seen->nfields = head || line->in_hunk;
    see_bytes(seen, line->text, line->len);
    see(seen, line->in_hunk ? "in hunk" : line->ended ? "ended" : "");
    if (!head)
        return;
    fuzz_require(head->header >= line->text);
    fuzz_require(head->header + head->header_len <= line->text + line->len);
    fuzz_require(head->old_start >= 0 && head->new_start >= 0);
    see_bytes(seen, head->file, strlen(head->file));
}

/* `seen->nfields` tells whether the line before belongs to a hunk. */
static void read_hunks(const struct al_str *text, uint32_t *seed, struct seen *seen)
{
    al_auto(al_hunks_clear) struct al_hunks hunks = AL_HUNKS_INIT(take_line, seen);

    feed(add_hunks, &hunks, text, seed);
    al_hunks_end(&hunks);
    al_str_addf(&seen->text, "%zu", hunks.files);
}

static int check_hunks(struct fuzz_input *input)
{
    uint32_t seed = fuzz_byte(input);
    struct seen whole = SEEN_INIT(0, 0), pieces = SEEN_INIT(0, 0);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    inflate(input, &text);
    read_hunks(&text, NULL, &whole);
    read_hunks(&text, &seed, &pieces);
    require_equal(&whole, &pieces);
    al_str_clear(&whole.text);
    al_str_clear(&pieces.text);
    return 0;
}

static int check_records(struct fuzz_input *input, uint8_t choice)
{
    uint32_t seed = fuzz_byte(input);
    const size_t given = choice % (AL_RECORD_FIELDS_MAX + 1), nfields = given ? given : 3;
    const size_t wanted = choice > 127 ? 2 : SIZE_MAX;
    struct seen whole = SEEN_INIT(nfields, wanted), pieces = SEEN_INIT(nfields, wanted);
    struct seen simple = SEEN_INIT(nfields, wanted);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    inflate(input, &text);
    read_records(&text, NULL, &whole);
    read_records(&text, &seed, &pieces);
    read_simply(&text, &simple);
    require_equal(&whole, &simple);
    require_equal(&whole, &pieces);
    al_str_clear(&whole.text);
    al_str_clear(&pieces.text);
    al_str_clear(&simple.text);
    return 0;
}

#define READS_HUNKS 0x40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    uint8_t choice = fuzz_byte(&input);

    if (choice & READS_HUNKS)
        return check_hunks(&input);
    return check_records(&input, choice);
}
