// SPDX-License-Identifier: Apache-2.0
#include "serve/upstream/private.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/jsonrpc.h"
#include "base/lock.h"
#include "guard/text.h"

#define ELLIPSIS "..."

/* Cut at a character, so that the ellipsis fits too. */
static void cut(struct al_str *text, size_t max_bytes)
{
    size_t len = max_bytes - strlen(ELLIPSIS);

    if (text->len <= max_bytes)
        return;
    while (len > 0 && ((unsigned char)text->buf[len] & 0xc0) == 0x80)
        len--;
    al_str_truncate(text, len);
    al_str_adds(text, ELLIPSIS);
}

static char *finish(struct al_str *text, size_t max_bytes)
{
    al_str_trim_end(text);
    cut(text, max_bytes);
    if (text->len)
        return al_str_detach(text);
    al_str_clear(text);
    return NULL;
}

char *al_upstream_line(const char *text, size_t max_bytes)
{
    struct al_str out = AL_STR_INIT;

    if (!text)
        return NULL;
    al_auto(al_freep) char *line = al_text_join_lines(text);

    al_str_adds(&out, line + strspn(line, " "));
    return finish(&out, max_bytes);
}

char *al_upstream_text(const char *text, size_t max_bytes)
{
    struct al_str out = AL_STR_INIT;

    if (!text)
        return NULL;
    al_text_sanitize(text, strlen(text), &out);
    return finish(&out, max_bytes);
}

static void clean_member(json_t *object, const char *name, size_t max_bytes)
{
    const char *text = al_json_get_string(object, name);
    al_auto(al_freep) char *safe = al_upstream_text(text, max_bytes);

    if (text && !safe)
        al_json_set(object, name, al_json_string(""));
    else if (text && strcmp(text, safe) != 0)
        al_json_set(object, name, al_json_string(safe));
}

static void clean(json_t *value)
{
    const char *name;
    json_t *item;
    size_t i;

    clean_member(value, "title", AL_UPSTREAM_TITLE_MAX_BYTES);
    clean_member(value, "description", AL_UPSTREAM_DESCRIPTION_MAX_BYTES);
    json_array_foreach(value, i, item)
    {
        clean(item);
    }
    json_object_foreach(value, name, item)
    {
        clean(item);
    }
}

/* Read one page. */
static int read_page(struct al_upstream_link *link, const char *cursor, int64_t deadline_ms,
                     struct al_upstream_request *request, char **ret_problem)
{
    al_auto(al_json_decrefp) json_t *params = al_json_object();
    al_auto(al_json_decrefp) json_t *full = NULL;
    int r;

    if (cursor)
        al_json_set(params, "cursor", al_json_string(cursor));
    full = al_upstream_params(link->server, link->revision, params, 0, true);
    al_upstream_link_ask(link, request, "tools/list", full);
    request->is_large = true;
    r = al_upstream_link_await(link, request, NULL, deadline_ms);
    if (r == AL_ERR_TIMEOUT)
        return al_upstream_link_late(link, "tools/list", ret_problem);
    if (r == 0 && !request->result) {
        *ret_problem =
            al_asprintf("answered tools/list with error %d: %s", request->code, request->message);
        r = AL_ERR_EXECUTION;
    }
    return r;
}

/* Read all pages. */
static int read_pages(struct al_upstream_link *link, int64_t deadline_ms,
                      struct al_upstream_list *list, char **ret_problem)
{
    al_auto(al_freep) char *cursor = NULL;
    size_t bytes = 0;

    for (unsigned page = 0; page < AL_UPSTREAM_PAGES_MAX; page++) {
        struct al_upstream_request request = AL_UPSTREAM_REQUEST_INIT;
        int r = read_page(link, cursor, deadline_ms, &request, ret_problem);

        free(al_take(&cursor));
        bytes += request.bytes;
        if (r == 0 && !al_upstream_list_add(list, request.result)) {
            *ret_problem = al_strdup("answered tools/list with something that is no list of tools");
            r = AL_ERR_EXECUTION;
        }
        if (r == 0)
            cursor = al_strdup(al_json_get_string(request.result, "nextCursor"));
        al_upstream_link_forget(link, &request);
        if (r < 0)
            return r;
        if (bytes > AL_UPSTREAM_LIST_MAX_BYTES)
            break;
        if (!cursor)
            return 0;
    }
    *ret_problem = al_strdup("has a list of tools that is too long");
    return AL_ERR_EXECUTION;
}

