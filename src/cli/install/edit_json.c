// SPDX-License-Identifier: Apache-2.0
/*
 * Changes of a text of JSON.  What is added looks like its neighbours: the same indentation, the
 * same line ends, and one line where the object is written on one line.
 */
#include <string.h>

#include "cli/install/settings_text.h"
#include "util/json.h"
#include "util/jsonc.h"

struct al_json_style {
    const char *newline; /**< between members; NULL: everything is on one line */
    const char *unit;    /**< of indentation */
};
static void json_style_add(const json_t *value, const struct al_json_style *style,
                           const char *indent, struct al_str *out);

/* Append a line end and an indentation. */
static void json_style_newline(const struct al_json_style *style, const char *indent,
                               struct al_str *out)
{
    al_str_adds(out, style->newline);
    al_str_adds(out, indent);
}

static void add_members(const json_t *object, const struct al_json_style *style, const char *indent,
                        struct al_str *out)
{
    al_auto(al_freep) char *deeper = al_asprintf("%s%s", indent, style->unit);
    const char *name, *comma = "";
    const json_t *value;
    json_t *members = (json_t *)object; /* the iterator of jansson does not change it */

    al_str_addc(out, '{');
    json_object_foreach(members, name, value)
    {
        al_str_adds(out, comma);
        if (style->newline)
            json_style_newline(style, deeper, out);
        else if (*comma)
            al_str_addc(out, ' ');
        al_json_quote(name, strlen(name), out);
        al_str_adds(out, ": ");
        json_style_add(value, style, deeper, out);
        comma = ",";
    }
    if (style->newline && *comma)
        json_style_newline(style, indent, out);
    al_str_addc(out, '}');
}

/* Append a value of objects, lists, strings, whole numbers, true and false.  A member of an object
 * has a line of its own; a list is on one line.  `indent` is that of the line the value begins on.
 */
