// SPDX-License-Identifier: Apache-2.0
/* Tools made from the definitions of other MCP servers, and the lists they are in. */
#include "tools/upstream/mounts.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "call/call.h"
#include "call/defined.h"
#include "git/command.h"
#include "guard/root.h"
#include "guard/text.h"

/* One server and what the configuration says of it. */
struct al_mount {
    struct al_upstream *upstream;
    struct al_toolset toolset; /* its name is "mcp__SERVER"; has no tools of its own */
    char *toolset_name;
    bool limits_tools;
    struct al_strv tools; /* the server's names of the tools that are mounted */
    uint32_t timeout_ms;
    atomic_bool started;
};

/* A tool of a list.  The pipeline sees `tool` alone. */
struct al_mounted {
    struct al_tool tool; /* must be first */
    struct al_operation operation;
    const struct al_mount *mount;
    const json_t *definition; /* borrowed from the list of the server */
    const char *upstream;     /* the server's name of the tool; borrowed from it */
    char *name, *digest;      /* the digest is that of the definition */
};

/* --- Results --- */

/*
 * The result of another MCP server, made safe and cut.
 *
 *   item of `content`     what becomes of it
 *   text                  sanitized; cut at the cap
 *   image, audio          as it is, if it is base64 and fits
 *   resource              its text sanitized and cut; a blob as it is, if it is base64 and fits
 *   resource_link         as it is, its text sanitized
 *   anything else         left out
 *
 * The place of something left out names it.  `structuredContent` keeps its value: only the way it
 * is written is safe.
 */

/* The most items that are looked at. */
#define ITEMS_MAX 1000

/* The longest message of a failure that is repeated in `_meta`. */
#define MESSAGE_MAX_BYTES 500u

/* The members of `_meta` that are passed on take at most this. */
#define META_MAX_BYTES 4096u

/* A result that is being made. */
struct taking {
    struct al_result *out;
    size_t left; /* bytes of content that still fit */
};

/* A string member; NULL: there is none. */
static const json_t *string_in(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    return json_is_string(value) ? value : NULL;
}

static void add_safe(const json_t *text, struct al_str *out)
{
    al_text_sanitize(json_string_value(text), json_string_length(text), out);
}

/* Take bytes of the room that is left; false: they do not fit. */
static bool take_room(struct taking *to, size_t bytes)
{
    if (bytes > to->left) {
        to->out->truncated = true;
        return false;
    }
    to->left -= bytes;
    return true;
}

/* Text for a terminal and the journal. */
static void add_line(struct taking *to, const char *text, size_t len)
{
    struct al_str *out = &to->out->text;

    if (out->len && out->buf[out->len - 1] != '\n')
        al_str_addc(out, '\n');
    al_str_add(out, text, len);
}

/* Say in the place of an item that it is left out. */
static void add_note(struct taking *to, const char *what, const char *kind, const char *why)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(kind);
    al_auto(al_freep) char *note = NULL;

    to->out->truncated = true;
    if (!to->left)
        return;
    if (strlen(safe) > MESSAGE_MAX_BYTES)
        safe[al_utf8_floor(safe, MESSAGE_MAX_BYTES)] = '\0';
    note = al_asprintf("[%s%s%s left out: %s]", what, *safe ? " " : "", safe, why);
    al_json_append(to->out->content,
                   json_pack("{s:s, s:o}", "type", "text", "text", al_json_string(note)));
    add_line(to, note, strlen(note));
    to->left -= strlen(note) < to->left ? strlen(note) : to->left;
}

static bool is_base64(const json_t *data)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *text = json_string_value(data);
    size_t len = json_string_length(data), used = 0;

    while (used < len && text[used] && strchr(digits, text[used]))
        used++;
    while (used < len && text[used] == '=')
        used++;
    return used == len && len % 4 == 0;
}

