// SPDX-License-Identifier: Apache-2.0
/* Values, and reading them: the events of libyaml become a tree. */
#include "base/value.h"

#include <stdlib.h>

#include "base/nearest.h"
#include "base/str.h"
#include "base/utf8.h"

/* Looking at a tree: members, types, and what messages say about them. */

int al_value_error(const struct al_value *value, struct al_error *err, const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str what = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&what, fmt, args);
    va_end(args);
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s:%u: %s%s%s", value->file, value->line, value->key,
                        *value->key ? ": " : "", what.buf);
}

const struct al_value *al_value_get(const struct al_value *mapping, const char *name)
{
    for (size_t i = 0; mapping->type == AL_VALUE_MAPPING && i < mapping->count; i++)
        if (!strcmp(mapping->items[i].name, name))
            return &mapping->items[i];
    return NULL;
}

static const char *const type_names[] = {
    [AL_VALUE_NULL] = "empty",          [AL_VALUE_BOOL] = "true or false",
    [AL_VALUE_NUMBER] = "a number",     [AL_VALUE_STRING] = "a string",
    [AL_VALUE_LIST] = "a list",         [AL_VALUE_MAPPING] = "a mapping",
    [AL_VALUE_TIME] = "a date or time",
};

int al_value_check_type(const struct al_value *value, enum al_value_type wanted,
                        struct al_error *err)
{
    const bool needs_quotes = wanted == AL_VALUE_STRING && value->text && *value->text;

    if (value->type == wanted)
        return 0;
    return al_value_error(value, err, "must be %s, not %s%s", type_names[wanted],
                          type_names[value->type], needs_quotes ? "; put it in quotes" : "");
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(text, *words))
            return true;
    return false;
}

int al_value_check_names(const struct al_value *value, const char *const *names,
                         struct al_error *err)
{
    int r = al_value_check_type(value, AL_VALUE_MAPPING, err);

    for (size_t i = 0; r == 0 && i < value->count; i++) {
        const struct al_value *member = &value->items[i];
        struct al_nearest nearest = { .word = member->name };

        for (size_t k = 0; names[k]; k++)
            al_nearest_offer(&nearest, names[k]);
        if (!is_one_of(member->name, names))
            r = al_value_error(member, err, "unknown key%s%s%s",
                               nearest.found ? ", did you mean '" : "",
                               nearest.found ? nearest.found : "", nearest.found ? "'?" : "");
    }
    return r;
}

int al_value_check_string(const struct al_value *value, size_t max_bytes, struct al_error *err)
{
    int r = al_value_check_type(value, AL_VALUE_STRING, err);

    if (r == 0 && !*value->text)
        return al_value_error(value, err, "must not be empty");
    if (r == 0 && strlen(value->text) > max_bytes)
        return al_value_error(value, err, "must be at most %zu bytes", max_bytes);
    return r;
}

int al_value_check_list(const struct al_value *value, size_t min, size_t max, struct al_error *err)
{
    int r = al_value_check_type(value, AL_VALUE_LIST, err);

    if (r == 0 && (value->count < min || value->count > max))
        r = al_value_error(value, err, "must have between %zu and %zu items", min, max);
    return r;
}

int al_value_get_string(const struct al_value *mapping, const char *name, size_t max_bytes,
                        const char **ret_text, struct al_error *err)
{
    const struct al_value *member = al_value_get(mapping, name);
    int r = member ? al_value_check_string(member, max_bytes, err) : 0;

    if (r == 0)
        *ret_text = member ? member->text : NULL;
    return r;
}

void al_value_clear(struct al_value *value)
{
    for (size_t i = 0; i < value->count; i++)
        al_value_clear(&value->items[i]); /* not deeper than AL_YAML_DEPTH_MAX */
    free(value->items);
    free(value->key);
    free(value->name);
    free(value->text);
    *value = (struct al_value){ .type = AL_VALUE_NULL };
}

#ifndef AL_WITHOUT_WORKERS
#include <yaml.h>

struct reader {
    yaml_parser_t parser;
    const char *file, *text;
    size_t len;
    unsigned first_line;
    size_t values;
    struct al_error *err;
};

static int fail_at(const struct reader *reader, size_t line, const char *what)
{
    return al_error_set(reader->err, AL_ERR_BAD_ARGS, "%s:%zu: %s", reader->file,
                        reader->first_line + line, what);
}

/* The line of an offset, from 0, counted as libyaml does for line feeds. */
static size_t line_of(const struct reader *reader, size_t offset)
{
    size_t line = 0;

    for (size_t i = 0; i < offset && i < reader->len; i++)
        line += reader->text[i] == '\n';
    return line;
}

