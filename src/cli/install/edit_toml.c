// SPDX-License-Identifier: Apache-2.0
/*
 * Changes of a text of TOML: a table of its own lines is set or removed.
 *
 * toml++ says in which line each table begins.  An entry that is written in another way, as an
 * inline table or with dotted keys, is refused: it is the user's to change.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/config/toml.h"
#include "cli/install/settings.h"

/* The facts about a table. */
struct search {
    const struct al_str *text;
    struct al_value toml;
    const struct al_value *table; /* NULL: there is none */
    unsigned line;                /* of its header; 0: it has none */
    unsigned next;                /* the line of the next header that is not below it, or 0 */
};

/* The beginning of a line; lines count from 1.  It is the text's end for a line that is not there.
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

/* Find the next header among the tables of a table, and those in lists. */
static void find_next(struct search *search, const struct al_value *above)
{
    for (size_t i = 0; i < above->count; i++) {
        const struct al_value *value = &above->items[i];

        if (value == search->table)
            continue;
        if (value->type == AL_VALUE_MAPPING && value->line > search->line &&
            (!search->next || value->line < search->next) && is_header(search->text, value->line))
            search->next = value->line;
        find_next(search, value);
    }
}

static int find(struct search *search, const char *table, struct al_error *err)
{
    const struct al_str *text = search->text;
    int r = al_toml_read("line", text->buf, text->len, &search->toml, err);

    search->table = r == 0 ? &search->toml : NULL;
    while (search->table && *table) {
        const size_t len = strcspn(table, ".");
        al_auto(al_freep) char *name = al_strndup(table, len);

        search->table = al_value_get(search->table, name);
        table += len + (table[len] == '.');
    }
    if (search->table && is_header(text, search->table->line))
        search->line = search->table->line;
    if (search->line)
        find_next(search, &search->toml);
    return r;
}

static void search_clear(struct search *search)
{
    al_value_clear(&search->toml);
}

/* The strings, whole numbers and lists of strings of a table. */
static json_t *entry_of(const struct al_value *table)
{
    json_t *entry = al_json_object();

    for (size_t i = 0; i < table->count; i++) {
        const struct al_value *value = &table->items[i];
        json_t *list = value->type == AL_VALUE_LIST ? al_json_array() : NULL;

        for (size_t k = 0; list && k < value->count; k++)
            if (value->items[k].type == AL_VALUE_STRING)
                al_json_append(list, al_json_string(value->items[k].text));
        if (value->type == AL_VALUE_STRING)
            al_json_set(entry, value->name, al_json_string(value->text));
        else if (list)
            al_json_set(entry, value->name, list);
        else if (value->type == AL_VALUE_NUMBER)
            al_json_set(entry, value->name, al_json_int(strtoll(value->text, NULL, 10)));
    }
    return entry;
}

/* The lines of the table: up to the next header, without the blank lines and comments before that.
 */
static void find_lines(const struct search *search, size_t *ret_begin, size_t *ret_end)
{
    const struct al_str *text = search->text;
    size_t begin;

    *ret_begin = begin_of_line(text, search->line);
    *ret_end = search->next ? begin_of_line(text, search->next) : text->len;
    while (*ret_end > *ret_begin) {
        for (begin = *ret_end - 1; begin > *ret_begin && text->buf[begin - 1] != '\n';)
            begin--;
        if (!strchr("#\r\n", text->buf[begin + strspn(text->buf + begin, " \t")]))
            break;
        *ret_end = begin;
    }
}

/* A string, a whole number or a list of strings of JSON is one of TOML, too. */
static void add_table(const char *table, const json_t *entry, const char *newline,
                      struct al_str *out)
{
    const char *name;
    const json_t *value;
    json_t *members = (json_t *)entry; /* the iterator of jansson does not change it */

    al_str_addf(out, "[%s]%s", table, newline);
    json_object_foreach(members, name, value)
    {
        char *dump = json_dumps(value, JSON_ENCODE_ANY);

        al_str_addf(out, "%s = %s%s", name, dump, newline);
        free(dump);
    }
}

static int fail(const char *table, struct al_error *err)
{
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s is written in a way that cannot be changed here",
                        table);
}

int al_settings_toml_put(struct al_str *text, const char *table, const json_t *entry,
                         struct al_error *err)
{
    al_auto(search_clear) struct search search = { .text = text };
    al_auto(al_json_decrefp) json_t *before = NULL;
    al_auto(al_json_decrefp) json_t *after = NULL;
    al_auto(al_str_clear) struct al_str added = AL_STR_INIT;
    const char *newline = strstr(text->buf, "\r\n") ? "\r\n" : "\n";
    size_t begin = text->len, end = text->len;
    int r = find(&search, table, err);

    before = search.table ? entry_of(search.table) : NULL;
    if (r < 0 || (before && json_equal(before, entry)))
        return r;
    if (search.line)
        find_lines(&search, &begin, &end);
    else if (begin)
        al_str_addf(&added, "%s%s", text->buf[begin - 1] == '\n' ? "" : newline, newline);
    add_table(table, entry, newline, &added);
    al_settings_replace(text, begin, end, added.buf);
    after = al_settings_toml_get(text, table);
    return after && json_equal(after, entry) ? 0 : fail(table, err);
}

int al_settings_toml_remove(struct al_str *text, const char *table, struct al_error *err)
{
    al_auto(search_clear) struct search search = { .text = text };
    size_t begin = 0, end = 0;
    int r = find(&search, table, err);

    if (r < 0 || !search.table)
        return r;
    if (!search.line)
        return fail(table, err);
    find_lines(&search, &begin, &end);
    al_settings_replace(text, begin, end, "");
    return 0;
}

json_t *al_settings_toml_get(const struct al_str *text, const char *table)
{
    al_auto(search_clear) struct search search = { .text = text };

    return find(&search, table, NULL) == 0 && search.table ? entry_of(search.table) : NULL;
}