/* The items that are passed on, with the members that they keep. */
static const struct kind {
    const char *type;
    const char *inside;     /* the member that has all others; NULL: the item itself */
    const char *label;      /* one line that tells what it is, "" if the server does not say */
    const char *further[6]; /* safe text; "size" is a number */
    const char *text;       /* safe text, cut to the room that is left */
    const char *data;       /* in place of the text, base64 */
    const char *lacks;      /* why the item is left out: it has neither, or no label */
} kinds[] = {
    { .type = "text", .text = "text", .lacks = "it is no string" },
    { .type = "image", .label = "mimeType", .data = "data", .lacks = "its data is not base64" },
    { .type = "audio", .label = "mimeType", .data = "data", .lacks = "its data is not base64" },
    { .type = "resource",
      .inside = "resource",
      .label = "uri",
      .further = { "mimeType" },
      .text = "text",
      .data = "blob",
      .lacks = "it has neither text nor base64" },
    { .type = "resource_link",
      .label = "uri",
      .further = { "name", "title", "description", "mimeType", "size" },
      .lacks = "it has no uri" },
};

static const struct kind *find_kind(const char *type)
{
    for (size_t i = 0; type && i < AL_COUNT(kinds); i++)
        if (!strcmp(kinds[i].type, type))
            return &kinds[i];
    return NULL;
}

/* Copy what goes beside the content, as far as there is room. */
static void copy_further(struct taking *to, const json_t *from, const char *name, json_t *item)
{
    const json_t *value = json_object_get(from, name);
    const bool is_notes = !strcmp(name, "annotations");
    const bool is_kept =
        is_notes ? json_is_object(value) : !strcmp(name, "size") && json_is_integer(value);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (is_kept)
        al_json_dump(value, true, &text);
    else if (json_is_string(value) && !is_notes)
        add_safe(value, &text);
    else
        return;
    if (take_room(to, text.len))
        al_json_set(item, name,
                    is_kept ? json_incref((json_t *)value) : al_json_stringn(text.buf, text.len));
}

/* Fill the object with the members of an item for which there is room. */
static void copy_members(struct taking *to, const struct kind *kind, const json_t *from,
                         const char *label, json_t *object)
{
    const json_t *text = string_in(from, kind->text), *data = string_in(from, kind->data);
    al_auto(al_str_clear) struct al_str shown = AL_STR_INIT;

    if (kind->label)
        al_json_set(object, kind->label, al_json_string(label));
    for (size_t i = 0; kind->further[i]; i++)
        copy_further(to, from, kind->further[i], object);
    if (!kind->text && !kind->data && !json_object_get(object, "name")) /* required of a link */
        al_json_set(object, "name", al_json_string(label));
    if (text) {
        add_safe(text, &shown);
        to->out->truncated |= al_text_truncate(&shown, to->left);
        to->left -= shown.len < to->left ? shown.len : to->left;
        al_json_set(object, kind->text, al_json_stringn(shown.buf, shown.len));
    } else if (data) {
        al_str_addf(&shown, "[%s %s, %zu bytes]", kind->type, label,
                    json_string_length(data) / 4 * 3);
        al_json_set(object, kind->data, json_incref((json_t *)data));
    } else {
        al_str_adds(&shown, label);
    }
    add_line(to, shown.buf, shown.len);
}

static void add_item(struct taking *to, const json_t *given)
{
    const char *type = al_json_get_string(given, "type");
    const struct kind *kind = find_kind(type);
    const json_t *from = kind && kind->inside ? json_object_get(given, kind->inside) : given;
    const json_t *text = kind ? string_in(from, kind->text) : NULL;
    const json_t *data = kind && !text ? string_in(from, kind->data) : NULL;
    const json_t *named = kind ? string_in(from, kind->label) : NULL;
    al_auto(al_freep) char *label =
        named ? al_text_join_lines(json_string_value(named)) : al_strdup("");
    const bool is_link = kind && !kind->text && !kind->data;
    json_t *item, *object;

    if (!kind)
        add_note(to, "content of type", type ? type : "(none)", "airlock does not know it");
    else if (is_link ? !*label : !text && (!data || !is_base64(data)))
        add_note(to, kind->type, label, kind->lacks);
    else if (!to->left || !take_room(to, strlen(label) + json_string_length(data)))
        add_note(to, kind->type, label, "larger than max_bytes");
    else {
        item = al_json_object();
        object = kind->inside ? al_json_object() : item;
        al_json_set(item, "type", al_json_string(kind->type));
        copy_members(to, kind, from, label, object);
        if (kind->inside)
            al_json_set(item, kind->inside, object);
        copy_further(to, given, "annotations", item); /* who it is for */
        al_json_append(to->out->content, item);
    }
}