/* Whether a line is indented with a tab. */
static bool has_tab(const struct reader *reader, size_t line)
{
    const char *at = reader->text, *end = at + reader->len;

    for (; line > 0 && at < end; line--) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));

        at = feed ? feed + 1 : end;
    }
    while (at < end && *at == ' ')
        at++;
    return at < end && *at == '\t';
}

static int fail_syntax(const struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem ? parser->problem : "not YAML";

    if (parser->error == YAML_READER_ERROR)
        return fail_at(reader, line_of(reader, parser->problem_offset), problem);
    if (has_tab(reader, parser->problem_mark.line))
        return fail_at(reader, parser->problem_mark.line,
                       "indented with a tab; indent with spaces");
    return fail_at(reader, parser->problem_mark.line, problem);
}

static int next_event(struct reader *reader, yaml_event_t *ret_event)
{
    return yaml_parser_parse(&reader->parser, ret_event) ? 0 : fail_syntax(reader);
}

/* Decimal, octal and hexadecimal integers, and fractions. */
static bool is_number(const char *text)
{
    static const char *const special[] = { ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN", NULL };
    const char *at = text + (*text == '-' || *text == '+');
    size_t digits = strspn(at, "0123456789");

    if (is_one_of(at, special))
        return true;
    if (al_starts_with(text, "0x") || al_starts_with(text, "0o")) {
        const char *allowed = text[1] == 'x' ? "0123456789abcdefABCDEF" : "01234567";

        return text[2] && !text[2 + strspn(text + 2, allowed)];
    }
    at += digits;
    if (*at == '.') {
        size_t more = strspn(++at, "0123456789");

        digits += more;
        at += more;
    }
    if (digits && (*at == 'e' || *at == 'E')) {
        at += 1 + (at[1] == '-' || at[1] == '+');
        return *at && !at[strspn(at, "0123456789")];
    }
    return digits && !*at;
}

/* The core schema of YAML 1.2.  Quotes make a string of anything. */
static enum al_value_type scalar_type(const yaml_event_t *event, const char *text)
{
    static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
    static const char *const bools[] = { "true", "True", "TRUE", "false", "False", "FALSE", NULL };

    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return AL_VALUE_STRING;
    if (is_one_of(text, nulls))
        return AL_VALUE_NULL;
    if (is_one_of(text, bools))
        return AL_VALUE_BOOL;
    return is_number(text) ? AL_VALUE_NUMBER : AL_VALUE_STRING;
}

static int read_scalar(struct reader *reader, const yaml_event_t *event, struct al_value *yaml)
{
    size_t len = event->data.scalar.length;

    yaml->text = al_strndup((const char *)event->data.scalar.value, len);
    if (strlen(yaml->text) != len)
        return al_value_error(yaml, reader->err, "must not contain a NUL");
    yaml->type = scalar_type(event, yaml->text);
    return 0;
}

/* Anchors and tags. */
static int refuse_properties(const struct reader *reader, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    size_t line = event->start_mark.line;

    if (event->type == YAML_ALIAS_EVENT)
        return fail_at(reader, line, "an alias is not read; write the value itself");
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor)
        return fail_at(reader, line, "an anchor is not read; write the value itself");
    return tag ? fail_at(reader, line, "a tag is not read; leave it out") : 0;
}

static int read_value(struct reader *reader, const yaml_event_t *event, unsigned depth,
                      struct al_value *yaml);

static struct al_value *add_item(struct reader *reader, struct al_value *parent, size_t line)
{
    struct al_value *item;

    parent->items = al_reallocarray(parent->items, parent->count + 1, sizeof(*parent->items));
    item = &parent->items[parent->count++];
    *item = (struct al_value){ .file = reader->file, .line = reader->first_line + (unsigned)line };
    return item;
}

static int read_list(struct reader *reader, unsigned depth, struct al_value *yaml)
{
    yaml->type = AL_VALUE_LIST;
    for (;;) {
        al_auto(yaml_event_delete) yaml_event_t event = { .type = YAML_NO_EVENT };
        struct al_value *item;
        int r = next_event(reader, &event);

        if (r < 0 || event.type == YAML_SEQUENCE_END_EVENT)
            return r;
        item = add_item(reader, yaml, event.start_mark.line);
        item->key = al_asprintf("%s[%zu]", yaml->key, yaml->count - 1);
        r = read_value(reader, &event, depth, item);
        if (r < 0)
            return r;
    }
}

