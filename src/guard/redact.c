// SPDX-License-Identifier: Apache-2.0
#include "guard/redact.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "guard/env.h"
#include "guard/url.h"

#define REDACTED "[redacted]"

/** No name on the denylist is longer.  Longer names are not looked up. */
#define NAME_MAX_BYTES 128u

/** A text with fewer letters after a GitHub prefix only mentions tokens. */
#define TOKEN_MIN_BYTES 20u

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* A byte of a bearer token, RFC 6750 section 2.1. */
static bool is_token68(char c)
{
    return is_word(c) || (c && strchr("-.~+/=", c));
}

static bool is_value(char c)
{
    return (unsigned char)c > ' ' && !strchr("\"'`,;&|<>()", c);
}

/* A text, and a word in it. */
struct place {
    const char *text;
    size_t len;
    size_t at, end; /* of the word */
};

/* The end of the bytes of a kind that begin at `from`. */
static size_t skip(const struct place *place, size_t from, bool (*is_kind)(char))
{
    while (from < place->len && is_kind(place->text[from]))
        from++;
    return from;
}

static bool is_called(const struct place *place, const char *name)
{
    return place->end - place->at == strlen(name) &&
           !strncasecmp(place->text + place->at, name, strlen(name));
}

/* Each of these returns the end of the secret that the word is or announces, and in *ret_from where
 * the secret begins; 0 when there is none.  The time that each takes must be proportional to what
 * it finds, because an agent can write a text full of hints. */

/* ghp_… gho_… ghu_… ghs_… ghr_… github_pat_…; newer tokens contain '.' or '-' as well. */
static size_t find_github_token(const struct place *place, size_t *ret_from)
{
    static const char *const prefixes[] = { "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_" };
    const char *word = place->text + place->at;
    size_t end = place->end;

    for (size_t i = 0; i < AL_COUNT(prefixes); i++) {
        const size_t prefix = strlen(prefixes[i]);

        if (place->end - place->at < prefix || strncasecmp(word, prefixes[i], prefix) != 0)
            continue;
        while (end + 1 < place->len && (place->text[end] == '.' || place->text[end] == '-') &&
               is_word(place->text[end + 1]))
            end = skip(place, end + 1, is_word);
        *ret_from = place->at;
        return end - place->at >= prefix + TOKEN_MIN_BYTES ? end : 0;
    }
    return 0;
}

/* "Bearer <token>".  The token is long or has a digit, so that prose about bearers is left alone.
 */
static size_t find_bearer(const struct place *place, size_t *ret_from)
{
    size_t from, end;
    bool digit = false;

    if (!is_called(place, "bearer"))
        return 0;
    from = skip(place, place->end, is_space);
    end = from > place->end ? skip(place, from, is_token68) : from;
    for (size_t i = from; i < end; i++)
        digit |= isdigit((unsigned char)place->text[i]) != 0;
    *ret_from = from;
    return end - from >= TOKEN_MIN_BYTES || (digit && end - from >= 8) ? end : 0;
}

static bool is_parameter(char c)
{
    return is_token68(c) || c == ';';
}

/* The end of name=value or name="text"; `at` if there is no '='. */
static size_t skip_parameter(const struct place *place, size_t at)
{
    size_t end = skip(place, at, is_parameter);

    if (!memchr(place->text + at, '=', end - at))
        return at;
    if (end == place->len || place->text[end - 1] != '=' || place->text[end] != '"')
        return end;
    for (end++; end < place->len && place->text[end] != '"' && place->text[end] != '\n'; end++)
        end += place->text[end] == '\\' && end + 1 < place->len;
    return end < place->len && place->text[end] == '"' ? end + 1 : end;
}

/* Credentials are a word, or parameters with commas between them. */
static size_t skip_credentials(const struct place *place, size_t at)
{
    size_t end = skip_parameter(place, at), next = at;

    if (end == at)
        return skip(place, at, is_token68);
    while (end > next && end < place->len && place->text[end] == ',') {
        const size_t last = end;

        next = skip(place, end + 1, is_space);
        end = skip_parameter(place, next);
        if (end == next)
            return last;
    }
    return end;
}