static void take_content(struct taking *to, const json_t *content)
{
    const size_t count = json_array_size(content);

    to->out->content = al_json_array();
    for (size_t i = 0; i < count && i < ITEMS_MAX; i++)
        add_item(to, json_array_get(content, i));
    if (count > ITEMS_MAX) {
        al_auto(al_freep) char *more = al_asprintf("%zu more items", count - ITEMS_MAX);

        to->out->truncated = true;
        add_note(to, more, "", "there are too many");
    }
}

/* The members whose names nobody else in the conversation uses. */
static void take_meta(const json_t *meta, struct al_result *out)
{
    al_auto(al_json_decrefp) json_t *kept = al_json_object();
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)meta, name, value)
    {
        if (strchr(name, '/') && !al_starts_with(name, "airlock/") &&
            !al_starts_with(name, "io.modelcontextprotocol/"))
            al_json_set(kept, name, json_incref(value));
    }
    al_json_dump(kept, true, &json);
    if (json_object_size(kept) && json.len <= META_MAX_BYTES)
        out->meta = al_take(&kept);
}

/* Whether the structured content is passed on; false: it is too large, or no object. */
static int take_structured(const json_t *structured, size_t max_bytes, bool has_schema,
                           struct al_result *out, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;

    if (!json_is_object(structured))
        return 0;
    al_json_dump(structured, false, &json);
    if (json.len <= max_bytes) {
        out->structured = json_incref((json_t *)structured);
        return 0;
    }
    if (has_schema)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "The structured result has %zu bytes, more than max_bytes (%zu); ask "
                            "for less",
                            json.len, max_bytes);
    out->truncated = true;
    return 0;
}

int al_upstream_take_result(const json_t *result, size_t max_bytes, const char *server,
                            bool has_schema, struct al_result *out, struct al_error *err)
{
    struct taking to = { .out = out, .left = max_bytes };
    const bool failed = json_is_true(json_object_get(result, "isError"));
    al_auto(al_freep) char *line = NULL; /* the first one of the text, for `_meta` */
    int r = take_structured(json_object_get(result, "structuredContent"), max_bytes,
                            has_schema && !failed, out, err);

    if (r < 0)
        return r;
    take_content(&to, json_object_get(result, "content"));
    take_meta(json_object_get(result, "_meta"), out);
    if (!failed)
        return 0;
    line = al_strndup(out->text.buf, strcspn(out->text.buf, "\n"));
    if (strlen(line) > MESSAGE_MAX_BYTES)
        line[al_utf8_floor(line, MESSAGE_MAX_BYTES)] = '\0';
    if (!*line)
        return al_error_set(err, AL_ERR_EXECUTION, "The tool of %s failed and does not say why",
                            server);
    return al_error_set(err, AL_ERR_EXECUTION, "%s", line);
}

/* --- A mounted tool in the stages of a call --- */

/** The longest part of a refused name that is repeated. */
#define SHOWN_MAX_BYTES 80u

/* The name of a mounted tool.  Caller frees. */
static char *mounted_name(const char *server, const char *tool)
{
    return al_asprintf(AL_MOUNTS_PREFIX "%s__%s", server, tool);
}

size_t al_mounted_server(const char *name)
{
    const char *server = name + strlen(AL_MOUNTS_PREFIX), *end;

    if (!al_starts_with(name, AL_MOUNTS_PREFIX))
        return 0;
    end = strstr(server, "__");
    return end && end[2] ? (size_t)(end - server) : 0;
}

static char *refusal(const char *tool, const char *why)
{
    al_auto(al_freep) char *safe = al_text_sanitize_shown_line(tool);

    if (strlen(safe) > SHOWN_MAX_BYTES)
        safe[al_utf8_floor(safe, SHOWN_MAX_BYTES)] = '\0';
    return al_asprintf("'%s' %s", safe, why);
}

