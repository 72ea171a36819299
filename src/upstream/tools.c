// SPDX-License-Identifier: Apache-2.0
#include "upstream/tools.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "upstream/limits.h"
#include "upstream/text.h"
#include "wire/jsonrpc.h"

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
    al_upstream_clean(schema);
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
    al_upstream_clean(annotations);
    return json_incref(annotations);
}

static struct al_upstream_tool take_tool(const json_t *tool)
{
    const char *title = al_json_get_string(tool, "title");
    const char *description = al_json_get_string(tool, "description");
    json_t *schema = json_object_get(tool, "inputSchema");

    if (!title)
        title = al_json_get_string(json_object_get(tool, "annotations"), "title");
    al_upstream_clean(schema);
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
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 16;
        list->items = al_reallocarray(list->items, list->room, sizeof(*list->items));
    }
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
    list->count = list->room = 0;
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
