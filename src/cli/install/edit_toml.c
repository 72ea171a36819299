// SPDX-License-Identifier: Apache-2.0
/*
 * Changes of a text of TOML: a table of its own lines is set or removed.
 *
 * toml++ says in which line each table begins.  An entry that is written in another way, as an
 * inline table or with dotted keys, is refused: it is the user's to change.
 */
#include <string.h>

#include "cli/install/settings_text.h"
#include "config/toml.h"

#define ABOVE "mcp_servers"

/** What a walk over the text looks for, and finds. */
struct search {
    const struct al_settings_text *settings;
    const char *table; /* its dotted key */
    unsigned line;     /* of its header; 0: it has none */
    bool with_below;   /* the tables below it belong to its lines */
    unsigned next;     /* the line of the next header behind them, or 0 */
    bool exists;
    json_t *entry; /* its strings and lists of strings; NULL: not wanted */
    char *problem; /* the text is no TOML */
};

/* Where a line begins; lines count from 1.  The end of the text for a line that it does not have.
 */
static size_t begin_of_line(const struct al_str *text, unsigned line)
{
    size_t at = 0;

    while (--line && at < text->len) {
        const char *end = memchr(text->buf + at, '\n', text->len - at);

        at = end ? (size_t)(end - text->buf) + 1 : text->len;
    }
    return at;
}

static bool is_header(const struct al_str *text, unsigned line)
{
    const size_t at = begin_of_line(text, line);

    return at < text->len && text->buf[at + strspn(text->buf + at, " \t")] == '[';
}

static bool is_below(const char *key, const char *table)
{
    return al_starts_with(key, table) && key[strlen(table)] == '.';
}

static void take_value(const struct al_toml_value *value, json_t *entry)
{
    al_auto(al_freep) char *name = al_strndup(value->name, value->name_len);
    json_t *list;

    if (value->type == AL_TOML_STRING) {
        al_json_set(entry, name, al_json_stringn(value->items[0].text, value->items[0].len));
    } else if (value->type == AL_TOML_STRINGS) {
        list = al_json_array();
        for (size_t i = 0; i < value->nitems; i++)
            al_json_append(list, al_json_stringn(value->items[i].text, value->items[i].len));
        al_json_set(entry, name, list);
    } else if (value->type == AL_TOML_INT) {
        al_json_set(entry, name, al_json_int(value->integer));
    }
}

static bool visit(void *payload, const struct al_toml_value *value)
{
    struct search *search = payload;
    const struct al_str *text = &search->settings->text;
    const bool is_table = value->type == AL_TOML_TABLE, own = !strcmp(value->key, search->table);

    if (own)
        search->exists = true;
    if (own && is_table && is_header(text, value->line))
        search->line = value->line;
    if (search->entry && is_below(value->key, search->table) && value->depth == 2)
        take_value(value, search->entry);
    return true;
}

static bool visit_next(void *payload, const struct al_toml_value *value)
{
    struct search *search = payload;

    if (search->with_below && is_below(value->key, search->table))
        return true;
    if (value->line > search->line && (!search->next || value->line < search->next) &&
        (value->type == AL_TOML_TABLE || value->type == AL_TOML_TABLES) &&
        is_header(&search->settings->text, value->line))
        search->next = value->line;
    return true;
}

static void note_problem(void *payload, unsigned line, const char *what)
{
    struct search *search = payload;

    if (!search->problem)
        search->problem = al_asprintf("line %u: %s", line, what);
}

static int walk(struct search *search, al_toml_visit_fn visitor, struct al_error *err)
{
    const struct al_str *text = &search->settings->text;
    int r = al_toml_walk(text->buf ? text->buf : "", text->len, visitor, note_problem, search);

    if (r < 0)
        r = al_error_set(err, AL_ERR_BAD_ARGS, "%s",
                         search->problem ? search->problem : "it is no TOML");
    al_freep(&search->problem);
    return r;
}

/* Find the lines of the table: up to the next header, without the blank lines and comments before
 * that. */
static int find_lines(struct search *search, size_t *ret_begin, size_t *ret_end,
                      struct al_error *err)
{
    const struct al_str *text = &search->settings->text;
    size_t end, begin;
    int r = walk(search, visit_next, err);