char *al_mounted_refusal(const char *server, const char *tool)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";
    al_auto(al_freep) char *name = mounted_name(server, tool);

    if (!*tool || tool[strspn(tool, allowed)])
        return refusal(tool, "has characters that clients refuse");
    if (strlen(name) > AL_MOUNTS_NAME_MAX_BYTES)
        return refusal(tool, "is too long behind the name of the server");
    return NULL;
}

/* The most fields of a form, and the longest schema as JSON. */
#define FIELDS_MAX       64u
#define SCHEMA_MAX_BYTES 65536u

/* A copy in which text that users read is safe.  Caller owns the reference. */
static json_t *safe_copy(const json_t *value, bool is_read)
{
    const char *name;
    json_t *copy, *member;
    size_t i;

    if (is_read && json_is_string(value)) {
        al_auto(al_freep) char *safe = al_text_join_shown_lines(json_string_value(value));

        return al_json_string(safe);
    }
    if (json_is_array(value)) {
        copy = al_json_array();
        json_array_foreach(value, i, member) al_json_append(copy, safe_copy(member, is_read));
        return copy;
    }
    if (!json_is_object(value))
        return json_incref((json_t *)value);
    copy = al_json_object();
    json_object_foreach((json_t *)value, name, member)
    {
        al_json_set(copy, name,
                    safe_copy(member, !strcmp(name, "title") || !strcmp(name, "description") ||
                                          !strcmp(name, "enumNames")));
    }
    return copy;
}

json_t *al_question_params(const json_t *params, const char *server, const char *tool)
{
    const char *asked = al_json_get_string(params, "message");
    const char *mode = al_json_get_string(params, "mode");
    const json_t *schema = json_object_get(params, "requestedSchema");
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT, json = AL_STR_INIT;

    if (!asked || !json_is_object(schema) || (mode && strcmp(mode, "form") != 0) ||
        json_object_size(json_object_get(schema, "properties")) > FIELDS_MAX)
        return NULL;
    al_json_dump(schema, true, &json);
    if (json.len > SCHEMA_MAX_BYTES)
        return NULL;
    al_str_addf(&message,
                "The MCP server %s asks this, while it runs %s. It is not a question of "
                "airlock's:\n",
                server, tool);
    al_text_add_indented(&message, asked, false);
    return json_pack("{s:s*, s:o, s:o}", "mode", mode, "message",
                     al_json_stringn(message.buf, message.len), "requestedSchema",
                     safe_copy(schema, false));
}

/* The value that binds an approval to the definition; an "always" shows its beginning. */
#define DEFINITION "definition"

/* The longest wait for the new list of a server that has just said that it has changed. */
#define CHANGE_MS 3000

/* A tool without the annotation readOnlyHint counts as everything. */
#define EVERYTHING ((1u << AL_EFFECT_COUNT) - 1)

static const struct al_mounted *mounted_of(const struct al_call *call)
{
    const struct al_defined_args *defined = al_call_args(call);

    return (const struct al_mounted *)defined->tool;
}

static const char *server_of(const struct al_mounted *mounted)
{
    return al_upstream_name(mounted->mount->upstream);
}

/* A server that contradicts itself is not believed. */
static unsigned effects_of(const json_t *annotations)
{
    if (!json_is_true(json_object_get(annotations, "readOnlyHint")) ||
        json_is_true(json_object_get(annotations, "destructiveHint")))
        return EVERYTHING;
    if (json_is_false(json_object_get(annotations, "openWorldHint")))
        return AL_READS;
    return AL_READS | AL_USES_NETWORK;
}

/* The definition that the user was shown has to be the one that the server has when the call runs.
 */
static int resolve(struct al_call *call, struct al_error *err)
{
    const struct al_mounted *mounted = mounted_of(call);
    json_t *now = NULL;
    const json_t *tool;
    bool same;
    int r = al_upstream_tools(mounted->mount->upstream, CHANGE_MS, al_call_input(call)->cancel,
                              &now, err);

    if (r < 0)
        return r;
    tool = al_upstream_tools_find(now, mounted->upstream);
    same = tool && json_equal(tool, mounted->definition);
    json_decref(now);
    if (!same)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "The MCP server %s has changed its tool %s since it was listed. "
                            "Nothing was done; list the tools again",
                            server_of(mounted), mounted->upstream);
    al_call_resolve(call, DEFINITION, mounted->digest);
    return 0;
}

