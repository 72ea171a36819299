// SPDX-License-Identifier: Apache-2.0
#include "tool/spelling.h"

#include "util/nearest.h"

/** Longer than any name of a tool or parameter. */
#define NAME_MAX_BYTES 128

/* Names are ASCII, whatever the locale. */
static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static char to_lower(char c)
{
    return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter_or_digit(char c)
{
    return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || (c >= '0' && c <= '9');
}

/* newName becomes new_name, and cwd becomes working_dir. */
static void to_snake(const char *name, struct al_str *out)
{
    for (const char *at = name; *at; at++) {
        if (is_upper(*at) && at > name)
            al_str_addc(out, '_');
        al_str_addc(out, to_lower(*at));
    }
    if (!strcmp(out->buf, "cwd")) {
        al_str_reset(out);
        al_str_adds(out, "working_dir");
    }
}

bool al_param_is_called(const struct al_param *param, const char *name)
{
    al_auto(al_str_clear) struct al_str own = AL_STR_INIT, given = AL_STR_INIT;

    if (!strcmp(param->name, name))
        return true;
    if (strlen(name) > NAME_MAX_BYTES || is_upper(*name) ||
        (*name != *param->name && *name != 'c' &&
         *name != 'w')) /* a cheap test that decides for most calls */
        return false;
    to_snake(param->name, &own);
    to_snake(name, &given);
    return !strcmp(own.buf, given.buf);
}

/* The name reduced to letters and digits: without a client's prefix ("mcp__airlock__git_log"),
 * case, '_', '-', '.', and a leading "git". */
static void to_letters(const char *name, struct al_str *out)
{
    for (const char *at = name; (at = strstr(at, "__")); at += 2)
        name = at + 2;
    for (; *name; name++)
        if (is_letter_or_digit(*name))
            al_str_addc(out, to_lower(*name));
    if (al_starts_with(out->buf, "git") && out->len > strlen("git")) {
        al_auto(al_freep) char *rest = al_strdup(out->buf + strlen("git"));

        al_str_reset(out);
        al_str_adds(out, rest);
    }
}

/* A command of git that this session has under two other names; NULL: it has not. */
static const char *split_tools(const struct al_registry *registry, const struct al_grant *grant,
                               const char *letters)
{
    static const char *const parts[] = { "git_switch", "git_restore" };

    if (strcmp(letters, "checkout") != 0)
        return NULL;
    for (size_t i = 0; i < AL_COUNT(parts); i++)
        if (!al_registry_find(registry, parts[i]) || !al_grant_has_tool(grant, parts[i]))
            return NULL;
    return "git_switch or git_restore";
}

const char *al_registry_nearest(const struct al_registry *registry, const struct al_grant *grant,
                                const char *name)
{
    al_auto(al_str_clear) struct al_str letters = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv candidates = AL_STRV_INIT;
    struct al_nearest nearest = { .found = NULL };
    const char *found = NULL;

    if (strlen(name) > NAME_MAX_BYTES)
        return NULL;
    to_letters(name, &letters);
    nearest.word = letters.buf;
    for (size_t i = 0; i < registry->count; i++) {
        const char *own = registry->items[i].tool->name;
        al_auto(al_str_clear) struct al_str own_letters = AL_STR_INIT;

        if (!al_grant_has_tool(grant, own))
            continue;
        to_letters(own, &own_letters);
        al_strv_add(&candidates, own_letters.buf); /* the list outlives this iteration */
        al_nearest_offer(&nearest, candidates.items[candidates.count - 1]);
        if (nearest.found == candidates.items[candidates.count - 1])
            found = own;
    }
    return found ? found : split_tools(registry, grant, letters.buf);
}
