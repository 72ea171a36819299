// SPDX-License-Identifier: Apache-2.0
#include "cli/names.h"

#include <fnmatch.h>

#include "guard/text.h"
#include "tools/toolsets.h"
#include "tools/upstream/mounts.h"

static bool matches(const char *pattern, const char *name)
{
    return !pattern || fnmatch(pattern, name, 0) == 0;
}

bool al_names_may_match(const struct al_rule *rule, const struct al_tool *tool)
{
    for (size_t i = 0; matches(rule->tool, tool->name) && i < tool->noperations; i++)
        if (matches(rule->operation, tool->operations[i].name))
            return true;
    return false;
}

bool al_names_may_be_mounted(const struct al_setup *setup, const char *pattern)
{
    const struct al_mcp_servers *servers = &setup->config.mcp.servers;

    for (size_t i = 0; i < servers->count; i++) {
        al_auto(al_freep) char *prefix =
            al_asprintf(AL_MOUNTS_PREFIX "%s__", servers->items[i].name);

        if (!pattern || al_policy_may_match_below(pattern, prefix))
            return true;
    }
    return false;
}

void al_names_offer(struct al_nearest *nearest)
{
    const struct al_toolset_registry *toolsets = al_toolsets();

    for (size_t i = 0; i < toolsets->count; i++)
        for (const struct al_tool *const *tool = toolsets->items[i].tools; *tool; tool++)
            al_nearest_offer(nearest, (*tool)->name);
}

static int unknown(const char *location, const char *what, const struct al_nearest *nearest,
                   struct al_error *err)
{
    const bool mounted = al_starts_with(nearest->word, AL_MOUNTS_PREFIX);
    al_auto(al_freep) char *word = al_text_sanitize_line(nearest->word);
    al_auto(al_freep) char *meant =
        nearest->found ? al_asprintf(", did you mean '%s'?", nearest->found) : NULL;

    return al_error_set(err, AL_ERR_BAD_ARGS, "%s: %s is called '%s'%s", location, what, word,
                        mounted ? ", as no such server is in [mcp.servers]"
                        : meant ? meant
                                : "; see airlock tools");
}

/* Whether a rule for this operation (NULL: any) can match a tool of some toolset.  The operations
 * of the tools that its pattern matches are offered. */
static bool may_match_any(const struct al_rule *rule, struct al_nearest *nearest)
{
    bool found = false;

    for (size_t i = 0; i < al_toolsets()->count; i++)
        for (const struct al_tool *const *at = al_toolsets()->items[i].tools; *at; at++) {
            found |= al_names_may_match(rule, *at);
            for (size_t k = 0; matches(rule->tool, (*at)->name) && k < (*at)->noperations; k++)
                al_nearest_offer(nearest, (*at)->operations[k].name);
        }
    return found;
}

static int check_tool(const struct al_setup *setup, const char *location, const char *pattern,
                      struct al_error *err)
{
    struct al_nearest tools = { .word = pattern }, operations = { .word = "" };

    if (may_match_any(&(struct al_rule){ .tool = (char *)pattern }, &operations) ||
        al_names_may_be_mounted(setup, pattern))
        return 0;
    al_names_offer(&tools);
    return unknown(location, "no tool", &tools, err);
}

static int check_rule(const struct al_setup *setup, const char *location,
                      const struct al_rule *rule, struct al_error *err)
{
    struct al_nearest nearest = { .word = rule->operation };
    al_auto(al_freep) char *safe = rule->tool ? al_text_sanitize_line(rule->tool) : NULL;
    al_auto(al_freep) char *what =
        al_asprintf("no operation%s%s", safe ? " of " : "", safe ? safe : "");
    int r = rule->tool ? check_tool(setup, location, rule->tool, err) : 0;

    if (r < 0 || !rule->operation || may_match_any(rule, &nearest))
        return r;
    if (al_names_may_be_mounted(setup, rule->tool)) {
        if (matches(rule->operation, "call"))
            return 0;
        al_nearest_offer(&nearest, "call");
    }
    return unknown(location, what, &nearest, err);
}

/* Check the rules and the grants of a file.  A worker file's one grant has no name and no line. */
static int check_all(const struct al_setup *setup, const char *file, const char *key,
                     const struct al_policy *policy, const struct al_grants *grants,
                     struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < policy->count; i++) {
        al_auto(al_freep) char *location =
            al_asprintf("%s:%u: %s", file, policy->rules[i].line, key);

        r = check_rule(setup, location, &policy->rules[i], err);
    }
    for (size_t i = 0; r == 0 && i < grants->count; i++) {
        const struct al_grant *grant = &grants->items[i];
        al_auto(al_freep) char *location =
            grant->tools_line
                ? al_asprintf("%s:%u: grants.%s.tools", file, grant->tools_line, grant->name)
                : al_asprintf("%s: grants.tools", file);

        for (size_t k = 0; r == 0 && k < grant->tools.count; k++)
            r = check_tool(setup, location, grant->tools.items[k], err);
    }
    return r;
}

int al_names_check(const struct al_setup *setup, const struct al_config *config,
                   struct al_error *err)
{
    return check_all(setup, config->file ? config->file : "", "tools.approval.rule",
                     &config->approval.policy, &config->grants, err);
}

int al_names_check_worker(const struct al_setup *setup, struct al_error *err)
{
    const struct al_worker *worker = &setup->worker;

    return check_all(setup, worker->file, "policy", &worker->policy, &worker->grants, err);
}