/* The server can use all of every root, whatever the call is about. */
static int authorize(struct al_call *call, struct al_error *err)
{
    const struct al_roots *roots = al_call_session(call)->roots;
    int r = 0;

    for (size_t i = 0; r == 0 && i < roots->count; i++)
        if (!al_root_is_released(&roots->items[i]))
            r = al_grant_check_tree(al_call_session(call)->grant, roots->items[i].path, true, err);
    return r;
}

static void summarize(const struct al_call *call, struct al_str *out)
{
    al_defined_summarize(al_call_args(call), server_of(mounted_of(call)), out);
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    return al_defined_preview(al_call_args(call), al_call_budget(call)->in_full, out, err);
}

/* A call that runs. */
struct running {
    struct al_call *call;
    const struct al_mounted *mounted;
};

static void on_progress(void *payload, const struct al_upstream_progress *progress)
{
    const struct running *running = payload;
    const struct al_progress *to = al_call_input(running->call)->progress;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line, "%g", progress->progress);
    if (progress->total >= 0)
        al_str_addf(&line, " of %g", progress->total);
    if (progress->message)
        al_str_addf(&line, ": %s", progress->message);
    to->report(to->payload, line.buf);
}

static int on_question(void *payload, const char *method, const json_t *params,
                       struct al_cancel *cancel, json_t **ret_result, struct al_error *err)
{
    const struct running *running = payload;
    const struct al_asker *client = al_call_input(running->call)->asker;
    const bool is_form = !strcmp(method, "elicitation/create");
    al_auto(al_json_decrefp) json_t *form =
        is_form
            ? al_question_params(params, server_of(running->mounted), running->mounted->upstream)
            : NULL;

    *ret_result = NULL;
    if (is_form && !form)
        return 0;
    return client->ask(client->payload, method, form ? form : params, cancel, ret_result, err);
}

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct al_mounted *mounted = mounted_of(call);
    struct running running = { .call = call, .mounted = mounted };
    al_auto(al_upstream_state_clear) struct al_upstream_state state = { .ntools = 0 };
    al_auto(al_json_decrefp) json_t *answer = NULL;
    int r = al_upstream_call(mounted->mount->upstream,
                             &(struct al_upstream_call){
                                 .tool = mounted->upstream,
                                 .definition = mounted->definition,
                                 .arguments = al_call_arguments(call),
                                 .cancel = al_call_input(call)->cancel,
                                 .progress = al_call_input(call)->progress ? on_progress : NULL,
                                 .ask = al_call_input(call)->asker ? on_question : NULL,
                                 .payload = &running,
                             },
                             &answer, err);

    if (r == 0)
        r = al_upstream_take_result(answer, al_call_max_bytes(call), server_of(mounted),
                                    json_object_get(mounted->definition, "outputSchema") != NULL,
                                    result, err);
    al_upstream_get_state(mounted->mount->upstream, &state);
    result->confinement = state.confined ? NULL : "none";
    result->exit_code = -1; /* no git ran */
    return r;
}

/* Fill the hooks of a tool that depend on its definition.  Returns the bytes of the definition. */
static size_t mounted_init(struct al_mounted *mounted, const struct al_mount *mount,
                           const json_t *definition)
{
    static const char *const always_by[] = { DEFINITION, NULL };
    const unsigned effects = effects_of(json_object_get(definition, "annotations"));
    const char *title = al_json_get_string(definition, "title");
    const char *about = al_json_get_string(definition, "description");
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;

    mounted->mount = mount;
    mounted->definition = definition;
    mounted->upstream = al_json_get_string(definition, "name");
    mounted->name = mounted_name(al_upstream_name(mount->upstream), mounted->upstream);
    mounted->operation = (struct al_operation){
        .name = "call", .effects = effects, .execute = execute, .asks = AL_ASKS_BY_EFFECTS
    };
    mounted->tool = (struct al_tool){
        .name = mounted->name,
        .title = title ? title : mounted->upstream,
        .about = about ? about : "",
        .args_size = sizeof(struct al_defined_args),
        .operations = &mounted->operation,
        .noperations = 1,
        .definition = definition,
        .at_first_root = true,
        .moves_branch = al_effects_change_repository(effects),
        .resolve = resolve,
        .authorize = authorize,
        .summarize = summarize,
        .preview = preview,
        .always_by = always_by,
    };
    al_json_dump(definition, false, &json);
    mounted->digest = al_sha256(json.buf, json.len);
    return json.len;
}

