// SPDX-License-Identifier: Apache-2.0
#include "tools/upstream/content.h"

#include <string.h>

#include "base/utf8.h"
#include "guard/text.h"

/** The longest message of a failure that is repeated in `_meta`. */
#define MESSAGE_MAX_BYTES 500u

/** The members of `_meta` that are passed on take at most this. */
#define META_MAX_BYTES 4096u

/** A result that is being made. */
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

/* One line of safe text; "" for NULL.  Caller frees. */
static char *line_of(const json_t *text)
{
    return text ? al_text_join_lines(json_string_value(text)) : al_strdup("");
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

static json_t *text_item(const char *text, size_t len)
{
    json_t *item = al_json_object();

    al_json_set(item, "type", al_json_string("text"));
    al_json_set(item, "text", al_json_stringn(text, len));
    return item;
}

/* Count text that is cut already. */
static void use_room(struct taking *to, size_t bytes)
{
    to->left -= bytes < to->left ? bytes : to->left;
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
    al_json_append(to->out->content, text_item(note, strlen(note)));
    add_line(to, note, strlen(note));
    use_room(to, strlen(note));
}

/* Copy the annotations of an item, which say who it is for. */
static void copy_annotations(struct taking *to, const json_t *from, json_t *item)
{
    const json_t *annotations = json_object_get(from, "annotations");
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;

    if (!json_is_object(annotations))
        return;
    al_json_dump(annotations, true, &json);
    if (take_room(to, json.len))
        al_json_set(item, "annotations", json_incref((json_t *)annotations));
}

/* The text of an item, safe and cut to the room that is left. */
static void take_text(struct taking *to, const json_t *text, struct al_str *out)
{
    add_safe(text, out);
    to->out->truncated |= al_text_truncate(out, to->left);
    use_room(to, out->len);
}

static void add_text(struct taking *to, const json_t *from)
{
    const json_t *text = string_in(from, "text");
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;
    json_t *item;

    if (!text) {
        add_note(to, "text", "", "it is no string");
        return;
    }
    if (!to->left) {
        to->out->truncated = true;
        return;
    }
    take_text(to, text, &safe);
    item = text_item(safe.buf, safe.len);
    copy_annotations(to, from, item);
    al_json_append(to->out->content, item);
    add_line(to, safe.buf, safe.len);
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

/* Add an image or a sound. */
static void add_media(struct taking *to, const json_t *from, const char *type)
{
    const json_t *data = string_in(from, "data");
    al_auto(al_freep) char *mime = line_of(string_in(from, "mimeType"));
    al_auto(al_freep) char *shown = NULL;
    json_t *item;

    if (!data || !is_base64(data)) {
        add_note(to, type, mime, "its data is not base64");
        return;
    }
    if (!take_room(to, json_string_length(data) + strlen(mime))) {
        add_note(to, type, mime, "larger than max_bytes");
        return;
    }
    item = al_json_object();
    al_json_set(item, "type", al_json_string(type));
    al_json_set(item, "data", json_incref((json_t *)data));
    al_json_set(item, "mimeType", al_json_string(mime));
    copy_annotations(to, from, item);
    al_json_append(to->out->content, item);
    shown = al_asprintf("[%s %s, %zu bytes]", type, mime, json_string_length(data) / 4 * 3);
    add_line(to, shown, strlen(shown));
}

/* Copy a string member as safe text. */
static void copy_safe(struct taking *to, const json_t *from, const char *name, json_t *item)
{
    const json_t *text = string_in(from, name);
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;

    if (!text)
        return;
    add_safe(text, &safe);
    if (take_room(to, safe.len))
        al_json_set(item, name, al_json_stringn(safe.buf, safe.len));
}

static void add_resource(struct taking *to, const json_t *from)
{
    const json_t *resource = json_object_get(from, "resource");
    const json_t *text = string_in(resource, "text"), *blob = string_in(resource, "blob");
    al_auto(al_freep) char *uri = line_of(string_in(resource, "uri"));
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;
    json_t *item, *inner;

    if (!text && (!blob || !is_base64(blob))) {
        add_note(to, "resource", uri, "it has neither text nor base64");
        return;
    }
    if (!take_room(to, strlen(uri) + (text ? 0 : json_string_length(blob)))) {
        add_note(to, "resource", uri, "larger than max_bytes");
        return;
    }
    item = al_json_object();
    inner = al_json_object();
    al_json_set(item, "type", al_json_string("resource"));
    al_json_set(inner, "uri", al_json_string(uri));
    copy_safe(to, resource, "mimeType", inner);
    if (text)
        take_text(to, text, &safe);
    al_json_set(inner, text ? "text" : "blob",
                text ? al_json_stringn(safe.buf, safe.len) : json_incref((json_t *)blob));
    al_json_set(item, "resource", inner);
    copy_annotations(to, from, item);
    al_json_append(to->out->content, item);
    add_line(to, text ? safe.buf : uri, text ? safe.len : strlen(uri));
}

static void add_link(struct taking *to, const json_t *from)
{
    static const char *const members[] = { "name", "title", "description", "mimeType" };
    al_auto(al_freep) char *uri = line_of(string_in(from, "uri"));
    const json_t *size = json_object_get(from, "size");
    json_t *item;

    if (!*uri || !take_room(to, strlen(uri))) {
        add_note(to, "resource_link", "", *uri ? "larger than max_bytes" : "it has no uri");
        return;
    }
    item = al_json_object();
    al_json_set(item, "type", al_json_string("resource_link"));
    al_json_set(item, "uri", al_json_string(uri));
    for (size_t i = 0; i < AL_COUNT(members); i++)
        copy_safe(to, from, members[i], item);
    if (!json_object_get(item, "name")) /* required */
        al_json_set(item, "name", al_json_string(uri));
    if (json_is_integer(size))
        al_json_set(item, "size", json_incref((json_t *)size));
    copy_annotations(to, from, item);
    al_json_append(to->out->content, item);
    add_line(to, uri, strlen(uri));
}

static void add_item(struct taking *to, const json_t *from)
{
    const char *type = al_json_get_string(from, "type");

    if (type && !strcmp(type, "text"))
        add_text(to, from);
    else if (type && (!strcmp(type, "image") || !strcmp(type, "audio")))
        add_media(to, from, type);
    else if (type && !strcmp(type, "resource"))
        add_resource(to, from);
    else if (type && !strcmp(type, "resource_link"))
        add_link(to, from);
    else
        add_note(to, "content of type", type ? type : "(none)", "airlock does not know it");
}

static void take_content(struct taking *to, const json_t *content)
{
    const size_t count = json_array_size(content);

    to->out->content = al_json_array();
    for (size_t i = 0; i < count && i < AL_UPSTREAM_ITEMS_MAX; i++)
        add_item(to, json_array_get(content, i));
    if (count > AL_UPSTREAM_ITEMS_MAX) {
        al_auto(al_freep) char *more = al_asprintf("%zu more items", count - AL_UPSTREAM_ITEMS_MAX);

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

/* The first line of the text, for `_meta`. */
static int fail(const char *server, const struct al_result *out, struct al_error *err)
{
    al_auto(al_freep) char *line = al_strndup(out->text.buf, strcspn(out->text.buf, "\n"));

    if (strlen(line) > MESSAGE_MAX_BYTES)
        line[al_utf8_floor(line, MESSAGE_MAX_BYTES)] = '\0';
    if (!*line)
        return al_error_set(err, AL_ERR_EXECUTION, "The tool of %s failed and does not say why",
                            server);
    return al_error_set(err, AL_ERR_EXECUTION, "%s", line);
}

int al_upstream_take_result(const json_t *result, size_t max_bytes, const char *server,
                            bool has_schema, struct al_result *out, struct al_error *err)
{
    struct taking to = { .out = out, .left = max_bytes };
    const bool failed = json_is_true(json_object_get(result, "isError"));
    int r = take_structured(json_object_get(result, "structuredContent"), max_bytes,
                            has_schema && !failed, out, err);

    if (r < 0)
        return r;
    take_content(&to, json_object_get(result, "content"));
    take_meta(json_object_get(result, "_meta"), out);
    return failed ? fail(server, out, err) : 0;
}
