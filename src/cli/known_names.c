// SPDX-License-Identifier: Apache-2.0
#include "cli/known_names.h"

#include <fnmatch.h>
#include <string.h>

#include "guard/text.h"
#include "tool/mounts.h"
#include "util/nearest.h"
#include "util/str.h"

/** A search for names that match a pattern. */
struct search {
    const struct al_toolset_registry *toolsets;
    const struct al_mcp_servers *servers;
    const char *pattern;
    bool found;
    struct al_nearest nearest;
};

static struct search search_for(const struct al_known *known, const char *pattern)
{
    return (struct search){ .toolsets = known->toolsets,
                            .servers = known->servers,
                            .pattern = pattern,
                            .nearest = { .word = pattern } };
}

static bool matches(const char *pattern, const char *name)
{
    return !pattern || fnmatch(pattern, name, 0) == 0;
}

static void try_name(struct search *search, const char *name)
{
    search->found |= matches(search->pattern, name);
    al_nearest_offer(&search->nearest, name);
}

static void search_operations(struct search *search, const struct al_tool *tool)
{
    for (size_t i = 0; i < tool->noperations; i++)
        try_name(search, tool->operations[i].name);
}

/* Whether a pattern can match a tool of another MCP server.  Only the server knows its tools. */
static bool may_be_mounted(const struct al_mcp_servers *servers, const char *pattern)
{
    for (size_t i = 0; i < servers->count; i++) {
        al_auto(al_freep) char *prefix =
            al_asprintf(AL_MOUNTS_PREFIX "%s__", servers->items[i].name);

        if (!pattern || al_policy_may_match_below(pattern, prefix))
            return true;
    }
    return false;
}

/* Search the names of all tools, or the operations of the tools that match the pattern `tool`. */
static void search_names(struct search *search, bool for_operation, const char *tool)
{
    for (size_t i = 0; i < search->toolsets->count; i++) {
        const struct al_tool *const *tools = search->toolsets->items[i]->tools;

        for (size_t k = 0; tools[k]; k++) {
            const struct al_tool *at = tools[k];

            if (!for_operation)
                try_name(search, at->name);
            else if (matches(tool, at->name))
                search_operations(search, at);
        }
    }
    if (!for_operation)
        search->found |= may_be_mounted(search->servers, search->pattern);
    else if (may_be_mounted(search->servers, tool))
        try_name(search, "call");
}

static int unknown(const char *location, const char *what, const struct search *search,
                   struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(search->pattern);

    if (al_starts_with(search->pattern, AL_MOUNTS_PREFIX))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "%s: %s is called '%s', as no such server is in [mcp.servers]",
                            location, what, word);
    if (search->nearest.found)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: %s is called '%s', did you mean '%s'?",
                            location, what, word, search->nearest.found);
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s: %s is called '%s'; see airlock tools", location,
                        what, word);
}

static int check_rule(const struct al_known *known, const char *file, const char *key,
                      const struct al_rule *rule, struct al_error *err)
{
    al_auto(al_freep) char *location = al_asprintf("%s:%u: %s", file, rule->line, key);
    struct search tool = search_for(known, rule->tool),
                  operation = search_for(known, rule->operation);
    al_auto(al_freep) char *safe = NULL;
    al_auto(al_freep) char *what = NULL;

    if (rule->tool)
        search_names(&tool, false, NULL);
    if (rule->tool && !tool.found)
        return unknown(location, "no tool", &tool, err);
    if (!rule->operation)
        return 0;
    search_names(&operation, true, rule->tool);
    if (operation.found)
        return 0;
    safe = rule->tool ? al_text_sanitize_line(rule->tool) : NULL;
    what = safe ? al_asprintf("no operation of %s", safe) : al_strdup("no operation");
    return unknown(location, what, &operation, err);
}

static int check_grant(const struct al_known *known, const char *location,
                       const struct al_grant *grant, struct al_error *err)
{
    for (size_t i = 0; i < grant->tools.count; i++) {
        struct search tool = search_for(known, grant->tools.items[i]);

        search_names(&tool, false, NULL);
        if (!tool.found)
            return unknown(location, "no tool", &tool, err);
    }
    return 0;
}

int al_check_known_names(const struct al_known *known, const struct al_config *config,
                         struct al_error *err)
{
    const char *file = config->file ? config->file : "";
    int r = 0;

    for (size_t i = 0; r == 0 && i < config->approval.policy.count; i++)
        r = check_rule(known, file, "tools.approval.rule", &config->approval.policy.rules[i], err);
    for (size_t i = 0; r == 0 && i < config->grants.count; i++) {
        const struct al_grant *grant = &config->grants.items[i];
        al_auto(al_freep) char *location =
            al_asprintf("%s:%u: grants.%s.tools", file, grant->tools_line, grant->name);

        r = check_grant(known, location, grant, err);
    }
    return r;
}

int al_check_worker_names(const struct al_known *known, const struct al_worker *worker,
                          struct al_error *err)
{
    al_auto(al_freep) char *location = al_asprintf("%s: grants.tools", worker->file);
    int r = 0;

    for (size_t i = 0; r == 0 && i < worker->policy.count; i++)
        r = check_rule(known, worker->file, "policy", &worker->policy.rules[i], err);
    for (size_t i = 0; r == 0 && i < worker->grants.count; i++)
        r = check_grant(known, location, &worker->grants.items[i], err);
    return r;
}