/* --- Lists --- */

/* Bytes of all definitions of one server, and of all servers: a client takes a line of 10 MiB, and
 * one server must not use it up. */
#define SERVER_MAX_BYTES (1u << 20)
#define ALL_MAX_BYTES    (8u << 20)

/* A list with what its tools borrow. */
struct mounting {
    struct al_mounted_list list; /* must be first; each `tool` is a struct al_mounted */
    json_t **sources;            /* the list of each server; NULL: not known yet */
    size_t nsources;
    size_t bytes;              /* of all definitions */
    struct al_strv left_out;   /* "SERVER: 'tool' is …", safe lines */
    struct al_strv collisions; /* "SERVER: git_status, git_log", one line for each server that has
                                  tools with the names of native ones */
};

struct al_mounts {
    struct al_mount *items;
    size_t count;
    const struct al_registry *native;
    bool prefer_mcp;

    pthread_mutex_t lock; /* guards the members below; held while `changed` runs */
    void (*changed)(void *payload);
    void *payload;
};

/* One server's part of a list that is being made. */
struct part {
    struct mounting *mounting;
    const struct al_mount *mount;
    struct al_str collisions; /* names, separated by commas */
    size_t bytes;             /* of its definitions */
};

static void mounted_free(struct al_mounted *mounted)
{
    free(mounted->name);
    free(mounted->digest);
    free(mounted);
}

/* Mount a tool if there is room for its definition. */
static void add_if_it_fits(struct part *part, const json_t *definition)
{
    struct mounting *mounting = part->mounting;
    struct al_mounted_list *list = &mounting->list;
    struct al_mounted *mounted = al_calloc(1, sizeof(*mounted));
    const size_t bytes = mounted_init(mounted, part->mount, definition);

    if (part->bytes + bytes <= SERVER_MAX_BYTES && mounting->bytes + bytes <= ALL_MAX_BYTES) {
        part->bytes += bytes;
        mounting->bytes += bytes;
        list->items = al_reallocarray(list->items, list->count + 1, sizeof(*list->items));
        list->items[list->count++] = (struct al_listed_tool){
            .toolset = &mounted->mount->toolset,
            .tool = &mounted->tool,
        };
        return;
    }
    al_strv_addf(&mounting->left_out,
                 "%s: '%s' has no room: all definitions of one server have at "
                 "most 1 MiB, and of all servers 8 MiB",
                 al_upstream_name(part->mount->upstream), mounted->upstream);
    mounted_free(mounted);
}

static void add_tool(struct part *part, const json_t *definition, const struct al_mounts *mounts)
{
    const char *server = al_upstream_name(part->mount->upstream);
    const char *name = al_json_get_string(definition, "name");
    al_auto(al_freep) char *refusal = NULL;

    if (part->mount->limits_tools && !al_strv_contains(&part->mount->tools, name))
        return;
    refusal = al_mounted_refusal(server, name);
    if (refusal)
        al_strv_addf(&part->mounting->left_out, "%s: %s", server, refusal);
    else if (!mounts->prefer_mcp && al_registry_find(mounts->native, name))
        al_str_addf(&part->collisions, "%s%s", part->collisions.len ? ", " : "", name);
    else
        add_if_it_fits(part, definition);
}

/* Servers that are not started are left out.  The list has one reference. */
static struct mounting *mounting_new(const struct al_mounts *mounts)
{
    struct mounting *mounting = al_calloc(1, sizeof(*mounting));

