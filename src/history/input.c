// SPDX-License-Identifier: Apache-2.0
#include "history/input.h"

#include <nettle/sha2.h>

#include "util/utf8.h"

/** At most this many members of large arguments are written. */
#define MEMBERS_MAX 32u

/** Values whose JSON is not longer than this are not cut. */
#define SMALL_BYTES 1024u

/** Longer member names are cut. */
#define NAME_MAX_BYTES 128u

/** The beginnings of all long values together have at most this size. */
#define HEADS_BYTES 8192u

/* An escaped byte takes at most six, and the note about a value less than 128. */
#define ESCAPED 6u
#define NOTE    128u
_Static_assert(MEMBERS_MAX *(SMALL_BYTES + ESCAPED * (NAME_MAX_BYTES + 3) + NOTE) +
                       ESCAPED * HEADS_BYTES <
                   AL_JOURNAL_INPUT_MAX_BYTES,
               "what is left of large arguments is itself within the bound");

/* Whether a value is a string or an array of strings. */
static bool is_text(const json_t *value)
{
    const json_t *item;
    size_t i;

    json_array_foreach(value, i, item) if (!json_is_string(item)) return false;
    return json_is_string(value) || json_is_array(value);
}

static void keep_names(const struct al_record_begin *begin, const char *object, const json_t *input,
                       json_t *clean);

/* The same for the objects of an array. */
static void keep_names_of_items(const struct al_record_begin *begin, const char *object,
                                const json_t *input, json_t *clean)
{
    const json_t *item;
    size_t i;

    json_array_foreach(input, i, item)
    {
        if (json_is_object(item) && json_is_object(json_array_get(clean, i)))
            keep_names(begin, object, item, json_array_get(clean, i));
    }
}

/* Names of files, branches and revisions say what a call did, so they are kept whatever they look
 * like. */
static void keep_names(const struct al_record_begin *begin, const char *object, const json_t *input,
                       json_t *clean)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)input, name, value)
    {
        if (is_text(value) && begin->is_name(begin->payload, object, name))
            al_json_set(clean, name, json_incref(value));
        else if (!object && json_is_object(value) && json_is_object(json_object_get(clean, name)))
            keep_names(begin, name, value, json_object_get(clean, name));
        else if (!object)
            keep_names_of_items(begin, name, value, json_object_get(clean, name));
    }
}

static json_t *redact(const struct al_record_begin *begin)
{
    json_t *clean = al_redact_json(begin->input);

    if (begin->is_name)
        keep_names(begin, NULL, begin->input, clean);
    return clean;
}

static void add_digest(struct al_str *out, const char *bytes, size_t len)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx ctx;

    sha256_init(&ctx);
    sha256_update(&ctx, len, (const uint8_t *)bytes);
    sha256_digest(&ctx, sizeof(digest), digest);
    al_str_addf(out, "%zu bytes, SHA-256 ", len);
    for (size_t i = 0; i < sizeof(digest); i++)
        al_str_addf(out, "%02x", digest[i]);
}

/* The beginning of a value with its length and digest; NULL when it is short enough. */
static json_t *shorten(const json_t *value, size_t head)
{
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *bytes = json_string_value(value);
    size_t len = json_string_length(value);

    al_json_dump(value, true, &json);
    if (json.len <= SMALL_BYTES)
        return NULL;
    if (!bytes) {
        bytes = json.buf;
        len = json.len;
    }
    al_str_add(&text, bytes, len < head ? len : al_utf8_floor(bytes, head));
    al_str_adds(&text, "... [");
    add_digest(&text, bytes, len);
    al_str_addc(&text, ']');
    return al_json_stringn(text.buf, text.len);
}

static void add_member(json_t *cut, const char *name, const json_t *value, size_t head)
{
    json_t *shorter = shorten(value, head);
    size_t len = strlen(name);
    al_auto(al_freep) char *shown =
        len > NAME_MAX_BYTES
            ? al_asprintf("%.*s...", (int)al_utf8_floor(name, NAME_MAX_BYTES), name)
            : al_strdup(name);

    al_json_set(cut, shown, shorter ? shorter : json_incref((json_t *)value));
}

/* `all` is the JSON of the whole value. */
static json_t *cut_down(const json_t *input, const char *all, size_t len)
{
    al_auto(al_str_clear) struct al_str note = AL_STR_INIT;
    json_t *cut = al_json_object(), *value;
    size_t members = json_object_size(input), count = 0;
    size_t head = HEADS_BYTES / (members && members < MEMBERS_MAX ? members : MEMBERS_MAX);
    const char *name;

    json_object_foreach((json_t *)input, name, value)
    {
        if (count++ < MEMBERS_MAX)
            add_member(cut, name, value, head);
    }
    add_digest(&note, all, len);
    al_json_set(cut, "[cut]", al_json_stringn(note.buf, note.len));
    return cut;
}

void al_journal_add_input(const struct al_record_begin *begin, struct al_str *out)
{
    const size_t at = out->len;
    bool clean = !begin->input || !al_redact_has_secret(begin->input);
    al_auto(al_json_decrefp) json_t *redacted = clean ? NULL : redact(begin);
    const json_t *input = redacted ? redacted : begin->input;
    al_auto(al_json_decrefp) json_t *cut = NULL;

    if (!input) {
        al_str_adds(out, "{}");
        return;
    }
    al_json_dump(input, true, out);
    if (out->len - at <= AL_JOURNAL_INPUT_MAX_BYTES)
        return;
    cut = cut_down(input, out->buf + at, out->len - at);
    al_str_truncate(out, at);
    al_json_dump(cut, true, out);
}
