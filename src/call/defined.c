// SPDX-License-Identifier: Apache-2.0
#include "call/defined.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "guard/redact.h"
#include "guard/text.h"

/** The server's title in the summary, whose first 200 characters a question begins with. */
#define TITLE_MAX_BYTES 60u

/** All arguments in the summary. */
#define SUMMARY_MAX_BYTES 600u

/** A name, and a value in the list of all arguments. */
#define NAME_MAX_BYTES  64u
#define VALUE_MAX_BYTES 120u

/** The excerpts of all long values together. */
#define EXCERPTS_MAX_BYTES 65536u

static void cut(char *text, size_t max_bytes)
{
    if (strlen(text) > max_bytes)
        text[al_utf8_floor(text, max_bytes)] = '\0';
}

/* The title in quotation marks, which it does not contain itself. */
static void add_title(const char *title, struct al_str *out)
{
    al_auto(al_freep) char *shown = al_text_join_shown_lines(title);
    const bool is_long = strlen(shown) > TITLE_MAX_BYTES;

    cut(shown, TITLE_MAX_BYTES);
    for (char *at = shown; *at; at++)
        if (*at == '"')
            *at = '\'';
    al_str_addf(out, "\"%s%s\"", shown, is_long ? "…" : "");
}

void al_defined_summarize(const struct al_defined_args *args, const char *server,
                          struct al_str *out)
{
    al_auto(al_json_decrefp) json_t *clean = al_redact_json(args->arguments, NULL);
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
    bool is_long;

    al_str_adds(out, "Call ");
    add_title(args->tool->title, out);
    al_str_addf(out, " of %s", server);
    if (!clean || !json_object_size(clean)) {
        al_str_adds(out, " without arguments");
        return;
    }
    al_json_dump(clean, false, &json);
    al_str_adds(out, " with ");
    is_long = json.len > SUMMARY_MAX_BYTES;
    al_str_add(out, json.buf, is_long ? al_utf8_floor(json.buf, SUMMARY_MAX_BYTES) : json.len);
    al_str_adds(out, is_long ? "…" : "");
}

/* A string as it is; any other value as JSON, one member a line.  Caller frees. */
static char *text_of(const json_t *value)
{
    struct al_str text = AL_STR_INIT;
    char *json;

    if (json_is_string(value)) {
        al_str_add(&text, json_string_value(value), json_string_length(value));
        return al_str_detach(&text);
    }
    json = json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY);
    if (!json)
        abort(); /* out of memory: every value is valid */
    return json;
}

/* Add "  name: value\n" and tell whether that is all of the value. */
static bool add_line(const char *name, const json_t *value, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;
    al_auto(al_freep) char *shown_name = al_text_sanitize_shown_line(name);
    al_auto(al_freep) char *shown = NULL;
    bool is_whole;

    al_json_dump(value, false, &json);
    shown = al_text_sanitize_shown_line(json.buf);
    is_whole = strlen(shown) <= VALUE_MAX_BYTES;
    cut(shown, VALUE_MAX_BYTES);
    cut(shown_name, NAME_MAX_BYTES);
    al_str_addf(out, "  %s: %s", shown_name, shown);
    if (!is_whole)
        al_str_addf(out, "… (%zu bytes)", json.len);
    al_str_addc(out, '\n');
    return is_whole;
}

static void add_long(const char *name, const json_t *value, bool in_full, struct al_str *out)
{
    al_auto(al_freep) char *shown_name = al_text_sanitize_shown_line(name);
    al_auto(al_freep) char *text = text_of(value);

    al_str_addf(out, "\n%s:\n", shown_name);
    al_text_add_indented(out, text, in_full);
    if (out->buf[out->len - 1] != '\n')
        al_str_addc(out, '\n');
}

int al_defined_preview(const struct al_defined_args *args, bool in_full, struct al_str *out,
                       struct al_error *err)
{
    const size_t count = json_object_size(args->arguments);
    al_auto(al_str_clear) struct al_str values = AL_STR_INIT;
    size_t left_out = 0;
    const char *name;
    json_t *value;

    if (!count)
        return 0;
    if (count > AL_DEFINED_ARGUMENTS_MAX)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "A call with more than %d arguments cannot be shown to a user",
                            AL_DEFINED_ARGUMENTS_MAX);
    al_str_adds(out, "Arguments:\n");
    json_object_foreach((json_t *)args->arguments, name, value)
    {
        if (add_line(name, value, out))
            continue;
        if (in_full || values.len < EXCERPTS_MAX_BYTES)
            add_long(name, value, in_full, &values);
        else
            left_out++;
    }
    al_str_add(out, values.buf, values.len);
    if (left_out)
        al_str_addf(out, "\n%zu more of the long arguments %s not shown any further\n", left_out,
                    left_out == 1 ? "is" : "are");
    return 0;
}