    mounting->left_out = AL_STRV_INIT;
    mounting->collisions = AL_STRV_INIT;
    mounting->sources = al_calloc(mounts->count, sizeof(*mounting->sources));
    mounting->nsources = mounts->count;
    for (size_t i = 0; i < mounts->count; i++) {
        const struct al_mount *mount = &mounts->items[i];
        struct part part = { mounting, mount, AL_STR_INIT, 0 };
        json_t *source = NULL;

        if (atomic_load(&mount->started))
            (void)al_upstream_tools(mount->upstream, 0, NULL, &source, NULL);
        mounting->sources[i] = source;
        for (size_t k = 0; source && k < json_array_size(source); k++)
            add_tool(&part, json_array_get(source, k), mounts);
        if (part.collisions.len)
            al_strv_addf(&mounting->collisions, "%s: %s", al_upstream_name(mount->upstream),
                         part.collisions.buf);
        al_str_clear(&part.collisions);
    }
    return mounting;
}

static void on_tools(void *payload)
{
    struct al_mounts *mounts = payload;

    al_hold(&mounts->lock);
    if (mounts->changed)
        mounts->changed(mounts->payload);
}

void al_mounts_watch(struct al_mounts *mounts, void (*changed)(void *payload), void *payload)
{
    if (!mounts)
        return;
    al_hold(&mounts->lock);
    mounts->changed = changed;
    mounts->payload = payload;
}

const struct al_mounted_list *al_mounts_list(const struct al_mounts *mounts)
{
    return mounts ? &mounting_new(mounts)->list : NULL;
}

void al_mounted_list_free(const struct al_mounted_list *list)
{
    struct mounting *mounting = (struct mounting *)list;

    if (!mounting)
        return;
    for (size_t i = 0; i < mounting->list.count; i++)
        mounted_free((struct al_mounted *)(uintptr_t)mounting->list.items[i].tool);
    for (size_t i = 0; i < mounting->nsources; i++)
        json_decref(mounting->sources[i]);
    free(mounting->list.items);
    free(mounting->sources);
    al_strv_clear(&mounting->left_out);
    al_strv_clear(&mounting->collisions);
    free(mounting);
}

/* Failures are for the calls and for airlock doctor: the tools of other servers are listed. */
void al_mounts_await(struct al_mounts *mounts, uint32_t wait_ms, struct al_cancel *cancel)
{
    const int64_t deadline = al_clock_ms() + wait_ms;
    const size_t count = al_upstream_mounts_count(mounts);

    for (size_t i = 0; i < count; i++) {
        atomic_store(&mounts->items[i].started, true);
        al_upstream_start(mounts->items[i].upstream);
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t left = deadline - al_clock_ms();
        json_t *tools = NULL;

        (void)al_upstream_tools(mounts->items[i].upstream, left > 0 ? (uint32_t)left : 0, cancel,
                                &tools, NULL);
        json_decref(tools);
    }
}

/* The server that a name of the form "mcp__SERVER__tool" belongs to; NULL: none. */
static struct al_mount *find_mount(const struct al_mounts *mounts, const char *name)
{
    const size_t len = al_mounted_server(name);

    for (size_t i = 0; len && i < al_upstream_mounts_count(mounts); i++) {
        const char *server = al_upstream_name(mounts->items[i].upstream);

        if (strlen(server) == len && !strncmp(name + strlen(AL_MOUNTS_PREFIX), server, len))
            return &mounts->items[i];
    }
    return NULL;
}

bool al_mounts_claims(const struct al_mounts *mounts, const char *name)
{
    return find_mount(mounts, name) != NULL;
}

/* AL_ERR_NOT_FOUND, with the name that was probably meant. */
static int unknown(const struct al_mounted_list *list, const char *name, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(name);
    struct al_nearest nearest = { .word = name };

    for (size_t i = 0; i < list->count; i++)
        al_nearest_offer(&nearest, list->items[i].tool->name);
    if (nearest.found)
        return al_error_set(err, AL_ERR_NOT_FOUND, "unknown tool '%s'; did you mean %s?", safe,
                            nearest.found);
    return al_error_set(err, AL_ERR_NOT_FOUND, "unknown tool '%s'; airlock tools lists them", safe);
}

int al_mounts_find(struct al_mounts *mounts, const char *name, struct al_cancel *cancel,
                   const struct al_mounted_list **ret_list, const struct al_listed_tool **ret_tool,
                   struct al_error *err)
{
    struct al_mount *mount = find_mount(mounts, name);
    const struct al_mounted_list *list;
    json_t *tools = NULL;
    int r = 0;

