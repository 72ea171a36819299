// SPDX-License-Identifier: Apache-2.0
/* Secrets in texts and JSON values: found by the name before them or by their form (bearer and
 * GitHub tokens, Authorization headers, assignments to variables on the denylist, user info in
 * URLs), and replaced; and the arguments in a line, without secrets and with a size limit. */
#include <nettle/sha2.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "guard/env.h"
#include "history/journal_private.h"
#include "util/utf8.h"

#define REDACTED "[redacted]"

/* --- Finding --- */

/** No name on the denylist is longer.  Longer names are not looked up. */
#define VARIABLE_MAX_BYTES 128u

/** With fewer letters after a GitHub prefix, a text only mentions tokens. */
#define TOKEN_MIN_BYTES 20u

/* The bytes of a text from `at` on. */
struct rest {
    const char *at;
    size_t len;
};

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_alnum(c) || c == '_';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* A byte of a bearer token, RFC 6750 section 2.1. */
static bool is_token68(char c)
{
    return is_alnum(c) || (c && strchr("-._~+/=", c));
}

static bool ends_value(char c)
{
    return (unsigned char)c <= ' ' || strchr("\"'`,;&|<>()", c);
}

static bool ends_authority(char c)
{
    return (unsigned char)c <= ' ' || strchr("/?#\"'`<>\\", c);
}

static size_t span(struct rest rest, size_t from, bool (*in)(char))
{
    size_t end = from;

    while (end < rest.len && in(rest.at[end]))
        end++;
    return end - from;
}

/* `word` has at least two bytes. */
static bool begins(struct rest rest, const char *word)
{
    size_t len = strlen(word);

    /* Many words begin with the same letter. */
    return rest.len >= len && (rest.at[1] | 0x20) == (word[1] | 0x20) &&
           !strncasecmp(rest.at, word, len);
}

/* Each of these returns the length of the secret at the beginning of `rest`, or 0, and in *ret_skip
 * the number of bytes before the secret that are not part of it.  The time that each takes must be
 * proportional to what it finds, because an agent can write a text full of hints. */

/* ghp_… gho_… ghu_… ghs_… ghr_… github_pat_…; newer tokens contain '.' or '-' as well. */
static size_t find_github_token(struct rest rest, size_t *ret_skip)
{
    static const char *const prefixes[] = { "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_" };
    size_t end, prefix = 0;

    *ret_skip = 0;
    for (size_t i = 0; i < AL_COUNT(prefixes) && !prefix; i++)
        if (begins(rest, prefixes[i]))
            prefix = strlen(prefixes[i]);
    if (!prefix)
        return 0;
    end = prefix + span(rest, prefix, is_word);
    while (end + 1 < rest.len && (rest.at[end] == '.' || rest.at[end] == '-') &&
           is_word(rest.at[end + 1]))
        end += 1 + span(rest, end + 1, is_word);
    return end - prefix >= TOKEN_MIN_BYTES ? end : 0;
}

/* "Bearer <token>".  The token is long or has a digit, so that prose about bearers is left alone.
 */
static size_t find_bearer(struct rest rest, size_t *ret_skip)
{
    size_t len, from;
    bool digit = false;

    if (!begins(rest, "bearer"))
        return 0;
    from = 6 + span(rest, 6, is_space);
    len = span(rest, from, is_token68);
    if (from == 6)
        return 0;
    for (size_t i = 0; i < len; i++)
        digit |= is_digit(rest.at[from + i]);
    *ret_skip = from;
    return len >= TOKEN_MIN_BYTES || (digit && len >= 8) ? len : 0;
}

/* Whether the word names an authentication scheme.  Any other word may be the credentials. */
static bool is_scheme(struct rest word)
{
    static const char *const schemes[] = {
        "basic", "bearer", "digest", "negotiate", "ntlm", "token"
    };

    for (size_t i = 0; i < AL_COUNT(schemes); i++)
        if (word.len == strlen(schemes[i]) && begins(word, schemes[i]))
            return true;
    return false;
}

static bool is_param_name(char c)
{
    return is_word(c) || c == '-';
}

static bool ends_param(char c)
{
    return (unsigned char)c <= ' ' || strchr("\"'`,<>", c);
}