/* "Authorization: <scheme> <credentials>".  A seeming scheme may be the credentials. */
static size_t find_authorization(const struct place *place, size_t *ret_from)
{
    size_t at, end, next;

    if (!is_called(place, "authorization"))
        return 0;
    at = skip(place, place->end, is_quote);
    if (at >= place->len || (place->text[at] != ':' && place->text[at] != '='))
        return 0;
    at = skip(place, skip(place, at + 1, is_space), is_quote);
    end = skip(place, at, is_token68);
    next = skip(place, end, is_space);
    *ret_from = at;
    if (end > at && next > end && skip(place, next, is_token68) > next)
        end = skip_credentials(place, next);
    return end > at ? end : 0;
}

/* NAME=value with a name on the denylist. */
static size_t find_assignment(const struct place *place, size_t *ret_from)
{
    char name[NAME_MAX_BYTES + 1];
    const size_t len = place->end - place->at, from = place->end + 1;
    const char *text = place->text;
    size_t end;

    if (len > NAME_MAX_BYTES || from >= place->len || text[place->end] != '=')
        return 0;
    memcpy(name, text + place->at, len);
    name[len] = '\0';
    if (!al_env_is_secret(name))
        return 0;
    *ret_from = from + is_quote(text[from]);
    if (!is_quote(text[from]))
        end = skip(place, from, is_value);
    else
        for (end = from + 1; end < place->len && text[end] != text[from] && text[end] != '\n';)
            end++;
    return end > *ret_from ? end : 0;
}

static size_t find_after_word(const struct place *place, size_t *ret_from)
{
    size_t end = find_github_token(place, ret_from);

    if (!end)
        end = find_bearer(place, ret_from);
    if (!end)
        end = find_authorization(place, ret_from);
    return end ? end : find_assignment(place, ret_from);
}

/* Find the first secret at or after `at`.  Its end; 0 when there is none. */
static size_t find_secret(const char *text, size_t len, size_t at, size_t *ret_from)
{
    struct place place = { .text = text, .len = len };
    size_t end = 0;

    while (at < len && !end) {
        if (text[at] == ':') {
            end = al_url_find_user(text, len, at);
            *ret_from = at + strlen("://");
        } else if (is_word(text[at])) {
            place.at = at;
            place.end = skip(&place, at, is_word);
            end = find_after_word(&place, ret_from);
            at = place.end - 1;
        }
        at++;
    }
    return end;
}

void al_redact_text(const char *text, size_t len, struct al_str *out)
{
    size_t kept = 0; /* everything before this offset is in `out` */
    size_t from, end;

    while ((end = find_secret(text, len, kept, &from)) > 0) {
        al_str_add(out, text + kept, from - kept);
        al_str_adds(out, REDACTED);
        kept = end;
    }
    al_str_add(out, text + kept, len - kept);
}

/* --- JSON --- */

static json_t *redact_string(const char *text, size_t len)
{
    al_auto(al_str_clear) struct al_str clean = AL_STR_INIT;

    al_redact_text(text, len, &clean);
    return al_json_stringn(clean.buf, clean.len);
}

/* Whether a value is a string or an array of strings. */
static bool is_text(const json_t *value)
{
    const json_t *item;
    size_t i;

    json_array_foreach(value, i, item) if (!json_is_string(item)) return false;
    return json_is_string(value) || json_is_array(value);
}

/* A value that is in so many objects, the first of which is the argument `object`. */
static json_t *redact(const json_t *value, const struct al_redact_names *names, const char *object,
                      int depth)
{
    json_t *clean, *item;
    const char *name;
    size_t i;

    if (json_is_string(value))
        return redact_string(json_string_value(value), json_string_length(value));
    if (!json_is_array(value) && !json_is_object(value))
        return json_incref((json_t *)value);
    clean = json_is_array(value) ? al_json_array() : al_json_object();
    json_array_foreach(value, i, item) al_json_append(clean, redact(item, names, object, depth));
    json_object_foreach((json_t *)value, name, item)
    {
        al_auto(al_json_decrefp) json_t *safe = redact_string(name, strlen(name));
        json_t *copy;

        if (names && depth < 2 && is_text(item) && names->is_name(names->payload, object, name))
            copy = json_incref(item);
        else if (al_env_is_secret(name))
            copy = al_json_string(REDACTED);
        else
            copy = redact(item, names, depth ? object : name, depth + 1);
        al_json_set(clean, json_string_value(safe), copy);
    }
    return clean;
}