    if (mount) { /* else the list tells that there is no such tool */
        atomic_store(&mount->started, true);
        r = al_upstream_tools(mount->upstream, mount->timeout_ms, cancel, &tools, err);
        json_decref(tools);
    }
    if (r < 0)
        return r;
    list = al_mounts_list(mounts);
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].tool->name, name) != 0)
            continue;
        *ret_tool = &list->items[i];
        *ret_list = list;
        return 0;
    }
    r = unknown(list, name, err);
    al_mounted_list_free(list);
    return r;
}

bool al_mounts_replaces(struct al_mounts *mounts, const char *native)
{
    const struct al_mounted_list *now;
    bool found = false;

    if (!mounts || !mounts->prefer_mcp)
        return false;
    now = al_mounts_list(mounts);
    for (size_t i = 0; i < now->count && !found; i++)
        found = !strcmp(((const struct al_mounted *)now->items[i].tool)->upstream, native);
    al_mounted_list_free(now);
    return found;
}

static void mount_init(struct al_mount *mount, struct al_mounts *mounts,
                       const struct al_mount_options *options)
{
    struct al_upstream_settings settings = options->settings;

    settings.on_tools = on_tools;
    settings.payload = mounts;
    atomic_init(&mount->started, false);
    mount->toolset_name = al_asprintf(AL_MOUNTS_PREFIX "%s", settings.name);
    mount->toolset = (struct al_toolset){
        .name = mount->toolset_name,
        .about = "tools of another MCP server",
    };
    mount->limits_tools = options->limits_tools;
    mount->timeout_ms = settings.timeout_ms;
    mount->tools = AL_STRV_INIT;
    al_strv_add_all(&mount->tools, options->tools);
    mount->upstream = al_upstream_new(&settings);
}

struct al_mounts *al_upstream_mounts_new(const struct al_mount_options *options, size_t noptions,
                                         const struct al_registry *native, bool prefer_mcp)
{
    struct al_mounts *mounts = al_calloc(1, sizeof(*mounts));

    mounts->native = native;
    mounts->prefer_mcp = prefer_mcp;
    (void)pthread_mutex_init(&mounts->lock, NULL);
    mounts->items = al_calloc(noptions, sizeof(*mounts->items));
    mounts->count = noptions;
    for (size_t i = 0; i < noptions; i++)
        mount_init(&mounts->items[i], mounts, &options[i]);
    return mounts;
}

void al_upstream_mounts_free(struct al_mounts *mounts)
{
    if (!mounts)
        return;
    for (size_t i = 0; i < mounts->count; i++)
        al_upstream_end(mounts->items[i].upstream);
    for (size_t i = 0; i < mounts->count; i++) {
        al_upstream_free(mounts->items[i].upstream);
        al_strv_clear(&mounts->items[i].tools);
        free(mounts->items[i].toolset_name);
    }
    (void)pthread_mutex_destroy(&mounts->lock);
    free(mounts->items);
    free(mounts);
}

size_t al_upstream_mounts_count(const struct al_mounts *mounts)
{
    return mounts ? mounts->count : 0;
}

struct al_upstream *al_upstream_mounts_server(const struct al_mounts *mounts, size_t which)
{
    return mounts->items[which].upstream;
}

void al_upstream_mounts_left_out(const struct al_mounts *mounts,
                                 const struct al_mounted_list *found, struct al_strv *ret_lines,
                                 struct al_strv *ret_collisions)
{
    const struct mounting *mounting = (const struct mounting *)found;

    al_strv_add_all(ret_lines, &mounting->left_out);
    al_strv_add_all(ret_collisions, &mounting->collisions);
    for (size_t i = 0; i < mounts->count; i++)
        for (size_t k = 0; mounting->sources[i] && k < mounts->items[i].tools.count; k++)
            if (!al_upstream_tools_find(mounting->sources[i], mounts->items[i].tools.items[k]))
                al_strv_addf(ret_lines, "%s: has no tool '%s'",
                             al_upstream_name(mounts->items[i].upstream),
                             mounts->items[i].tools.items[k]);
}