/* The end of the parameter value that begins at `from`, including its quotes. */
static size_t end_of_param(struct rest rest, size_t from)
{
    size_t end = from;

    if (from >= rest.len || rest.at[from] != '"') {
        while (end < rest.len && !ends_param(rest.at[end]))
            end++;
        return end;
    }
    for (end++; end < rest.len && rest.at[end] != '"' && rest.at[end] != '\n'; end++)
        if (rest.at[end] == '\\' && end + 1 < rest.len && rest.at[end + 1] != '\n')
            end++;
    return end < rest.len && rest.at[end] == '"' ? end + 1 : end;
}

/* `name=value, name="value", …`, RFC 9110 section 11.2.  Which of the values are secret depends on
 * the scheme, so all are. */
static size_t span_params(struct rest rest, size_t from)
{
    size_t at = from, end = from;

    for (;;) {
        size_t name = span(rest, at, is_param_name);

        if (!name || at + name >= rest.len || rest.at[at + name] != '=')
            return end - from;
        end = end_of_param(rest, at + name + 1);
        at = end + span(rest, end, is_space);
        if (at >= rest.len || rest.at[at] != ',')
            return end - from;
        at++;
        at += span(rest, at, is_space);
    }
}

static size_t span_credentials(struct rest rest, size_t from)
{
    size_t token = span(rest, from, is_token68), params = span_params(rest, from);

    return params > token ? params : token;
}

/* "Authorization: <scheme> <credentials>", with credentials of any form. */
static size_t find_authorization(struct rest rest, size_t *ret_skip)
{
    size_t at = strlen("authorization"), word, next, len;

    if (!begins(rest, "authorization"))
        return 0;
    while (at < rest.len && strchr("\"'", rest.at[at]) && rest.at[at])
        at++;
    if (at >= rest.len || (rest.at[at] != ':' && rest.at[at] != '='))
        return 0;
    at++;
    while (at < rest.len && (is_space(rest.at[at]) || rest.at[at] == '"' || rest.at[at] == '\''))
        at++;
    *ret_skip = at;
    word = span(rest, at, is_token68);
    next = at + word + span(rest, at + word, is_space);
    if (!word || next == at + word)
        return span_credentials(rest, at);
    len = span_credentials(rest, next);
    if (!is_scheme((struct rest){ rest.at + at, word }))
        return len ? next + len - at : word;
    *ret_skip = next;
    return len;
}

/* NAME=value with a name on the denylist. */
static size_t find_assignment(struct rest rest, size_t *ret_skip)
{
    char name[VARIABLE_MAX_BYTES + 1];
    size_t len = span(rest, 0, is_word), from = len + 1, end;
    char quote;

    if (len > VARIABLE_MAX_BYTES || len + 1 >= rest.len || rest.at[len] != '=')
        return 0;
    memcpy(name, rest.at, len);
    name[len] = '\0';
    if (!al_env_is_secret(name))
        return 0;
    quote = rest.at[from];
    if (quote == '"' || quote == '\'')
        from++;
    end = from;
    if (from > len + 1)
        while (end < rest.len && rest.at[end] != quote && rest.at[end] != '\n')
            end++;
    else
        while (end < rest.len && !ends_value(rest.at[end]))
            end++;
    *ret_skip = from;
    return end - from;
}

/* The user info of "://user:password@host". */
static size_t find_user_info(struct rest rest, size_t *ret_skip)
{
    size_t from = strlen("://"), end, at_sign = 0;

    if (!begins(rest, "://"))
        return 0;
    for (end = from; end < rest.len && !ends_authority(rest.at[end]); end++)
        if (rest.at[end] == '@')
            at_sign = end;
    *ret_skip = from;
    return at_sign > from ? at_sign - from : 0;
}

/* Whether two bytes may begin a secret or the name before it, or are a '=' with a name before it.
 * Bit 0x20 makes letters lower case; it also makes some control characters look like hints. */
static bool is_hint(char byte, char after)
{
    const unsigned char a = (unsigned char)byte | 0x20, b = (unsigned char)after | 0x20;

    return (a == '=') | ((a == ':') & (b == '/')) | ((a == 'a') & (b == 'u')) |
           ((a == 'b') & (b == 'e')) | ((a == 'g') & ((b == 'h') | (b == 'i')));
}