static void json_style_add(const json_t *value, const struct al_json_style *style,
                           const char *indent, struct al_str *out)
{
    const json_t *item;
    size_t i;

    if (json_is_object(value)) {
        add_members(value, style, indent, out);
    } else if (json_is_array(value)) {
        al_str_addc(out, '[');
        json_array_foreach(value, i, item)
        {
            al_str_adds(out, i ? ", " : "");
            json_style_add(item, style, indent, out);
        }
        al_str_addc(out, ']');
    } else if (json_is_string(value)) {
        al_json_quote(json_string_value(value), json_string_length(value), out);
    } else if (json_is_integer(value)) {
        al_str_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else {
        al_str_adds(out, json_is_true(value) ? "true" : "false");
    }
}

#define DEFAULT_UNIT "  "

/* --- The look of the text --- */

/* The white space with which the line of `at` begins. */
static char *indent_of(const struct al_jsonc *doc, size_t at)
{
    size_t begin = at, end;

    while (begin && doc->text[begin - 1] != '\n')
        begin--;
    for (end = begin; end < at && (doc->text[end] == ' ' || doc->text[end] == '\t');)
        end++;
    return al_strndup(doc->text + begin, end - begin);
}

static bool has_newline(const struct al_jsonc *doc, size_t begin, size_t end)
{
    return memchr(doc->text + begin, '\n', end - begin);
}

/* The step from one level to the next, as the members of the object, or of the whole text, show it.
 * Caller frees. */
static char *unit_of(const struct al_jsonc *doc, size_t container)
{
    const size_t child = doc->nodes[container].child;
    al_auto(al_freep) char *base = indent_of(doc, doc->nodes[container].key_begin);
    al_auto(al_freep) char *member = child ? indent_of(doc, doc->nodes[child].key_begin) : NULL;

    if (member && al_starts_with(member, base) && strlen(member) > strlen(base))
        return al_strdup(member + strlen(base));
    return container ? unit_of(doc, 0) : al_strdup(DEFAULT_UNIT);
}

static const char *newline_of(const struct al_jsonc *doc)
{
    const char *end = memchr(doc->text, '\n', doc->len);

    return end && end > doc->text && end[-1] == '\r' ? "\r\n" : "\n";
}

/* The end of the line that `at` is on, if only a comment follows there; else `at`. */
static size_t end_of_remark(const struct al_jsonc *doc, size_t at)
{
    const char *newline = memchr(doc->text + at, '\n', doc->len - at);
    const size_t end = newline ? (size_t)(newline - doc->text) : doc->len;
    size_t begin = at;

    while (begin < end && (doc->text[begin] == ' ' || doc->text[begin] == '\t'))
        begin++;
    if (begin == end || doc->text[begin] != '/' || al_jsonc_skip(doc, begin) < end)
        return at;
    if (doc->text[begin + 1] == '*' && !memmem(doc->text + begin, end - begin, "*/", 2))
        return at; /* goes on in the next line */
    return end - (doc->text[end - 1] == '\r');
}

/* --- Changes --- */

static void add_entry(const char *name, const json_t *value, const struct al_json_style *style,
                      const char *indent, struct al_str *out)
{
    if (name) {
        al_json_quote(name, strlen(name), out);
        al_str_adds(out, ": ");
    }
    json_style_add(value, style, indent, out);
}

/* Add to an object or array that has nothing yet. */
static void fill(struct al_settings_text *settings, const struct al_jsonc *doc, size_t container,
                 const char *name, const json_t *value)
{
    const struct al_jsonc_node *node = &doc->nodes[container];
    al_auto(al_freep) char *unit = unit_of(doc, container);
    al_auto(al_freep) char *base = indent_of(doc, node->key_begin);
    al_auto(al_freep) char *indent = al_asprintf("%s%s", base, unit);
    const struct al_json_style style = { newline_of(doc), unit };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    size_t begin = node->end - 1;

    while (begin > node->begin + 1 && strchr(" \t\r\n", doc->text[begin - 1]))
        begin--;
    json_style_newline(&style, indent, &text);
    add_entry(name, value, &style, indent, &text);
    json_style_newline(&style, base, &text);
    al_settings_text_replace(settings, begin, node->end - 1, text.buf);
}

/* Add behind the last member or item. */
static void append(struct al_settings_text *settings, const struct al_jsonc *doc, size_t container,
                   const char *name, const json_t *value)
{
    const struct al_jsonc_node *node = &doc->nodes[container], *last = &doc->nodes[node->last];
    const bool lines = has_newline(doc, node->begin, doc->nodes[node->child].key_begin);
    const size_t begin = last->comma_end ? last->comma_end : last->end;
    const size_t end = lines ? end_of_remark(doc, begin) : begin;
    al_auto(al_freep) char *unit = unit_of(doc, container);
    al_auto(al_freep) char *indent = indent_of(doc, last->key_begin);
    const struct al_json_style style = { lines ? newline_of(doc) : NULL, unit };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_adds(&text, last->comma_end ? "" : ",");
    al_str_add(&text, doc->text + begin, end - begin);
    if (lines)
        json_style_newline(&style, indent, &text);
    else
        al_str_addc(&text, ' ');
    add_entry(name, value, &style, indent, &text);
    al_str_adds(&text, last->comma_end ? "," : "");
    al_settings_text_replace(settings, begin, end, text.buf);
}

static void insert(struct al_settings_text *settings, const struct al_jsonc *doc, size_t container,
                   const char *name, const json_t *value)
{
    if (doc->nodes[container].child)
        append(settings, doc, container, name, value);
    else
        fill(settings, doc, container, name, value);
}

static void replace_value(struct al_settings_text *settings, const struct al_jsonc *doc,
                          size_t node, const json_t *value)
{
    const struct al_jsonc_node *old = &doc->nodes[node];
    al_auto(al_freep) char *unit = unit_of(doc, 0);
    al_auto(al_freep) char *indent = indent_of(doc, old->key_begin);
    const struct al_json_style style = { newline_of(doc), unit };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    json_style_add(value, &style, indent, &text);
    al_settings_text_replace(settings, old->begin, old->end, text.buf);
}

/* The white space before a member or item, from the end of the line above. */
static size_t begin_of_line(const struct al_jsonc *doc, size_t at)
{
    size_t begin = at;

    while (begin && (doc->text[begin - 1] == ' ' || doc->text[begin - 1] == '\t'))
        begin--;
    if (!begin || doc->text[begin - 1] != '\n')
        return begin;
    begin--;
    return begin && doc->text[begin - 1] == '\r' ? begin - 1 : begin;
}

/* Without a comma behind it, the one before it goes. */
static void remove_node(struct al_settings_text *settings, const struct al_jsonc *doc,
                        size_t container, size_t node)
{
    const struct al_jsonc_node *gone = &doc->nodes[node];
    size_t before = 0;

    for (size_t i = doc->nodes[container].child; i != node; i = doc->nodes[i].next)
        before = i;
    al_settings_text_replace(settings, begin_of_line(doc, gone->key_begin),
                             gone->comma_end ? gone->comma_end : gone->end, "");
    if (!gone->comma_end && before && doc->nodes[before].comma_end)
        al_settings_text_replace(settings, doc->nodes[before].comma_end - 1,
                                 doc->nodes[before].comma_end, "");
}

/* --- Looking --- */

static json_t *value_of(const struct al_jsonc *doc, size_t node)
{
    al_auto(al_str_clear) struct al_str strict = AL_STR_INIT;

    al_jsonc_strict(doc, node, &strict);
    return json_loadb(strict.buf, strict.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

/* How far a path leads. */
struct found {
    size_t node;              /* of the last name that was found; 0: the top object */
    size_t above;             /* the object that has it */
    al_settings_path missing; /* the first name that was not found; *missing is NULL: all were */
};

static int find(const struct al_jsonc *doc, al_settings_path path, struct found *ret,
                struct al_error *err)
{
    bool again = false;

    *ret = (struct found){ .missing = path };
    for (; *ret->missing; ret->missing++) {
        size_t member;

        if (doc->nodes[ret->node].kind != '{')
            return al_error_set(err, AL_ERR_BAD_ARGS, "%s is no object",
                                ret->missing == path ? "the file" : ret->missing[-1]);
        member = al_jsonc_member(doc, ret->node, *ret->missing, &again);
        if (again)
            return al_error_set(err, AL_ERR_BAD_ARGS, "it has '%s' twice", *ret->missing);
        if (!member)
            return 0;
        ret->above = ret->node;
        ret->node = member;
    }
    return 0;
}

/* Put the names that are missing around a value.  A new reference. */
static json_t *wrap(al_settings_path names, const json_t *value)
{
    json_t *wrapped, *inner;

    if (!*names)
        return json_deep_copy(value);
    wrapped = al_json_object();
    inner = wrap(names + 1, value);
    al_json_set(wrapped, *names, inner);
    return wrapped;
}

static bool is_blank(const struct al_str *text)
{
    return !text->buf || strspn(text->buf, " \t\r\n") == text->len;
}

/* Begin a text that has nothing. */
static void begin_text(struct al_settings_text *settings, al_settings_path path,
                       const json_t *value)
{
    const struct al_json_style style = { "\n", DEFAULT_UNIT };
    al_auto(al_json_decrefp) json_t *all = wrap(path, value);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    json_style_add(all, &style, "", &text);
    al_str_addc(&text, '\n');
    al_settings_text_replace(settings, 0, settings->text.len, text.buf);
}

int al_settings_json_put(struct al_settings_text *settings, al_settings_path path,
                         const json_t *value, struct al_error *err)
{
    al_auto(al_jsonc_clear) struct al_jsonc doc = AL_JSONC_INIT;
    al_auto(al_json_decrefp) json_t *wrapped = NULL;
    al_auto(al_json_decrefp) json_t *current = NULL;
    struct found found;
    int r;

    if (is_blank(&settings->text)) {
        begin_text(settings, path, value);
        return 0;
    }
    r = al_jsonc_parse(settings->text.buf, settings->text.len, &doc, err);
    if (r == 0)
        r = find(&doc, path, &found, err);
    if (r < 0)
        return r;
    if (*found.missing) {
        wrapped = wrap(found.missing + 1, value);
        insert(settings, &doc, found.node, *found.missing, wrapped);
        return 0;
    }
    current = value_of(&doc, found.node);
    if (!json_equal(current, value))
        replace_value(settings, &doc, found.node, value);
    return 0;
}

/* The item of an array; 0: it has none of this text. */
static size_t find_item(const struct al_jsonc *doc, size_t array, const char *item)
{
    for (size_t i = doc->nodes[array].child; i; i = doc->nodes[i].next) {
        al_auto(al_json_decrefp) json_t *value = value_of(doc, i);

        if (json_is_string(value) && !strcmp(json_string_value(value), item))
            return i;
    }
    return 0;
}

int al_settings_json_add(struct al_settings_text *settings, al_settings_path path, const char *item,
                         struct al_error *err)
{
    al_auto(al_jsonc_clear) struct al_jsonc doc = AL_JSONC_INIT;
    al_auto(al_json_decrefp) json_t *list = al_json_array();
    al_auto(al_json_decrefp) json_t *value = al_json_string(item);
    struct found found = { .missing = path };
    int r = 0;

    al_json_append(list, al_json_string(item));
    if (!is_blank(&settings->text)) {
        r = al_jsonc_parse(settings->text.buf, settings->text.len, &doc, err);
        if (r == 0)
            r = find(&doc, path, &found, err);
    }
    if (r < 0)
        return r;
    if (*found.missing)
        return al_settings_json_put(settings, path, list, err);
    if (doc.nodes[found.node].kind != '[')
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s is no array", found.missing[-1]);
    if (!find_item(&doc, found.node, item))
        insert(settings, &doc, found.node, NULL, value);
    return 0;
}

/* Find a path in the text.  False: it is not there. */
static bool look(const struct al_settings_text *settings, al_settings_path path,
                 struct al_jsonc *ret_doc, struct found *ret_found)
{
    return !is_blank(&settings->text) &&
           al_jsonc_parse(settings->text.buf, settings->text.len, ret_doc, NULL) == 0 &&
           find(ret_doc, path, ret_found, NULL) == 0 && !*ret_found->missing;
}

json_t *al_settings_json_get(const struct al_settings_text *settings, al_settings_path path)
{
    al_auto(al_jsonc_clear) struct al_jsonc doc = AL_JSONC_INIT;
    struct found found;

    return look(settings, path, &doc, &found) ? value_of(&doc, found.node) : NULL;
}

int al_settings_json_remove(struct al_settings_text *settings, al_settings_path path,
                            struct al_error *err)
{
    al_auto(al_jsonc_clear) struct al_jsonc doc = AL_JSONC_INIT;
    struct found found;
    int r;

    if (is_blank(&settings->text))
        return 0;
    r = al_jsonc_parse(settings->text.buf, settings->text.len, &doc, err);
    if (r == 0)
        r = find(&doc, path, &found, err);
    if (r == 0 && !*found.missing)
        remove_node(settings, &doc, found.above, found.node);
    return r;
}

void al_settings_json_take(struct al_settings_text *settings, al_settings_path path,
                           const char *item)
{
    al_auto(al_jsonc_clear) struct al_jsonc doc = AL_JSONC_INIT;
    struct found found;
    size_t node;

    if (!look(settings, path, &doc, &found) || doc.nodes[found.node].kind != '[')
        return;
    node = find_item(&doc, found.node, item);
    if (node)
        remove_node(settings, &doc, found.node, node);
}
