// SPDX-License-Identifier: Apache-2.0
/* Removing secrets from texts and JSON values. */
#include "history/journal.h"

#include "guard/env.h"
#include "history/find_secret.h"

#define REDACTED "[redacted]"

bool al_redact_finds(const char *text, size_t len)
{
    size_t at;

    return al_find_secret(text, len, 0, &at) > 0;
}

void al_redact_text(const char *text, size_t len, struct al_str *out)
{
    size_t kept = 0; /* everything before this offset is in `out` */
    size_t at, secret;

    while ((secret = al_find_secret(text, len, kept, &at)) > 0) {
        al_str_add(out, text + kept, at - kept);
        al_str_adds(out, REDACTED);
        kept = at + secret;
    }
    al_str_add(out, text + kept, len - kept);
}

static json_t *redact_string(const json_t *value)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_redact_text(json_string_value(value), json_string_length(value), &text);
    return al_json_stringn(text.buf, text.len);
}

static json_t *redact_object(const json_t *object)
{
    json_t *clean = al_json_object();
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)object, name, value)
    {
        al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;

        al_redact_text(name, strlen(name), &safe);
        al_json_set(clean, safe.buf,
                    al_env_is_secret(name) ? al_json_string(REDACTED) : al_redact_json(value));
    }
    return clean;
}

json_t *al_redact_json(const json_t *value)
{
    json_t *clean, *item;
    size_t i;

    if (json_is_string(value))
        return redact_string(value);
    if (json_is_object(value))
        return redact_object(value);
    if (!json_is_array(value))
        return json_incref((json_t *)value);
    clean = al_json_array();
    json_array_foreach(value, i, item) al_json_append(clean, al_redact_json(item));
    return clean;
}

bool al_redact_has_secret(const json_t *value)
{
    const char *name;
    json_t *item;
    size_t i;

    if (json_is_string(value))
        return al_redact_finds(json_string_value(value), json_string_length(value));
    json_array_foreach(value, i, item) if (al_redact_has_secret(item)) return true;
    json_object_foreach((json_t *)value, name, item)
    {
        if (al_env_is_secret(name) || al_redact_finds(name, strlen(name)) ||
            al_redact_has_secret(item))
            return true;
    }
    return false;
}