/* Make the list the server's, unless it is the same: a list stays one object until it changes.
 * True: it is another one. */
static bool publish(const struct al_upstream_link *link, struct al_upstream_list *list)
{
    struct al_upstream *server = link->server;
    const struct al_upstream_tools *spare = al_upstream_list_finish(list);
    bool differs;

    al_hold(&server->lock);
    differs = !al_upstream_tools_equal(server->tools, spare);
    if (differs) {
        const struct al_upstream_tools *old = server->tools;

        server->tools = spare;
        spare = old;
    }
    server->nleft_out = list->nleft_out;
    free(server->left_out);
    server->left_out = al_take(&list->left_out);
    server->list_is_old = link->list_changed; /* it may have changed while it was read */
    al_upstream_signal_all(server);
    al_upstream_tools_unref(spare);
    return differs;
}

int al_upstream_read_tools(struct al_upstream_link *link, int64_t deadline_ms, bool *ret_differs,
                           char **ret_problem)
{
    al_auto(al_upstream_list_clear) struct al_upstream_list list = AL_UPSTREAM_LIST_INIT;
    int r = link->has_tools ? read_pages(link, deadline_ms, &list, ret_problem) : 0;

    if (r == 0)
        *ret_differs = publish(link, &list);
    return r;
}

/* What a reference to a list holds. */
struct shared_list {
    struct al_upstream_tools tools; /* first: the rest of the program knows only this */
    atomic_uint refs;
};

static void clear_items(struct al_upstream_tool *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free((char *)items[i].name);
        free((char *)items[i].title);
        free((char *)items[i].description);
        json_decref((json_t *)items[i].input_schema);
        json_decref((json_t *)items[i].output_schema);
        json_decref((json_t *)items[i].annotations);
    }
    free(items);
}

void al_upstream_list_clear(struct al_upstream_list *list)
{
    clear_items(list->items, list->count);
    free(list->left_out);
    *list = AL_UPSTREAM_LIST_INIT;
}

const struct al_upstream_tools *al_upstream_tools_ref(const struct al_upstream_tools *tools)
{
    atomic_fetch_add(&((struct shared_list *)tools)->refs, 1);
    return tools;
}

void al_upstream_tools_unref(const struct al_upstream_tools *tools)
{
    struct shared_list *list = (struct shared_list *)tools;

    if (!list || atomic_fetch_sub(&list->refs, 1) > 1)
        return;
    clear_items((struct al_upstream_tool *)list->tools.items, list->tools.count);
    free(list);
}

const struct al_upstream_tool *al_upstream_tools_find(const struct al_upstream_tools *tools,
                                                      const char *name)
{
    for (size_t i = 0; i < tools->count; i++)
        if (!strcmp(tools->items[i].name, name))
            return &tools->items[i];
    return NULL;
}

static bool is_name(const json_t *value)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    const char *text = json_string_value(value);
    const size_t len = json_string_length(value);

    return text && len >= 1 && len <= AL_UPSTREAM_NAME_MAX_BYTES && strspn(text, allowed) == len;
}

static bool is_listed(const struct al_upstream_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i].name, name))
            return true;
    return false;
}

static void leave_out(struct al_upstream_list *list, const json_t *tool, const char *problem)
{
    al_auto(al_freep) char *name = al_upstream_line(al_json_get_string(tool, "name"), 64);

    list->nleft_out++;
    if (!list->left_out)
        list->left_out = al_asprintf("tool '%s' %s", name ? name : "", problem);
}

/* What keeps a schema from being passed on as it is; NULL: nothing.  Whether it is one, those who
 * compile it will say. */
static const char *schema_problem(json_t *schema)
{
    const char *type = al_json_get_string(schema, "type");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (!json_is_object(schema))
        return "is no object";
    if (al_rpc_is_deeper(schema, AL_UPSTREAM_SCHEMA_MAX_DEPTH))
        return "is nested too deeply";
    al_json_dump(schema, false, &text);
    if (text.len > AL_UPSTREAM_SCHEMA_MAX_BYTES)
        return "is too large";
    return type && !strcmp(type, "object") ? NULL : "does not have the type object";
}

