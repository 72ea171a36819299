// SPDX-License-Identifier: Apache-2.0
/*
 * Changes of a text of TOML: a table of its own lines is set or removed.
 *
 * toml++ says in which line each table begins.  An entry that is written in another way, as an
 * inline table or with dotted keys, is refused: it is the user's to change.
 */
#include <string.h>

#include "cli/config/toml.h"
#include "cli/install/settings.h"

/* What a walk over the text looks for, and finds. */
struct search {
    const struct al_str *text;
    const char *table; /* its dotted key */
    unsigned line;     /* of its header; 0: it has none */
    unsigned next;     /* the line of the next header that is not below it, or 0 */
    bool exists;
    json_t *entry; /* its strings, whole numbers and lists of strings */
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

static bool is_header(const struct al_str *text, const struct al_toml_value *value)
{
    const size_t at = begin_of_line(text, value->line);

    return (value->type == AL_TOML_TABLE || value->type == AL_TOML_TABLES) && at < text->len &&
           text->buf[at + strspn(text->buf + at, " \t")] == '[';
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

/* The first walk finds the table, the second the header behind it. */
static bool visit(void *payload, const struct al_toml_value *value)
{
    struct search *search = payload;
    const size_t len = strlen(search->table);
    const bool within = !strncmp(value->key, search->table, len);

    if (within && !value->key[len]) {
        search->exists = true;
        if (is_header(search->text, value))
            search->line = value->line;
    } else if (within && value->key[len] == '.') {
        if (value->depth == 2)
            take_value(value, search->entry);
    } else if (search->line && value->line > search->line && is_header(search->text, value) &&
               (!search->next || value->line < search->next)) {
        search->next = value->line;
    }
    return true;
}

static void note_problem(void *payload, unsigned line, const char *what)
{
    struct search *search = payload;

    if (!search->problem)
        search->problem = al_asprintf("line %u: %s", line, what);
}

static void search_clear(struct search *search)
{
    json_decref(search->entry);
    free(search->problem);
}

static int find(struct search *search, struct al_error *err)
{
    const struct al_str *text = search->text;

    search->entry = al_json_object();
    for (int walk = 0; walk < 2; walk++)
        if (al_toml_walk(text->buf, text->len, visit, note_problem, search) < 0)
            return al_error_set(err, AL_ERR_BAD_ARGS, "%s",
                                search->problem ? search->problem : "it is no TOML");
    return 0;
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
    al_auto(search_clear) struct search search = { .text = text, .table = table };
    al_auto(al_json_decrefp) json_t *after = NULL;
    al_auto(al_str_clear) struct al_str added = AL_STR_INIT;
    const char *newline = strstr(text->buf, "\r\n") ? "\r\n" : "\n";
    size_t begin = text->len, end = text->len;
    int r = find(&search, err);

    if (r < 0 || (search.exists && json_equal(search.entry, entry)))
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
    al_auto(search_clear) struct search search = { .text = text, .table = table };
    size_t begin = 0, end = 0;
    int r = find(&search, err);

    if (r < 0 || !search.exists)
        return r;
    if (!search.line)
        return fail(table, err);
    find_lines(&search, &begin, &end);
    al_settings_replace(text, begin, end, "");
    return 0;
}

json_t *al_settings_toml_get(const struct al_str *text, const char *table)
{
    al_auto(search_clear) struct search search = { .text = text, .table = table };

    return find(&search, NULL) == 0 && search.exists ? json_incref(search.entry) : NULL;
}
