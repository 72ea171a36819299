// SPDX-License-Identifier: Apache-2.0
#include "tools/upstream/mounted.h"

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
