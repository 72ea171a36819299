// SPDX-License-Identifier: Apache-2.0
#include "base/jsonrpc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Every integer of 18 digits fits into 64 bits; not every one of 19 does. */
#define SAFE_DIGITS 18

static bool is_number_char(char c)
{
    return isdigit((unsigned char)c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
        p++;
    return p;
}

/* From an opening quote to behind the closing one. */
static const char *skip_string(const char *p, const char *end)
{
    for (p++; p < end; p++) {
        if (*p == '\\' && p + 1 < end)
            p++;
        else if (*p == '"')
            return p + 1;
    }
    return end;
}

static const char *skip_brackets(const char *p, const char *end)
{
    size_t depth = 0;

    while (p < end) {
        if (*p == '"') {
            p = skip_string(p, end);
            continue;
        }
        if (*p == '[' || *p == '{')
            depth++;
        else if ((*p == ']' || *p == '}') && --depth == 0)
            return p + 1;
        p++;
    }
    return end;
}

static const char *skip_value(const char *p, const char *end)
{
    if (p < end && *p == '"')
        return skip_string(p, end);
    if (p < end && (*p == '[' || *p == '{'))
        return skip_brackets(p, end);
    while (p < end && !strchr(",]} \t\r\n", *p))
        p++;
    return p;
}

static bool key_is(const char *key, const char *end, const char *name)
{
    size_t len = strlen(name);

    if (!memchr(key, '\\', (size_t)(end - key)))
        return (size_t)(end - key) == len + 2 && !memcmp(key + 1, name, len);

    al_auto(al_json_decrefp) json_t *text =
        json_loadb(key, (size_t)(end - key), JSON_DECODE_ANY, NULL);
    return text && json_string_length(text) == len && !memcmp(json_string_value(text), name, len);
}

/* The members of a name. */
struct members {
    struct al_raw_json last;
    size_t count;
};

static struct members find_members(struct al_raw_json object, const char *name)
{
    struct members found = { .count = 0 };
    const char *p, *end;

    if (!object.at)
        return found;
    end = object.at + object.len;
    p = skip_space(object.at, end);
    if (p == end || *p != '{')
        return found;
    p = skip_space(p + 1, end);
    while (p < end && *p == '"') {
        const char *key = p, *key_end = skip_string(p, end), *value;

        value = skip_space(key_end, end);
        if (value < end && *value == ':')
            value++;
        value = skip_space(value, end);
        p = skip_value(value, end);
        if (key_is(key, key_end, name)) {
            found.last = (struct al_raw_json){ value, (size_t)(p - value) };
            found.count++;
        }
        p = skip_space(p, end);
        if (p < end && *p == ',')
            p = skip_space(p + 1, end);
    }
    return found;
}

struct al_raw_json al_raw_json_member(struct al_raw_json object, const char *name)
{
    return find_members(object, name).last;
}

struct al_raw_json al_raw_json_next(struct al_raw_json array, struct al_raw_json item)
{
    const char *end = array.at + array.len;
    const char *p = item.at ? item.at + item.len : array.at;
    const char *from;

    p = skip_space(p, end);
    if (p == end || *p != (item.at ? ',' : '['))
        return (struct al_raw_json){ NULL, 0 };
    from = skip_space(p + 1, end);
    p = skip_value(from, end);
    if (p == from)
        return (struct al_raw_json){ NULL, 0 };
    return (struct al_raw_json){ from, (size_t)(p - from) };
}

size_t al_raw_json_count_values(struct al_raw_json text)
{
    const char *end = text.at + text.len;
    size_t count = 1;

    for (const char *p = text.at; p < end;) {
        if (*p == '"') {
            p = skip_string(p, end);
            continue;
        }
        count += *p == ',' || *p == '[' || *p == '{';
        p++;
    }
    return count;
}

/* The end of a number.  *ret_wide: it is an integer that may not fit into 64 bits. */
static const char *skip_number(const char *p, const char *end, bool *ret_wide)
{
    const char *from = p;
    size_t digits = 0;

    for (; p < end && is_number_char(*p); p++)
        digits += isdigit((unsigned char)*p) != 0;
    *ret_wide = digits > SAFE_DIGITS && (size_t)(p - from) == digits + (*from == '-');
    return p;
}

char *al_raw_json_widen(struct al_raw_json text, size_t *ret_len)
{
    const char *end = text.at + text.len;
    struct al_str out = AL_STR_INIT;

    al_str_reserve(&out, text.len + 2);
    for (const char *p = text.at; p < end;) {
        const char *from = p;
        bool wide = false;

        if (*p == '"')
            p = skip_string(p, end);
        else if (is_number_char(*p))
            p = skip_number(p, end, &wide);
        else
            p++;
        al_str_add(&out, from, (size_t)(p - from));
        if (wide)
            al_str_adds(&out, "e0");
    }
    *ret_len = out.len;
    return al_str_detach(&out);
}

/* "-" and digits: the only form of a number that is echoed. */
static bool is_integer(struct al_raw_json text)
{
    size_t i = text.len && text.at[0] == '-';

    if (i == text.len)
        return false;
    for (; i < text.len; i++)
        if (!isdigit((unsigned char)text.at[i]))
            return false;
    return true;
}

/*
 * A NUL byte is not part of JSON text.  jansson skips one behind a number, where other parsers see
 * the end of the text.
 */
static bool has_nul(const char *line, size_t len)
{
    return memchr(line, '\0', len) != NULL;
}

static bool too_many_values(const char *line, size_t len)
{
    struct al_raw_json text = { line, len };

    return len > AL_RPC_MAX_VALUES && al_raw_json_count_values(text) > AL_RPC_MAX_VALUES;
}

/* The second and third attempt: allow NULs and duplicate names, then large integers too. */
static void parse_leniently(struct al_rpc_doc *doc)
{
    json_error_t error;
    size_t len;

    doc->root = json_loadb(doc->text.at, doc->text.len, JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
    if (doc->root || json_error_code(&error) != json_error_numeric_overflow)
        return;
    doc->widened = al_raw_json_widen(doc->text, &len);
    doc->text = (struct al_raw_json){ doc->widened, len };
    doc->root = json_loadb(doc->text.at, doc->text.len, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
}

/* A line that the strict parser takes is used without a look at its bytes, which is a reason of its
 * own: it saves less than 1 % of a short call. */
enum al_rpc_code al_rpc_parse(const char *line, size_t len, struct al_rpc_doc *ret_doc,
                              const char **ret_problem)
{
    struct al_rpc_doc doc = AL_RPC_DOC_INIT;

    if (too_many_values(line, len)) {
        *ret_problem = "message holds too many values";
        return AL_RPC_INVALID_REQUEST;
    }
    doc.text = (struct al_raw_json){ line, len };
    if (!has_nul(line, len))
        doc.root = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    doc.exact = doc.root != NULL;
    if (!doc.root && !has_nul(line, len))
        parse_leniently(&doc);
    if (!doc.root) {
        al_rpc_doc_clear(&doc);
        *ret_problem = "message is not valid JSON";
        return AL_RPC_PARSE_ERROR;
    }
    *ret_doc = doc;
    return AL_RPC_OK;
}

void al_rpc_doc_clear(struct al_rpc_doc *doc)
{
    json_decref(doc->root);
    free(doc->widened);
    *doc = AL_RPC_DOC_INIT;
}

bool al_rpc_doc_is_batch(const struct al_rpc_doc *doc)
{
    return json_is_array(doc->root);
}

/* Canonical text of `value`.  `text` holds its bytes if the tree may have lost digits. */
static char *canonical(const json_t *value, struct al_raw_json text)
{
    struct al_str out = AL_STR_INIT;

    if (json_is_string(value))
        al_json_quote(json_string_value(value), json_string_length(value), &out);
    else if (json_is_integer(value))
        al_str_addf(&out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value) && text.len > 2 && !memcmp(text.at + text.len - 2, "e0", 2)) {
        text.len -= 2; /* al_raw_json_widen() added it, or the sender did, with the same meaning */
        if (!is_integer(text))
            return NULL;
        al_str_add(&out, text.at, text.len);
    } else {
        return NULL;
    }
    return al_str_detach(&out);
}

/* al_rpc_token() without its limit. */
static char *token_at(const struct al_rpc_message *message, const char *const *path)
{
    const json_t *value = message->body;
    struct al_raw_json text = message->text;

    for (; *path; path++) {
        value = json_object_get(value, *path);
        if (!message->exact)
            text = al_raw_json_member(text, *path);
    }
    return canonical(value, message->exact ? (struct al_raw_json){ NULL, 0 } : text);
}

char *al_rpc_broken_id(const char *line, size_t len)
{
    const struct members ids = find_members((struct al_raw_json){ line, len }, "id");
    const struct al_raw_json id = ids.last;
    al_auto(al_json_decrefp) json_t *value =
        id.at ? json_loadb(id.at, id.len, JSON_DECODE_ANY, NULL) : NULL;

    if (id.len > AL_RPC_TOKEN_MAX_BYTES || ids.count != 1)
        return NULL;
    return canonical(value, id);
}

char *al_rpc_token(const struct al_rpc_message *message, const char *const *path)
{
    al_auto(al_freep) char *token = token_at(message, path);

    return token && strlen(token) <= AL_RPC_TOKEN_MAX_BYTES ? al_take(&token) : NULL;
}

static bool has_long_token(const struct al_rpc_message *message)
{
    static const char *const path[] = { "params", "_meta", "progressToken", NULL };
    al_auto(al_freep) char *token = token_at(message, path);

    return token && strlen(token) > AL_RPC_TOKEN_MAX_BYTES;
}

static const char *version_of(const json_t *body)
{
    const char *version = al_json_get_string(body, "jsonrpc");

    return version ? version : "";
}

/* Whether the bytes parse to the value. */
static bool is_text_of(struct al_raw_json text, const json_t *value)
{
    al_auto(al_json_decrefp) json_t *again = NULL;

    if (!text.at || !value)
        return !text.at && !value;
    again = json_loadb(text.at, text.len, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    return again && json_equal(again, value);
}

/* A copy of the message with null for its arguments. */
static json_t *without_arguments(json_t *body)
{
    json_t *copy = json_copy(body), *params = json_copy(json_object_get(body, "params"));

    if (json_object_get(params, "arguments"))
        al_json_set(params, "arguments", json_null());
    if (params)
        al_json_set(copy, "params", params);
    return copy;
}

/*
 * Whether no name is given twice, arguments aside: al_rpc_arguments_problem() checks those.  The
 * bytes must parse to the tree, or they are not the message.
 */
static bool has_unique_names(const struct al_rpc_message *message)
{
    const struct al_raw_json text = message->text;
    const struct al_raw_json arguments =
        al_raw_json_member(al_raw_json_member(text, "params"), "arguments");
    al_auto(al_str_clear) struct al_str rest = AL_STR_INIT;

    if (!text.at || !is_text_of(arguments, json_object_get(json_object_get(message->body, "params"),
                                                           "arguments")))
        return false;
    if (arguments.at) {
        const char *behind = arguments.at + arguments.len;

        al_str_add(&rest, text.at, (size_t)(arguments.at - text.at));
        al_str_adds(&rest, "null");
        al_str_add(&rest, behind, (size_t)(text.at + text.len - behind));
    } else {
        al_str_add(&rest, text.at, text.len);
    }
    al_auto(al_json_decrefp) json_t *strict = json_loadb(
        rest.buf, rest.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    al_auto(al_json_decrefp) json_t *expected = without_arguments(message->body);
    return strict && json_equal(strict, expected);
}

/* Set the kind of the message, or its problem. */
static void classify(struct al_rpc_message *message)
{
    static const char *const id_path[] = { "id", NULL };
    json_t *body = message->body;
    json_t *method = json_object_get(body, "method");
    bool has_id = json_object_get(body, "id") != NULL, unique;

    if (!json_is_object(body)) {
        message->problem = "a message is a JSON object";
        return;
    }
    unique = message->exact || has_unique_names(message);
    if (unique || find_members(message->text, "id").count == 1)
        message->id = al_rpc_token(message, id_path);
    message->params = json_object_get(body, "params");
    message->method = json_string_value(method);
    message->has_duplicates = !unique;
    if (!method && (json_object_get(body, "result") || json_object_get(body, "error")))
        message->kind = AL_RPC_RESPONSE;
    else if (!unique)
        message->problem = "the message has the same name twice";
    else if (has_id && !message->id)
        message->problem = "id must be a string or an integer of at most 4096 bytes";
    else if (has_long_token(message))
        message->problem = "progressToken must have at most 4096 bytes";
    else if (!message->method || strlen(message->method) != json_string_length(method))
        message->problem = "method must be a string";
    else if (strcmp(version_of(body), "2.0") != 0)
        message->problem = "jsonrpc must be \"2.0\"";
    else
        message->kind = has_id ? AL_RPC_REQUEST : AL_RPC_NOTIFICATION;
}

bool al_rpc_doc_next(const struct al_rpc_doc *doc, struct al_rpc_cursor *cursor,
                     struct al_rpc_message *message)
{
    bool batch = al_rpc_doc_is_batch(doc);

    al_rpc_message_clear(message);
    if (cursor->index >= (batch ? json_array_size(doc->root) : 1))
        return false;
    message->exact = doc->exact;
    message->body = batch ? json_array_get(doc->root, cursor->index) : doc->root;
    if (batch && !doc->exact)
        cursor->item = al_raw_json_next(doc->text, cursor->item);
    message->text = batch ? cursor->item : doc->text;
    cursor->index++;
    classify(message);
    return true;
}

void al_rpc_message_clear(struct al_rpc_message *message)
{
    free(message->id);
    *message = AL_RPC_MESSAGE_INIT;
}

/* Stops at the limit, so the recursion is no deeper than that. */
bool al_rpc_is_deeper(json_t *value, int levels)
{
    const char *name;
    json_t *item;
    size_t i;

    if (!json_is_object(value) && !json_is_array(value))
        return false;
    if (!levels)
        return true;
    json_array_foreach(value, i, item)
    {
        if (al_rpc_is_deeper(item, levels - 1))
            return true;
    }
    json_object_foreach(value, name, item)
    {
        if (al_rpc_is_deeper(item, levels - 1))
            return true;
    }
    return false;
}

const char *al_rpc_arguments_problem(const struct al_rpc_message *message)
{
    json_t *arguments = json_object_get(message->params, "arguments");
    struct al_raw_json text;
    json_error_t error;

    if (al_rpc_is_deeper(arguments, AL_RPC_MAX_ARGUMENTS_DEPTH))
        return "arguments are nested too deeply";
    if (!arguments || message->exact)
        return NULL;
    text = al_raw_json_member(al_raw_json_member(message->text, "params"), "arguments");

    al_auto(al_json_decrefp) json_t *strict =
        json_loadb(text.at, text.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (strict)
        return NULL;
    if (json_error_code(&error) == json_error_null_character)
        return "arguments contain a NUL character";
    return "arguments contain the same name twice";
}

void al_rpc_begin_result(struct al_str *out, const char *id)
{
    al_str_adds(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    al_str_adds(out, id);
    al_str_adds(out, ",\"result\":");
}

void al_rpc_end(struct al_str *out)
{
    al_str_addc(out, '}');
}

void al_rpc_add_error(struct al_str *out, const char *id, enum al_rpc_code code, const char *text)
{
    al_rpc_add_error_data(out, id, code, text, NULL);
}

void al_rpc_add_error_data(struct al_str *out, const char *id, enum al_rpc_code code,
                           const char *text, const char *data)
{
    al_str_adds(out, "{\"jsonrpc\":\"2.0\",");
    if (id)
        al_str_addf(out, "\"id\":%s,", id);
    al_str_addf(out, "\"error\":{\"code\":%d,\"message\":", (int)code);
    al_json_quote(text, strlen(text), out);
    if (data)
        al_str_addf(out, ",\"data\":%s", data);
    al_str_adds(out, "}}");
}