/* Why the tool cannot be offered; NULL: it can. */
static char *find_problem(const struct al_upstream_list *list, const json_t *tool)
{
    const json_t *name = json_object_get(tool, "name");
    const char *problem;

    if (!is_name(name))
        return al_strdup("has a name that is not 1 to 128 characters of A-Z a-z 0-9 _ . -");
    if (is_listed(list, json_string_value(name)))
        return al_strdup("is listed twice");
    if (list->count >= AL_UPSTREAM_TOOLS_MAX)
        return al_asprintf("is beyond the limit of %u tools", AL_UPSTREAM_TOOLS_MAX);
    problem = schema_problem(json_object_get(tool, "inputSchema"));
    return problem ? al_asprintf("has an inputSchema that %s", problem) : NULL;
}

/* An output schema is for clients that check results.  Without it they check nothing, and the tool
 * works all the same. */
static json_t *take_output_schema(const json_t *tool)
{
    json_t *schema = json_object_get(tool, "outputSchema");

    if (!schema || schema_problem(schema))
        return NULL;
    clean(schema);
    return json_incref(schema);
}

static json_t *take_annotations(const json_t *tool)
{
    json_t *annotations = json_object_get(tool, "annotations");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (!json_is_object(annotations) || al_rpc_is_deeper(annotations, AL_UPSTREAM_SCHEMA_MAX_DEPTH))
        return NULL;
    al_json_dump(annotations, false, &text);
    if (text.len > AL_UPSTREAM_SCHEMA_MAX_BYTES)
        return NULL;
    clean(annotations);
    return json_incref(annotations);
}

static struct al_upstream_tool take_tool(const json_t *tool)
{
    const char *title = al_json_get_string(tool, "title");
    const char *description = al_json_get_string(tool, "description");
    json_t *schema = json_object_get(tool, "inputSchema");

    if (!title)
        title = al_json_get_string(json_object_get(tool, "annotations"), "title");
    clean(schema);
    return (struct al_upstream_tool){
        .name = al_strdup(al_json_get_string(tool, "name")),
        .title = al_upstream_line(title, AL_UPSTREAM_TITLE_MAX_BYTES),
        .description = al_upstream_text(description, AL_UPSTREAM_DESCRIPTION_MAX_BYTES),
        .input_schema = json_incref(schema),
        .output_schema = take_output_schema(tool),
        .annotations = take_annotations(tool),
    };
}

static void add_tool(struct al_upstream_list *list, const json_t *tool)
{
    al_auto(al_freep) char *problem = find_problem(list, tool);

    if (problem) {
        leave_out(list, tool, problem);
        return;
    }
    list->items = al_grow(list->items, list->count, sizeof(*list->items));
    list->items[list->count++] = take_tool(tool);
}

bool al_upstream_list_add(struct al_upstream_list *list, json_t *result)
{
    const json_t *tools = json_object_get(result, "tools");

    if (!json_is_array(tools))
        return false;
    for (size_t i = 0; i < json_array_size(tools); i++)
        add_tool(list, json_array_get(tools, i));
    return true;
}

const struct al_upstream_tools *al_upstream_list_finish(struct al_upstream_list *list)
{
    struct shared_list *shared = al_calloc(1, sizeof(*shared));

    atomic_init(&shared->refs, 1);
    shared->tools =
        (struct al_upstream_tools){ .items = al_take(&list->items), .count = list->count };
    list->count = 0;
    return &shared->tools;
}

static bool equal_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool equal_json(const json_t *a, const json_t *b)
{
    return a && b ? json_equal(a, b) : a == b;
}

bool al_upstream_tool_equal(const struct al_upstream_tool *a, const struct al_upstream_tool *b)
{
    return equal_text(a->name, b->name) && equal_text(a->title, b->title) &&
           equal_text(a->description, b->description) &&
           equal_json(a->input_schema, b->input_schema) &&
           equal_json(a->output_schema, b->output_schema) &&
           equal_json(a->annotations, b->annotations);
}

bool al_upstream_tools_equal(const struct al_upstream_tools *a, const struct al_upstream_tools *b)
{
    if (!a || !b || a->count != b->count)
        return a == b;
    for (size_t i = 0; i < a->count; i++)
        if (!al_upstream_tool_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}
