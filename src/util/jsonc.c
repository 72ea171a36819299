// SPDX-License-Identifier: Apache-2.0
#include "util/jsonc.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct al_jsonc *doc;
    size_t at;
    unsigned depth;
    const char *problem; /* NULL: none */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins(const struct al_jsonc *doc, size_t at, const char *words)
{
    const size_t len = strlen(words);

    return doc->len - at >= len && !memcmp(doc->text + at, words, len);
}

/* The end of the comment that begins at `at`; 0: it does not end. */
static size_t comment_end(const struct al_jsonc *doc, size_t at)
{
    const char *end;

    if (doc->text[at + 1] == '/') {
        end = memchr(doc->text + at, '\n', doc->len - at);
        return end ? (size_t)(end - doc->text) : doc->len;
    }
    end = memmem(doc->text + at + 2, doc->len - at - 2, "*/", 2);
    return end ? (size_t)(end - doc->text) + 2 : 0;
}

static bool begins_comment(const struct al_jsonc *doc, size_t at)
{
    return begins(doc, at, "//") || begins(doc, at, "/*");
}

size_t al_jsonc_skip(const struct al_jsonc *doc, size_t at)
{
    size_t end;

    for (;;) {
        while (at < doc->len && is_space(doc->text[at]))
            at++;
        if (at >= doc->len || !begins_comment(doc, at))
            return at;
        end = comment_end(doc, at);
        if (!end)
            return at;
        at = end;
    }
}

/* --- Parsing --- */

static bool fail(struct parser *parser, const char *problem)
{
    if (!parser->problem)
        parser->problem = problem;
    return false;
}

static void skip(struct parser *parser)
{
    parser->at = al_jsonc_skip(parser->doc, parser->at);
}

static char peek(const struct parser *parser)
{
    return parser->at < parser->doc->len ? parser->doc->text[parser->at] : '\0';
}

/* Nodes double when their count is a power of two. */
static size_t add_node(struct al_jsonc *doc)
{
    if (!(doc->count & (doc->count - 1)))
        doc->nodes =
            al_reallocarray(doc->nodes, doc->count ? 2 * doc->count : 1, sizeof(*doc->nodes));
    doc->nodes[doc->count] = (struct al_jsonc_node){ .kind = 0 };
    return doc->count++;
}

