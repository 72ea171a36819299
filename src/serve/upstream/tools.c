// SPDX-License-Identifier: Apache-2.0
#include "serve/upstream/private.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/lock.h"
#include "base/utf8.h"
#include "guard/text.h"

#define ELLIPSIS "..."

static char *finish(struct al_str *text, size_t max_bytes)
{
    al_str_trim_end(text);
    if (text->len > max_bytes) {
        al_str_truncate(text, al_utf8_floor(text->buf, max_bytes - strlen(ELLIPSIS)));
        al_str_adds(text, ELLIPSIS);
    }
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
                     struct al_upstream_wait *request, char **ret_problem)
{
    json_t *params = al_json_object();
    int r;

    if (cursor)
        al_json_set(params, "cursor", al_json_string(cursor));
    al_upstream_link_ask(link, request, link->revision, "tools/list", params);
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
        struct al_upstream_wait request = AL_UPSTREAM_WAIT_INIT;
        int r = read_page(link, cursor, deadline_ms, &request, ret_problem);

        free(al_take(&cursor));
        bytes += request.bytes;
        if (r == 0 && !al_upstream_list_add(list, request.result)) {
            *ret_problem = al_strdup("answered tools/list with something that is no list of tools");
            r = AL_ERR_EXECUTION;
        }
        if (r == 0)
            cursor = al_strdup(al_json_get_string(request.result, "nextCursor"));
        al_upstream_wait_end(link->server, &request, NULL);
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

void al_upstream_list_clear(struct al_upstream_list *list)
{
    json_decref(list->tools);
    free(list->left_out);
    *list = AL_UPSTREAM_LIST_INIT;
}

/* Make the list the server's, unless it is the same: a list stays one object until it changes.
 * True: it is another one. */
static bool publish(const struct al_upstream_link *link, struct al_upstream_list *list)
{
    struct al_upstream *server = link->server;
    bool differs;

    al_hold(&server->lock);
    differs = !server->list.tools || !json_equal(server->list.tools, list->tools);
    if (!differs) {
        json_decref(list->tools);
        list->tools = json_incref(server->list.tools);
    }
    al_upstream_list_clear(&server->list);
    server->list = *list;
    *list = AL_UPSTREAM_LIST_INIT;
    server->list_is_old = link->list_changed; /* it may have changed while it was read */
    al_upstream_signal_all(server);
    return differs;
}

int al_upstream_read_tools(struct al_upstream_link *link, int64_t deadline_ms, bool *ret_differs,
                           char **ret_problem)
{
    al_auto(al_upstream_list_clear) struct al_upstream_list list = { .tools = al_json_array() };
    int r = link->has_tools ? read_pages(link, deadline_ms, &list, ret_problem) : 0;

    if (r == 0)
        *ret_differs = publish(link, &list);
    return r;
}

const json_t *al_upstream_tools_find(const json_t *tools, const char *name)
{
    for (size_t i = 0; i < json_array_size(tools); i++)
        if (!strcmp(al_json_get_string(json_array_get(tools, i), "name"), name))
            return json_array_get(tools, i);
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

static void leave_out(struct al_upstream_list *list, const json_t *tool, const char *problem)
{
    al_auto(al_freep) char *name = al_upstream_line(al_json_get_string(tool, "name"), 64);

    list->nleft_out++;
    if (!list->left_out)
        list->left_out = al_asprintf("tool '%s' %s", name ? name : "", problem);
}

/* The problem that keeps an object from being passed on as it is; NULL: none. */
static const char *size_problem(json_t *object)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (!json_is_object(object))
        return "is no object";
    if (al_rpc_is_deeper(object, AL_UPSTREAM_SCHEMA_MAX_DEPTH))
        return "is nested too deeply";
    al_json_dump(object, false, &text);
    return text.len > AL_UPSTREAM_SCHEMA_MAX_BYTES ? "is too large" : NULL;
}

/* The same for a schema.  Whether it is one, those who compile it will say. */
static const char *schema_problem(json_t *schema)
{
    const char *problem = size_problem(schema);
    const char *type = al_json_get_string(schema, "type");

    if (problem || (type && !strcmp(type, "object")))
        return problem;
    return "does not have the type object";
}

/* Why the tool cannot be offered; NULL: it can. */
static char *find_problem(const struct al_upstream_list *list, const json_t *tool)
{
    const json_t *name = json_object_get(tool, "name");
    const char *problem;

    if (!is_name(name))
        return al_strdup("has a name that is not 1 to 128 characters of A-Z a-z 0-9 _ . -");
    if (al_upstream_tools_find(list->tools, json_string_value(name)))
        return al_strdup("is listed twice");
    if (json_array_size(list->tools) >= AL_UPSTREAM_TOOLS_MAX)
        return al_asprintf("is beyond the limit of %u tools", AL_UPSTREAM_TOOLS_MAX);
    problem = schema_problem(json_object_get(tool, "inputSchema"));
    return problem ? al_asprintf("has an inputSchema that %s", problem) : NULL;
}

/* Add a member that is passed on, but for text that users and models read, which is made safe. */
static void pass_on(json_t *tool, const char *name, json_t *value)
{
    clean(value);
    al_json_set(tool, name, json_incref(value));
}

/* Add a text that was made safe; NULL: there is none.  Takes it over. */
static void add_text(json_t *tool, const char *name, char *text)
{
    if (text)
        al_json_set(tool, name, al_json_string(text));
    free(text);
}

/* Of what a server says about a tool, what airlock knows and can offer. */
static json_t *take_tool(const json_t *listed)
{
    const char *title = al_json_get_string(listed, "title");
    json_t *annotations = json_object_get(listed, "annotations");
    json_t *output_schema = json_object_get(listed, "outputSchema");
    json_t *tool = al_json_object();

    if (!title)
        title = al_json_get_string(annotations, "title");
    al_json_set(tool, "name", json_incref(json_object_get(listed, "name")));
    add_text(tool, "title", al_upstream_line(title, AL_UPSTREAM_TITLE_MAX_BYTES));
    add_text(tool, "description",
             al_upstream_text(al_json_get_string(listed, "description"),
                              AL_UPSTREAM_DESCRIPTION_MAX_BYTES));
    pass_on(tool, "inputSchema", json_object_get(listed, "inputSchema"));
    /* An output schema is for clients that check results.  They check nothing without it, and the
     * tool works all the same. */
    if (!schema_problem(output_schema))
        pass_on(tool, "outputSchema", output_schema);
    if (!size_problem(annotations))
        pass_on(tool, "annotations", annotations);
    return tool;
}

static void add_tool(struct al_upstream_list *list, const json_t *tool)
{
    al_auto(al_freep) char *problem = find_problem(list, tool);

    if (problem)
        leave_out(list, tool, problem);
    else
        al_json_append(list->tools, take_tool(tool));
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
