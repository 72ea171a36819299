// SPDX-License-Identifier: Apache-2.0
/*
 * Changes of a text of JSON.  An added text looks like its neighbours: the same indentation, the
 * same line ends, and one line where the object is written on one line.
 *
 * Positions come from a copy of the text of the same length, in which comments and trailing commas
 * are white space.  jansson says whether the copy is JSON, so that what looks for a value in it
 * meets none that is malformed.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/install/settings.h"

/* A trailing comma of the text, in the copy; the copy has no other carriage return. */
#define TRAILING '\r'

/* A member of an object, or an item of an array: positions in the text. */
struct entry {
    size_t key_begin;  /* the name with its quotes; of an item: where the value begins */
    size_t begin, end; /* the value */
};

struct doc {
    const struct al_str *text;
    struct al_str copy;
    struct entry top; /* from find() on */
};

/* The extent to which a path leads. */
struct found {
    struct entry value, above; /* of the last name that was found; of the object that has it */
    al_settings_path missing;  /* the first name that was not found; *missing is NULL: all were */
};

/* --- The copy --- */

static size_t end_of_string(const char *text, size_t len, size_t at)
{
    for (at++; at < len && text[at] != '"'; at++)
        at += text[at] == '\\' && at + 1 < len;
    return at < len ? at + 1 : len;
}

/* The end of the comment that begins at `at`; `at`: there is none, or it does not end. */
static size_t end_of_comment(const char *text, size_t len, size_t at)
{
    const char *end;

    if (len - at < 2 || text[at] != '/' || (text[at + 1] != '/' && text[at + 1] != '*'))
        return at;
    if (text[at + 1] == '/') {
        end = memchr(text + at, '\n', len - at);
        return end ? (size_t)(end - text) : len;
    }
    end = memmem(text + at + 2, len - at - 2, "*/", 2);
    return end ? (size_t)(end - text) + 2 : at;
}

static void make_copy(struct doc *doc)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* a byte order mark may come first */
    const size_t len = doc->text->len;
    const char *text = doc->text->buf;
    char *copy, last = '{', before = '{';
    size_t comma = 0, end;

    al_str_add(&doc->copy, text, len);
    copy = doc->copy.buf;
    if (al_starts_with(text, mark))
        memset(copy, ' ', strlen(mark));
    for (size_t at = 0; at < len; at = end) {
        end = end_of_comment(text, len, at);
        if (end > at) {
            memset(copy + at, ' ', end - at);
            continue;
        }
        end = text[at] == '"' ? end_of_string(text, len, at) : at + 1;
        if (copy[at] == '\r')
            copy[at] = ' ';
        if (strchr(" \t\n", copy[at]))
            continue;
        if (strchr("]}", copy[at]) && last == ',' && !strchr("{[,:", before))
            copy[comma] = TRAILING;
        if (copy[at] == ',')
            comma = at;
        before = last;
        last = copy[at];
    }
}

static void doc_clear(struct doc *doc)
{
    al_str_clear(&doc->copy);
}