/* The first hint at or after `at`; `len` when there is none.  Nearly all bytes are no hint. */
static size_t next_hint(const char *text, size_t len, size_t at)
{
    while (at + 1 < len && !is_hint(text[at], text[at + 1]))
        at++;
    return at + 1 < len ? at : len;
}

/* The secret that belongs to the hint at `at`, if there is one, and its offset. */
static size_t secret_at(const char *text, size_t len, size_t from, size_t at, size_t *ret_at)
{
    struct rest rest = { text + at, len - at };
    /* Inside a word no other word begins. */
    bool inside = at > from && is_word(text[at - 1]);
    size_t name = at, skip = 0, secret = 0;

    switch (text[at]) {
    case '=':
        while (name > from && is_word(text[name - 1]))
            name--;
        secret = find_assignment((struct rest){ text + name, len - name }, &skip);
        break;
    case ':':
        secret = find_user_info(rest, &skip);
        break;
    case 'g':
    case 'G':
        secret = inside ? 0 : find_github_token(rest, &skip);
        break;
    case 'a':
    case 'A':
        secret = inside ? 0 : find_authorization(rest, &skip);
        break;
    default:
        secret = inside ? 0 : find_bearer(rest, &skip);
        break;
    }
    *ret_at = name + skip;
    return secret;
}

/* Find the first secret at or after `from`.  Its length and offset; 0 when there is none. */
static size_t find_secret(const char *text, size_t len, size_t from, size_t *ret_at)
{
    size_t secret = 0;

    for (size_t at = next_hint(text, len, from); at < len && !secret;
         at = next_hint(text, len, at + 1))
        secret = secret_at(text, len, from, at, ret_at);
    return secret;
}

/* --- Replacing --- */

bool al_redact_finds(const char *text, size_t len)
{
    size_t at;

    return find_secret(text, len, 0, &at) > 0;
}

void al_redact_text(const char *text, size_t len, struct al_str *out)
{
    size_t kept = 0; /* everything before this offset is in `out` */
    size_t at, secret;

    while ((secret = find_secret(text, len, kept, &at)) > 0) {
        al_str_add(out, text + kept, at - kept);
        al_str_adds(out, REDACTED);
        kept = at + secret;
    }
    al_str_add(out, text + kept, len - kept);
}

static json_t *redact_string(const json_t *value)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_redact_text(json_string_value(value), json_string_length(value), &text);
    return al_json_stringn(text.buf, text.len);
}

static json_t *redact_object(const json_t *object)
{
    json_t *clean = al_json_object();
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)object, name, value)
    {
        al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;

        al_redact_text(name, strlen(name), &safe);
        al_json_set(clean, safe.buf,
                    al_env_is_secret(name) ? al_json_string(REDACTED) : al_redact_json(value));
    }
    return clean;
}

json_t *al_redact_json(const json_t *value)
{
    json_t *clean, *item;
    size_t i;

    if (json_is_string(value))
        return redact_string(value);
    if (json_is_object(value))
        return redact_object(value);
    if (!json_is_array(value))
        return json_incref((json_t *)value);
    clean = al_json_array();
    json_array_foreach(value, i, item) al_json_append(clean, al_redact_json(item));
    return clean;
}

bool al_redact_has_secret(const json_t *value)
{
    const char *name;
    json_t *item;
    size_t i;

    if (json_is_string(value))
        return al_redact_finds(json_string_value(value), json_string_length(value));
    json_array_foreach(value, i, item) if (al_redact_has_secret(item)) return true;
    json_object_foreach((json_t *)value, name, item)
    {
        if (al_env_is_secret(name) || al_redact_finds(name, strlen(name)) ||
            al_redact_has_secret(item))
            return true;
    }
    return false;
}

/* --- Arguments --- */

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

json_t *al_journal_input(const struct al_record_begin *begin)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    bool clean = !begin->input || !al_redact_has_secret(begin->input);
    json_t *input = !begin->input ? al_json_object()
                    : clean       ? json_deep_copy(begin->input)
                                  : redact(begin);
    json_t *cut;

    al_json_dump(input, true, &text);
    if (text.len <= AL_JOURNAL_INPUT_MAX_BYTES)
        return input;
    cut = cut_down(input, text.buf, text.len);
    json_decref(input);
    return cut;
}