/* jansson knows what a string literal, a number and a word may look like. */
static bool check_scalar(struct parser *parser, size_t begin)
{
    json_t *value = json_loadb(parser->doc->text + begin, parser->at - begin,
                               JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

    json_decref(value);
    return value || fail(parser, "this is no value of JSON");
}

static bool read_string(struct parser *parser)
{
    const struct al_jsonc *doc = parser->doc;
    const size_t begin = parser->at++;

    while (parser->at < doc->len && doc->text[parser->at] != '"') {
        if (doc->text[parser->at] == '\n')
            return fail(parser, "a string does not end on its line");
        parser->at += doc->text[parser->at] == '\\' ? 2 : 1;
    }
    if (parser->at >= doc->len)
        return fail(parser, "a string does not end");
    parser->at++;
    return check_scalar(parser, begin);
}

static bool read_word(struct parser *parser)
{
    const struct al_jsonc *doc = parser->doc;
    const size_t begin = parser->at;

    while (parser->at < doc->len) {
        const char c = doc->text[parser->at];

        if (!is_digit(c) && !(c >= 'a' && c <= 'z') && c != 'E' && c != '+' && c != '-' && c != '.')
            break;
        parser->at++;
    }
    if (parser->at == begin)
        return fail(parser, begin < doc->len ? "a value is missing" : "the text ends too early");
    return check_scalar(parser, begin);
}

static bool read_value(struct parser *parser, size_t node);

static bool read_name(struct parser *parser, size_t node)
{
    struct al_jsonc *doc = parser->doc;

    if (peek(parser) != '"')
        return fail(parser, "the name of a member is missing");
    doc->nodes[node].key_begin = parser->at;
    if (!read_string(parser))
        return false;
    doc->nodes[node].key_end = parser->at;
    skip(parser);
    if (peek(parser) != ':')
        return fail(parser, "':' is missing after the name of a member");
    parser->at++;
    skip(parser);
    return true;
}

/* Read one member or item, and the comma after it. */
static bool read_entry(struct parser *parser, size_t container)
{
    struct al_jsonc *doc = parser->doc;
    const size_t entry = add_node(doc), last = doc->nodes[container].last;

    if (last)
        doc->nodes[last].next = entry;
    else
        doc->nodes[container].child = entry;
    doc->nodes[container].last = entry;
    doc->nodes[container].count++;
    if (doc->nodes[container].kind == '{' && !read_name(parser, entry))
        return false;
    if (!read_value(parser, entry))
        return false;
    skip(parser);
    if (peek(parser) == ',') {
        doc->nodes[entry].comma_end = ++parser->at;
        skip(parser);
    }
    return true;
}

static bool read_container(struct parser *parser, size_t node)
{
    struct al_jsonc *doc = parser->doc;
    const char close = doc->nodes[node].kind == '{' ? '}' : ']';
    size_t last;

    if (++parser->depth > AL_JSONC_DEPTH_MAX)
        return fail(parser, "it is nested too deeply");
    parser->at++;
    skip(parser);
    while (peek(parser) != close) {
        last = doc->nodes[node].last;
        if (parser->at >= doc->len)
            return fail(parser, "the text ends too early");
        if (last && !doc->nodes[last].comma_end)
            return fail(parser, "',' is missing between two values");
        if (!read_entry(parser, node))
            return false;
    }
    parser->at++;
    parser->depth--;
    return true;
}

/* At most AL_JSONC_DEPTH_MAX levels of recursion. */
static bool read_value(struct parser *parser, size_t node)
{
    struct al_jsonc *doc = parser->doc;
    const char kind = peek(parser);
    bool good;

    doc->nodes[node].kind = kind;
    doc->nodes[node].begin = parser->at;
    if (!doc->nodes[node].key_end)
        doc->nodes[node].key_begin = parser->at;
    if (kind == '{' || kind == '[')
        good = read_container(parser, node);
    else if (kind == '"')
        good = read_string(parser);
    else
        good = read_word(parser);
    doc->nodes[node].end = parser->at;
    return good;
}

static unsigned line_of(const struct al_jsonc *doc, size_t at)
{
    unsigned line = 1;

    for (size_t i = 0; i < at && i < doc->len; i++)
        line += doc->text[i] == '\n';
    return line;
}

int al_jsonc_parse(const char *text, size_t len, struct al_jsonc *ret, struct al_error *err)
{
    al_auto(al_jsonc_clear) struct al_jsonc doc = { .text = text, .len = len };
    struct parser parser = { .doc = &doc };

    if (begins(&doc, 0, "\xEF\xBB\xBF"))
        parser.at = 3;
    skip(&parser);
    if (read_value(&parser, add_node(&doc))) {
        skip(&parser);
        if (parser.at < len)
            (void)fail(&parser, "there is more text after the value");
    }
    if (parser.problem)
        return al_error_set(err, AL_ERR_BAD_ARGS, "line %u: %s", line_of(&doc, parser.at),
                            parser.problem);
    *ret = doc;
    doc = AL_JSONC_INIT;
    return 0;
}

void al_jsonc_clear(struct al_jsonc *doc)
{
    free(doc->nodes);
    *doc = AL_JSONC_INIT;
}

/* --- Looking --- */

static bool is_named(const struct al_jsonc *doc, const struct al_jsonc_node *node, const char *name)
{
    json_t *key = json_loadb(doc->text + node->key_begin, node->key_end - node->key_begin,
                             JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    const bool same = key && json_string_length(key) == strlen(name) &&
                      !memcmp(json_string_value(key), name, strlen(name));

    json_decref(key);
    return same;
}

size_t al_jsonc_member(const struct al_jsonc *doc, size_t object, const char *name, bool *ret_again)
{
    size_t found = 0;

    if (ret_again)
        *ret_again = false;
    if (doc->nodes[object].kind != '{')
        return 0;
    for (size_t i = doc->nodes[object].child; i; i = doc->nodes[i].next) {
        if (!is_named(doc, &doc->nodes[i], name))
            continue;
        if (found && ret_again)
            *ret_again = true;
        if (!found)
            found = i;
    }
    return found;
}

/* At most AL_JSONC_DEPTH_MAX levels of recursion. */
void al_jsonc_strict(const struct al_jsonc *doc, size_t node, struct al_str *out)
{
    const struct al_jsonc_node *value = &doc->nodes[node], *child;

    if (value->kind != '{' && value->kind != '[') {
        al_str_add(out, doc->text + value->begin, value->end - value->begin);
        return;
    }
    al_str_addc(out, value->kind);
    for (size_t i = value->child; i; i = child->next) {
        child = &doc->nodes[i];
        if (child->key_end) {
            al_str_add(out, doc->text + child->key_begin, child->key_end - child->key_begin);
            al_str_addc(out, ':');
        }
        al_jsonc_strict(doc, i, out);
        if (child->next)
            al_str_addc(out, ',');
    }
    al_str_addc(out, value->kind == '{' ? '}' : ']');
}