/* The name of a member, and its place in the tree. */
static int read_name(struct reader *reader, const yaml_event_t *event,
                     const struct al_value *parent, struct al_value *member)
{
    size_t len = event->data.scalar.length;
    int r = refuse_properties(reader, event);

    if (r < 0)
        return r;
    if (event->type != YAML_SCALAR_EVENT)
        return fail_at(reader, event->start_mark.line, "a key must be a word");
    if (len > AL_YAML_NAME_MAX_BYTES)
        return fail_at(reader, event->start_mark.line, "a key is too long");
    member->name = al_strndup((const char *)event->data.scalar.value, len);
    member->key =
        *parent->key ? al_asprintf("%s.%s", parent->key, member->name) : al_strdup(member->name);
    if (strlen(member->name) != len)
        return al_value_error(member, reader->err, "must not contain a NUL");
    for (const struct al_value *other = parent->items; other < member; other++)
        if (!strcmp(other->name, member->name))
            return al_value_error(member, reader->err, "is there twice");
    return 0;
}

static int read_mapping(struct reader *reader, unsigned depth, struct al_value *yaml)
{
    yaml->type = AL_VALUE_MAPPING;
    for (;;) {
        al_auto(yaml_event_delete) yaml_event_t name = { .type = YAML_NO_EVENT };
        al_auto(yaml_event_delete) yaml_event_t value = { .type = YAML_NO_EVENT };
        struct al_value *member;
        int r = next_event(reader, &name);

        if (r < 0 || name.type == YAML_MAPPING_END_EVENT)
            return r;
        member = add_item(reader, yaml, name.start_mark.line);
        r = read_name(reader, &name, yaml, member);
        if (r == 0)
            r = next_event(reader, &value);
        if (r == 0)
            r = read_value(reader, &value, depth, member);
        if (r < 0)
            return r;
    }
}

static int read_value(struct reader *reader, const yaml_event_t *event, unsigned depth,
                      struct al_value *yaml)
{
    int r = refuse_properties(reader, event);

    if (r < 0)
        return r;
    if (++reader->values > AL_YAML_VALUES_MAX)
        return al_value_error(yaml, reader->err, "there are more than %u values",
                              AL_YAML_VALUES_MAX);
    if (event->type == YAML_SCALAR_EVENT)
        return read_scalar(reader, event, yaml);
    if (depth == AL_YAML_DEPTH_MAX)
        return al_value_error(yaml, reader->err, "is more than %u levels deep", AL_YAML_DEPTH_MAX);
    return event->type == YAML_SEQUENCE_START_EVENT ? read_list(reader, depth + 1, yaml)
                                                    : read_mapping(reader, depth + 1, yaml);
}

/* The events around the only document. */
static int read_document(struct reader *reader, struct al_value *yaml)
{
    for (bool began = false;;) {
        al_auto(yaml_event_delete) yaml_event_t event = { .type = YAML_NO_EVENT };
        int r = next_event(reader, &event);

        if (r < 0 || event.type == YAML_STREAM_END_EVENT)
            return r;
        if (event.type == YAML_DOCUMENT_START_EVENT && began)
            return fail_at(reader, event.start_mark.line, "a second document begins");
        began = began || event.type == YAML_DOCUMENT_START_EVENT;
        if (event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_START_EVENT ||
            event.type == YAML_DOCUMENT_END_EVENT)
            continue;
        r = read_value(reader, &event, 0, yaml);
        if (r < 0)
            return r;
    }
}

/* libyaml names a wrong byte and not its line. */
static int check_encoding(const struct reader *reader)
{
    size_t line = 0;

    for (const char *at = reader->text, *end = at + reader->len; at < end; line++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        const char *next = feed ? feed + 1 : end;

        if (!al_utf8_valid(at, (size_t)(next - at)))
            return fail_at(reader, line, "not UTF-8");
        at = next;
    }
    return 0;
}

int al_yaml_read(const char *file, unsigned first_line, const char *text, size_t len,
                 struct al_value *ret_value, struct al_error *err)
{
    struct reader reader = {
        .file = file, .text = text, .len = len, .first_line = first_line, .err = err
    };
    struct al_value yaml = { .file = file, .line = first_line, .key = al_strdup("") };
    int r = check_encoding(&reader);

    if (r == 0 && !yaml_parser_initialize(&reader.parser))
        abort(); /* out of memory */
    if (r == 0) {
        yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, len);
        r = read_document(&reader, &yaml);
        yaml_parser_delete(&reader.parser);
    }
    if (r < 0)
        al_value_clear(&yaml);
    else
        *ret_value = yaml;
    return r;
}
#endif
