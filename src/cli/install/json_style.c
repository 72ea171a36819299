// SPDX-License-Identifier: Apache-2.0
#include "cli/install/json_style.h"

#include <string.h>

void al_json_style_newline(const struct al_json_style *style, const char *indent,
                           struct al_str *out)
{
    al_str_adds(out, style->newline);
    al_str_adds(out, indent);
}

static void add_members(const json_t *object, const struct al_json_style *style, const char *indent,
                        struct al_str *out)
{
    al_auto(al_freep) char *deeper = al_asprintf("%s%s", indent, style->unit);
    const char *name, *comma = "";
    const json_t *value;
    json_t *members = (json_t *)object; /* the iterator of jansson does not change it */

    al_str_addc(out, '{');
    json_object_foreach(members, name, value)
    {
        al_str_adds(out, comma);
        if (style->newline)
            al_json_style_newline(style, deeper, out);
        else if (*comma)
            al_str_addc(out, ' ');
        al_json_quote(name, strlen(name), out);
        al_str_adds(out, ": ");
        al_json_style_add(value, style, deeper, out);
        comma = ",";
    }
    if (style->newline && *comma)
        al_json_style_newline(style, indent, out);
    al_str_addc(out, '}');
}

void al_json_style_add(const json_t *value, const struct al_json_style *style, const char *indent,
                       struct al_str *out)
{
    const json_t *item;
    size_t i;

    if (json_is_object(value)) {
        add_members(value, style, indent, out);
    } else if (json_is_array(value)) {
        al_str_addc(out, '[');
        json_array_foreach(value, i, item)
        {
            al_str_adds(out, i ? ", " : "");
            al_json_style_add(item, style, indent, out);
        }
        al_str_addc(out, ']');
    } else if (json_is_string(value)) {
        al_json_quote(json_string_value(value), json_string_length(value), out);
    } else if (json_is_integer(value)) {
        al_str_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else {
        al_str_adds(out, json_is_true(value) ? "true" : "false");
    }
}
