// SPDX-License-Identifier: Apache-2.0
/* The tools that a client sees: those of the chosen toolsets, where the earlier toolset wins a
 * name; those of other servers; and what an unknown name was probably meant to be. */
#include "call/registry.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/str.h"
#include "guard/grant.h"
#include "guard/text.h"

const struct al_toolset *al_toolset_find(const struct al_toolset_registry *registry,
                                         const char *name)
{
    for (size_t i = 0; i < registry->count; i++)
        if (!strcmp(registry->items[i].name, name))
            return &registry->items[i];
    return NULL;
}

char *al_toolset_names(const struct al_toolset_registry *registry)
{
    struct al_str names = AL_STR_INIT;

    for (size_t i = 0; i < registry->count; i++)
        if (!registry->items[i].is_for_commands)
            al_str_addf(&names, "%s%s", names.len ? ", " : "", registry->items[i].name);
    return al_str_detach(&names);
}

struct al_listed_tool al_toolset_find_tool(const struct al_toolset_registry *registry,
                                           const char *name)
{
    for (size_t i = 0; i < registry->count; i++)
        for (const struct al_tool *const *tool = registry->items[i].tools; *tool; tool++)
            if (!strcmp((*tool)->name, name))
                return (struct al_listed_tool){ .toolset = &registry->items[i], .tool = *tool };
    return (struct al_listed_tool){ .tool = NULL };
}

static void add_toolset(struct al_registry *registry, const struct al_toolset *toolset)
{
    al_auto(al_str_clear) struct al_str taken = AL_STR_INIT;

    for (size_t i = 0; toolset->tools[i]; i++) {
        const struct al_tool *tool = toolset->tools[i];
        const struct al_listed_tool *winner = al_registry_find(registry, tool->name);

        if (winner) {
            al_str_addf(&taken, "%s%s (%s)", taken.len > 0 ? ", " : "", tool->name,
                        winner->toolset->name);
            continue;
        }
        registry->items =
            al_reallocarray(registry->items, registry->count + 1, sizeof(*registry->items));
        registry->items[registry->count++] =
            (struct al_listed_tool){ .toolset = toolset, .tool = tool };
    }
    if (taken.len > 0)
        al_strv_addf(&registry->notes, "toolset '%s': earlier toolsets keep %s", toolset->name,
                     taken.buf);
}

int al_registry_fill(struct al_registry *registry, const struct al_toolset_registry *all,
                     const struct al_strv *names, struct al_error *err)
{
    al_registry_clear(registry);
    for (size_t i = 0; i < names->count; i++) {
        const struct al_toolset *toolset = al_toolset_find(all, names->items[i]);

        if (!toolset || toolset->is_for_commands) {
            al_auto(al_freep) char *safe = al_text_sanitize_line(names->items[i]);
            al_auto(al_freep) char *valid = al_toolset_names(all);

            al_registry_clear(registry);
            return al_error_set(err, AL_ERR_BAD_ARGS, "unknown toolset '%s' (valid: %s)", safe,
                                valid);
        }
        if (!al_strv_contains(&(struct al_strv){ .items = names->items, .count = i },
                              names->items[i]))
            add_toolset(registry, toolset);
    }
    return 0;
}

void al_registry_clear(struct al_registry *registry)
{
    free(registry->items);
    al_strv_clear(&registry->notes);
    *registry = AL_REGISTRY_INIT;
}

const struct al_listed_tool *al_registry_find(const struct al_registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->count; i++)
        if (!strcmp(registry->items[i].tool->name, name))
            return &registry->items[i];
    return NULL;
}

/** Longer than any name of a tool or parameter. */
#define NAME_MAX_BYTES 128

/* newName becomes new_name, and cwd becomes working_dir.  The function is called in parentheses:
 * the macro of that name is three blocks deep. */
static void to_snake(const char *name, struct al_str *out)
{
    for (const char *at = name; *at; at++) {
        if (isupper((unsigned char)*at) && at > name)
            al_str_addc(out, '_');
        al_str_addc(out, (char)(tolower)((unsigned char)*at));
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
    if (strlen(name) > NAME_MAX_BYTES || isupper((unsigned char)*name) ||
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
        if (isalnum((unsigned char)*name))
            al_str_addc(out, (char)(tolower)((unsigned char)*name));
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
    struct al_nearest nearest = { .found = NULL };

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
        al_nearest_offer(&nearest, own_letters.buf);
        if (nearest.found == own_letters.buf)
            nearest.found = own;
    }
    return nearest.found ? nearest.found : split_tools(registry, grant, letters.buf);
}