static int doc_open(struct doc *doc, struct al_error *err)
{
    json_t *all;
    json_error_t why;
    unsigned line = 1;

    make_copy(doc);
    all = json_loadb(doc->copy.buf, doc->copy.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    if (!all) {
        for (int i = 0; i < why.position && (size_t)i < doc->text->len; i++)
            line += doc->text->buf[i] == '\n';
        return al_error_set(err, AL_ERR_BAD_ARGS, "line %u: %s", line, why.text);
    }
    json_decref(all);
    return 0;
}

/* The value that begins here, and its end. */
static json_t *value_at(const struct doc *doc, size_t begin, size_t *ret_end)
{
    json_error_t read;
    json_t *value = json_loadb(doc->copy.buf + begin, doc->copy.len - begin,
                               JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DISABLE_EOF_CHECK, &read);

    *ret_end = begin + (size_t)read.position;
    return value;
}

/* --- Looking --- */

static size_t skip_space(const struct doc *doc, size_t at)
{
    return at + strspn(doc->copy.buf + at, " \t\n\r");
}

static size_t end_of_value(const struct doc *doc, size_t at)
{
    json_decref(value_at(doc, at, &at));
    return at;
}

/* Go to the next entry of an object or array; *entry begins as { .end = 0 }. */
static bool next_entry(const struct doc *doc, const struct entry *above, struct entry *entry)
{
    const char *copy = doc->copy.buf;
    size_t at = skip_space(doc, entry->end ? entry->end : above->begin + 1);

    if (copy[at] == ',')
        at = skip_space(doc, at + 1);
    if (at >= above->end - 1)
        return false;
    entry->key_begin = at;
    if (copy[above->begin] == '{') {
        at = skip_space(doc, skip_space(doc, end_of_value(doc, at)) + 1);
    }
    entry->begin = at;
    entry->end = end_of_value(doc, at);
    return true;
}

/* Whether the value that begins here is this one. */
static bool is_equal(const struct doc *doc, size_t begin, const json_t *other)
{
    al_auto(al_json_decrefp) json_t *value = value_at(doc, begin, &begin);

    return json_equal(value, other);
}

static bool find_nth(const struct doc *doc, const struct entry *array, const char *index,
                     struct entry *ret)
{
    for (unsigned long i = strtoul(index, NULL, 10) + 1; i; i--)
        if (!next_entry(doc, array, ret))
            return false;
    return true;
}

static int find(struct doc *doc, al_settings_path path, struct found *ret, struct al_error *err)
{
    doc->top.key_begin = doc->top.begin = skip_space(doc, 0);
    doc->top.end = end_of_value(doc, doc->top.begin);
    ret->value = doc->top;
    for (; *ret->missing; ret->missing++) {
        struct entry entry = { .end = 0 }, member = { .end = 0 };
        al_auto(al_json_decrefp) json_t *name = al_json_string(*ret->missing);

        if (doc->copy.buf[ret->value.begin] == '[' && **ret->missing &&
            strspn(*ret->missing, "0123456789") == strlen(*ret->missing)) {
            if (!find_nth(doc, &ret->value, *ret->missing, &member))
                return 0;
            ret->above = ret->value;
            ret->value = member;
            continue;
        }
        if (doc->copy.buf[ret->value.begin] != '{')
            return al_error_set(err, AL_ERR_BAD_ARGS, "%s is no object",
                                ret->missing == path ? "the file" : ret->missing[-1]);
        while (next_entry(doc, &ret->value, &entry)) {
            if (!is_equal(doc, entry.key_begin, name))
                continue;
            if (member.end) /* readers disagree about the value */
                return al_error_set(err, AL_ERR_BAD_ARGS, "it has '%s' twice", *ret->missing);
            member = entry;
        }
        if (!member.end)
            return 0;
        ret->above = ret->value;
        ret->value = member;
    }
    return 0;
}

/* The value in the array that the path leads to.  False: it is not there. */
static bool find_item(const struct doc *doc, const struct entry *array, const json_t *item,
                      struct entry *ret)
{
    *ret = (struct entry){ .end = 0 };
    while (next_entry(doc, array, ret))
        if (is_equal(doc, ret->begin, item))
            return true;
    return false;
}

/* Behind the comma after a value; 0: there is none. */
static size_t end_of_comma(const struct doc *doc, size_t end)
{
    const size_t at = end + strspn(doc->copy.buf + end, " \t\n");

    return doc->copy.buf[at] == ',' || doc->copy.buf[at] == TRAILING ? at + 1 : 0;
}

/* --- The look of the text --- */

/* The white space with which the line of `at` begins. */
static char *indent_of(const struct doc *doc, size_t at)
{
    size_t begin = at;

    while (begin && doc->text->buf[begin - 1] != '\n')
        begin--;
    return al_strndup(doc->text->buf + begin, strspn(doc->text->buf + begin, " \t"));
}

/* The step from one level to the next, as the first entry shows it.  Caller frees. */
static char *unit_of(const struct doc *doc, const struct entry *container)
{
    struct entry first = { .end = 0 };
    al_auto(al_freep) char *base = indent_of(doc, container->key_begin);
    al_auto(al_freep) char *inner =
        next_entry(doc, container, &first) ? indent_of(doc, first.key_begin) : NULL;

    if (inner && al_starts_with(inner, base) && strlen(inner) > strlen(base))
        return al_strdup(inner + strlen(base));
    return container->begin == doc->top.begin ? al_strdup("  ") : unit_of(doc, &doc->top);
}

static const char *newline_of(const struct doc *doc)
{
    const char *end = memchr(doc->text->buf, '\n', doc->text->len);

    return end && end > doc->text->buf && end[-1] == '\r' ? "\r\n" : "\n";
}

/* Append an entry.  `indent` is that of its line; NULL for `newline`: all of it is on one line. */
static void add_entry(const char *name, const json_t *value, const char *newline,
                      const char *indent, const char *unit, struct al_str *out)
{
    char *dump = json_dumps(value, (newline ? JSON_INDENT(1) : 0) | JSON_ENCODE_ANY);
    al_auto(al_json_decrefp) json_t *key = name ? al_json_string(name) : NULL;
    char *quoted = key ? json_dumps(key, JSON_ENCODE_ANY) : NULL;

    if (quoted)
        al_str_addf(out, "%s: ", quoted);
    free(quoted);
    for (const char *at = dump; at && *at;) {
        const size_t len = strcspn(at, "\n");

        al_str_add(out, at, len);
        at += len;
        if (!*at)
            break;
        al_str_addf(out, "%s%s", newline, indent);
        for (at++; *at == ' '; at++) /* a space for each level */
            al_str_adds(out, unit);
    }
    free(dump);
}

/* --- Changes --- */

/* Add to an object or array that has nothing yet. */
static void fill(const struct doc *doc, struct al_str *text, const struct entry *container,
                 const char *name, const json_t *value)
{
    const char *newline = newline_of(doc);
    al_auto(al_freep) char *unit = unit_of(doc, container);
    al_auto(al_freep) char *base = indent_of(doc, container->key_begin);
    al_auto(al_freep) char *indent = al_asprintf("%s%s", base, unit);
    al_auto(al_str_clear) struct al_str added = AL_STR_INIT;
    size_t begin = container->end - 1;

    while (begin > container->begin + 1 && strchr(" \t\r\n", doc->text->buf[begin - 1]))
        begin--;
    al_str_addf(&added, "%s%s", newline, indent);
    add_entry(name, value, newline, indent, unit, &added);
    al_str_addf(&added, "%s%s", newline, base);
    al_settings_replace(text, begin, container->end - 1, added.buf);
}

/* The end of the line that `at` is on, if only a comment follows there; else `at`. */
static size_t end_of_remark(const struct doc *doc, size_t at)
{
    const char *copy = doc->copy.buf;
    const size_t end = at + strspn(copy + at, " \t");

    return copy[end] == '\n' && end > at ? end - (doc->text->buf[end - 1] == '\r') : at;
}

static void insert(const struct doc *doc, struct al_str *text, const struct entry *container,
                   const char *name, const json_t *value)
{
    struct entry first = { .end = 0 }, last, next;
    al_auto(al_str_clear) struct al_str added = AL_STR_INIT;
    al_auto(al_freep) char *indent = NULL, *unit = NULL;
    size_t comma, begin, end;
    bool lines;

    if (!next_entry(doc, container, &first)) {
        fill(doc, text, container, name, value);
        return;
    }
    for (last = next = first; next_entry(doc, container, &next);)
        last = next;
    comma = end_of_comma(doc, last.end);
    begin = comma ? comma : last.end;
    lines = memchr(doc->text->buf + container->begin, '\n', first.key_begin - container->begin);
    end = lines ? end_of_remark(doc, begin) : begin;
    indent = indent_of(doc, last.key_begin);
    unit = unit_of(doc, container);
    al_str_adds(&added, comma ? "" : ",");
    al_str_add(&added, doc->text->buf + begin, end - begin);
    al_str_addf(&added, "%s%s", lines ? newline_of(doc) : " ", lines ? indent : "");
    add_entry(name, value, lines ? newline_of(doc) : NULL, indent, unit, &added);
    al_str_adds(&added, comma ? "," : "");
    al_settings_replace(text, begin, end, added.buf);
}

/* The comma before it goes if none is behind it. */
static void remove_entry(const struct doc *doc, struct al_str *text, const struct entry *above,
                         const struct entry *gone)
{
    const char *old = doc->text->buf;
    struct entry entry = { .end = 0 };
    size_t begin = gone->key_begin, before = 0;
    const size_t comma = end_of_comma(doc, gone->end);

    while (next_entry(doc, above, &entry) && entry.begin != gone->begin)
        before = entry.end;
    while (begin && strchr(" \t", old[begin - 1]))
        begin--;
    if (begin && old[begin - 1] == '\n')
        begin -= begin > 1 && old[begin - 2] == '\r' ? 2 : 1;
    al_settings_replace(text, begin, comma ? comma : gone->end, "");
    before = before && !comma ? end_of_comma(doc, before) : 0;
    if (before)
        al_settings_replace(text, before - 1, before, "");
}

/* Put the names that are missing around a value.  A new reference. */
static json_t *wrap(al_settings_path names, const json_t *value)
{
    json_t *wrapped;

    if (!*names)
        return json_deep_copy(value);
    wrapped = al_json_object();
    al_json_set(wrapped, *names, wrap(names + 1, value));
    return wrapped;
}

static bool is_blank(const struct al_str *text)
{
    return strspn(text->buf, " \t\r\n") == text->len;
}

/* Open the document, and go where the path leads.  An empty text leads nowhere. */
static int look(struct doc *doc, al_settings_path path, struct found *ret, struct al_error *err)
{
    int r = 0;

    *ret = (struct found){ .missing = path };
    if (!is_blank(doc->text))
        r = doc_open(doc, err);
    return r < 0 || is_blank(doc->text) ? r : find(doc, path, ret, err);
}

int al_settings_json_put(struct al_str *text, al_settings_path path, const json_t *value,
                         struct al_error *err)
{
    al_auto(doc_clear) struct doc doc = { .text = text, .copy = AL_STR_INIT };
    al_auto(al_json_decrefp) json_t *wrapped = NULL;
    struct found found;
    int r;

    if (is_blank(text))
        al_settings_replace(text, 0, text->len, "{}\n");
    r = look(&doc, path, &found, err);
    if (r < 0)
        return r;
    if (*found.missing) {
        wrapped = wrap(found.missing + 1, value);
        insert(&doc, text, &found.value, *found.missing, wrapped);
        return 0;
    }
    if (!is_equal(&doc, found.value.begin, value)) {
        al_auto(al_freep) char *unit = unit_of(&doc, &doc.top);
        al_auto(al_freep) char *indent = indent_of(&doc, found.value.key_begin);
        al_auto(al_str_clear) struct al_str by = AL_STR_INIT;

        add_entry(NULL, value, newline_of(&doc), indent, unit, &by);
        al_settings_replace(text, found.value.begin, found.value.end, by.buf);
    }
    return 0;
}

int al_settings_json_add(struct al_str *text, al_settings_path path, const json_t *item,
                         struct al_error *err)
{
    al_auto(doc_clear) struct doc doc = { .text = text, .copy = AL_STR_INIT };
    al_auto(al_json_decrefp) json_t *list = al_json_array();
    struct found found;
    struct entry there;
    int r = look(&doc, path, &found, err);

    al_json_append(list, json_deep_copy(item));
    if (r < 0)
        return r;
    if (*found.missing)
        return al_settings_json_put(text, path, list, err);
    if (doc.copy.buf[found.value.begin] != '[')
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s is no array", found.missing[-1]);
    if (!find_item(&doc, &found.value, item, &there))
        insert(&doc, text, &found.value, NULL, item);
    return 0;
}

json_t *al_settings_json_get(const struct al_str *text, al_settings_path path)
{
    al_auto(doc_clear) struct doc doc = { .text = text, .copy = AL_STR_INIT };
    struct found found;

    return look(&doc, path, &found, NULL) < 0 || *found.missing
               ? NULL
               : value_at(&doc, found.value.begin, &found.value.end);
}

/* Whether an object or array has nothing but this entry, not even a comment. */
static bool is_alone(const struct doc *doc, const struct entry *above, const struct entry *entry)
{
    const char *text = doc->text->buf;
    const size_t begin = above->begin + 1;

    return begin + strspn(text + begin, " \t\r\n") == entry->key_begin &&
           entry->end + strspn(text + entry->end, " \t\r\n,") == above->end - 1;
}

int al_settings_json_remove(struct al_str *text, al_settings_path path, const json_t *item,
                            struct al_error *err)
{
    al_auto(doc_clear) struct doc doc = { .text = text, .copy = AL_STR_INIT };
    const char *shorter[AL_SETTINGS_PATH_MAX] = { NULL };
    struct found found;
    struct entry there;
    int r = look(&doc, path, &found, err);

    if (r < 0 || *found.missing)
        return r;
    if (!item)
        there = found.value;
    else if (doc.copy.buf[found.value.begin] != '[' || !find_item(&doc, &found.value, item, &there))
        return 0;
    else
        found.above = found.value;
    for (size_t i = 0; path[i] && (item || path[i + 1]); i++)
        shorter[i] = path[i];
    if (*shorter && is_alone(&doc, &found.above, &there))
        return al_settings_json_remove(text, shorter, NULL, err);
    remove_entry(&doc, text, &found.above, &there);
    return 0;
}