    if (r < 0)
        return r;
    *ret_begin = begin_of_line(text, search->line);
    end = search->next ? begin_of_line(text, search->next) : text->len;
    while (end > *ret_begin) {
        for (begin = end - 1; begin > *ret_begin && text->buf[begin - 1] != '\n';)
            begin--;
        if (!strchr("#\r\n", text->buf[begin + strspn(text->buf + begin, " \t")]))
            break;
        end = begin;
    }
    *ret_end = end;
    return 0;
}

static void add_string(const json_t *value, struct al_str *out)
{
    al_json_quote(json_string_value(value), json_string_length(value), out);
}

static void add_value(const json_t *value, struct al_str *out)
{
    const json_t *item;
    size_t i;

    if (json_is_integer(value)) {
        al_str_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_array(value)) {
        al_str_addc(out, '[');
        json_array_foreach(value, i, item)
        {
            al_str_adds(out, i ? ", " : "");
            add_string(item, out);
        }
        al_str_addc(out, ']');
    } else {
        add_string(value, out);
    }
}

static void add_table(const char *table, const json_t *entry, const char *newline,
                      struct al_str *out)
{
    const char *name;
    const json_t *value;
    json_t *members = (json_t *)entry; /* the iterator of jansson does not change it */

    al_str_addf(out, "[%s]%s", table, newline);
    json_object_foreach(members, name, value)
    {
        al_str_addf(out, "%s = ", name);
        add_value(value, out);
        al_str_adds(out, newline);
    }
}

static int find(const struct al_settings_text *settings, const char *table, struct search *ret,
                struct al_error *err)
{
    *ret = (struct search){ .settings = settings, .table = table };
    return walk(ret, visit, err);
}

static bool has_crlf(const struct al_str *text)
{
    const char *end = text->len ? memchr(text->buf, '\n', text->len) : NULL;

    return end && end > text->buf && end[-1] == '\r';
}

int al_settings_toml_put(struct al_settings_text *settings, const char *name, const json_t *entry,
                         struct al_error *err)
{
    al_auto(al_freep) char *table = al_asprintf(ABOVE ".%s", name);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_json_decrefp) json_t *now = al_settings_toml_get(settings, name);
    al_auto(al_json_decrefp) json_t *after = NULL;
    const char *newline = has_crlf(&settings->text) ? "\r\n" : "\n";
    struct search search;
    size_t begin, end;
    int r = find(settings, table, &search, err);

    if (r < 0 || (now && json_equal(now, entry)))
        return r;
    begin = end = settings->text.len;
    if (search.line)
        r = find_lines(&search, &begin, &end, err);
    else if (begin)
        al_str_addf(&text, "%s%s", settings->text.buf[begin - 1] == '\n' ? "" : newline, newline);
    if (r < 0)
        return r;
    add_table(table, entry, newline, &text);
    al_settings_text_replace(settings, begin, end, text.buf);
    after = al_settings_toml_get(settings, name);
    return after && json_equal(after, entry)
               ? 0
               : al_error_set(err, AL_ERR_BAD_ARGS,
                              "%s is written in a way that cannot be changed here", table);
}

int al_settings_toml_remove(struct al_settings_text *settings, const char *name,
                            struct al_error *err)
{
    al_auto(al_freep) char *table = al_asprintf(ABOVE ".%s", name);
    struct search search;
    size_t begin, end;
    int r = find(settings, table, &search, err);

    if (r < 0 || !search.exists)
        return r;
    if (!search.line)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "%s is written in a way that cannot be changed here", table);
    search.with_below = true;
    r = find_lines(&search, &begin, &end, err);
    if (r == 0)
        al_settings_text_replace(settings, begin, end, "");
    return r;
}

json_t *al_settings_toml_get(const struct al_settings_text *settings, const char *name)
{
    al_auto(al_freep) char *table = al_asprintf(ABOVE ".%s", name);
    json_t *entry = al_json_object();
    struct search search = { .settings = settings, .table = table, .entry = entry };

    if (walk(&search, visit, NULL) == 0 && search.exists)
        return entry;
    json_decref(entry);
    return NULL;
}
