// SPDX-License-Identifier: Apache-2.0
/* Looking at a tree: members, types, and what messages say about them. */
#include "util/nearest.h"
#include "util/str.h"
#include "util/yaml.h"

int al_yaml_error(const struct al_yaml *yaml, struct al_error *err, const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str what = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&what, fmt, args);
    va_end(args);
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s:%u: %s%s%s", yaml->file, yaml->line, yaml->key,
                        *yaml->key ? ": " : "", what.buf);
}

const struct al_yaml *al_yaml_get(const struct al_yaml *mapping, const char *name)
{
    for (size_t i = 0; mapping->type == AL_YAML_MAPPING && i < mapping->count; i++)
        if (!strcmp(mapping->items[i].name, name))
            return &mapping->items[i];
    return NULL;
}

static const char *const type_names[] = {
    [AL_YAML_NULL] = "empty",      [AL_YAML_BOOL] = "true or false",
    [AL_YAML_NUMBER] = "a number", [AL_YAML_STRING] = "a string",
    [AL_YAML_LIST] = "a list",     [AL_YAML_MAPPING] = "a mapping",
};

int al_yaml_check_type(const struct al_yaml *yaml, enum al_yaml_type wanted, struct al_error *err)
{
    bool needs_quotes =
        wanted == AL_YAML_STRING && (yaml->type == AL_YAML_NUMBER || yaml->type == AL_YAML_BOOL);

    if (yaml->type == wanted)
        return 0;
    return al_yaml_error(yaml, err, "must be %s, not %s%s", type_names[wanted],
                         type_names[yaml->type], needs_quotes ? "; put it in quotes" : "");
}

int al_yaml_check_names(const struct al_yaml *yaml, const char *const *names, struct al_error *err)
{
    int r = al_yaml_check_type(yaml, AL_YAML_MAPPING, err);

    for (size_t i = 0; r == 0 && i < yaml->count; i++) {
        const struct al_yaml *member = &yaml->items[i];
        struct al_nearest nearest = { .word = member->name };
        bool known = false;

        for (size_t k = 0; names[k]; k++) {
            known = known || !strcmp(names[k], member->name);
            al_nearest_offer(&nearest, names[k]);
        }
        if (!known)
            r = al_yaml_error(member, err, "unknown key%s%s%s",
                              nearest.found ? ", did you mean '" : "",
                              nearest.found ? nearest.found : "", nearest.found ? "'?" : "");
    }
    return r;
}

int al_yaml_check_string(const struct al_yaml *yaml, size_t max_bytes, struct al_error *err)
{
    int r = al_yaml_check_type(yaml, AL_YAML_STRING, err);

    if (r < 0)
        return r;
    if (!*yaml->text)
        return al_yaml_error(yaml, err, "must not be empty");
    if (strlen(yaml->text) > max_bytes)
        return al_yaml_error(yaml, err, "must be at most %zu bytes", max_bytes);
    return 0;
}

int al_yaml_check_list(const struct al_yaml *yaml, size_t min, size_t max, struct al_error *err)
{
    int r = al_yaml_check_type(yaml, AL_YAML_LIST, err);

    if (r == 0 && (yaml->count < min || yaml->count > max))
        r = al_yaml_error(yaml, err, "must have between %zu and %zu items", min, max);
    return r;
}

int al_yaml_get_string(const struct al_yaml *mapping, const char *name, size_t max_bytes,
                       const char **ret_text, struct al_error *err)
{
    const struct al_yaml *member = al_yaml_get(mapping, name);
    int r = member ? al_yaml_check_string(member, max_bytes, err) : 0;

    if (r == 0)
        *ret_text = member ? member->text : NULL;
    return r;
}