json_t *al_redact_json(const json_t *value, const struct al_redact_names *names)
{
    return redact(value, names, NULL, 0);
}

/* --- Arguments for a log --- */

/** At most this many members of large arguments are written. */
#define MEMBERS_MAX 32u

/** Values whose JSON is not longer than this are not cut. */
#define SMALL_BYTES 1024u

/** Members with longer names, which no tool has, are left out. */
#define NAME_MAX_BYTES 128u

/** The beginnings of all long values together have at most this size. */
#define HEADS_BYTES 8192u

/* An escaped byte takes at most six, and the note about a value less than 128. */
#define ESCAPED 6u
#define NOTE    128u
_Static_assert(MEMBERS_MAX *(SMALL_BYTES + ESCAPED * NAME_MAX_BYTES + NOTE) +
                       ESCAPED * HEADS_BYTES <
                   AL_REDACT_INPUT_MAX_BYTES,
               "what is left of large arguments is itself within the bound");

static void add_digest(struct al_str *out, const char *bytes, size_t len)
{
    al_auto(al_freep) char *hex = al_sha256(bytes, len);

    al_str_addf(out, "%zu bytes, SHA-256 %s", len, hex);
}

/* A value that is short enough; or its beginning, length and digest. */
static json_t *shorten(const json_t *value, size_t head)
{
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *bytes = json_string_value(value);
    size_t len = json_string_length(value);

    al_json_dump(value, true, &json);
    if (json.len <= SMALL_BYTES)
        return json_incref((json_t *)value);
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
        if (strlen(name) <= NAME_MAX_BYTES && count++ < MEMBERS_MAX)
            al_json_set(cut, name, shorten(value, head));
    }
    add_digest(&note, all, len);
    al_json_set(cut, "[cut]", al_json_stringn(note.buf, note.len));
    return cut;
}

json_t *al_redact_input(const json_t *value, const struct al_redact_names *names)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_json_decrefp) json_t *input =
        value ? al_redact_json(value, names) : al_json_object();

    al_json_dump(input, true, &text);
    return text.len > AL_REDACT_INPUT_MAX_BYTES ? cut_down(input, text.buf, text.len)
                                                : json_incref(input);
}

/* --- Texts for a log --- */

/** A result's text in the log is cut to this. */
#define TEXT_MAX_BYTES 4096u

/** This much is read beyond the cut, so that a secret across the cut is recognised. */
#define TEXT_MARGIN_BYTES 1024u

/* The length of a text to read: to the end of the margin, if possible between two words. */
static size_t read_limit(const char *text, size_t len)
{
    size_t end = TEXT_MAX_BYTES + TEXT_MARGIN_BYTES;

    if (len <= end)
        return len;
    for (size_t at = end; at > TEXT_MAX_BYTES; at--)
        if (text[at] == ' ' || text[at] == '\n' || text[at] == '\t')
            return at;
    return al_utf8_floor(text, end);
}

/* A text without secrets, cut, and as valid UTF-8. */
json_t *al_redact_log_text(const char *text, size_t len)
{
    al_auto(al_str_clear) struct al_str valid = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str clean = AL_STR_INIT;

    al_utf8_replace(text, read_limit(text, len), &valid);
    al_redact_text(valid.buf, valid.len, &clean);
    return al_json_stringn(clean.buf, clean.len > TEXT_MAX_BYTES
                                          ? al_utf8_floor(clean.buf, TEXT_MAX_BYTES)
                                          : clean.len);
}
