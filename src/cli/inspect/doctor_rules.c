// SPDX-License-Identifier: Apache-2.0
/* The finding of airlock doctor about rules that protect nothing in this session, since the tool
 * that they are about is of a toolset that was not chosen. */
#include "cli/inspect/doctor.h"

#include <fnmatch.h>

#include "guard/text.h"
#include "tool/mounts.h"

static bool matches(const char *pattern, const char *name)
{
    return !pattern || fnmatch(pattern, name, 0) == 0;
}

static bool may_match(const struct al_rule *rule, const struct al_tool *tool)
{
    if (!matches(rule->tool, tool->name))
        return false;
    for (size_t i = 0; i < tool->noperations; i++)
        if (matches(rule->operation, tool->operations[i].name))
            return true;
    return false;
}

/* Whether no own tool of the session is of this rule.  Those of other MCP servers are not known. */
static bool is_idle(const struct al_setup *setup, const struct al_rule *rule)
{
    if (rule->decision == AL_APPROVAL_ALLOW || (!rule->tool && !rule->operation))
        return false;
    for (size_t i = 0; i < setup->config.mcp.servers.count; i++) {
        al_auto(al_freep) char *prefix =
            al_asprintf(AL_MOUNTS_PREFIX "%s__", setup->config.mcp.servers.items[i].name);

        if (!rule->tool || al_policy_may_match_below(rule->tool, prefix))
            return false;
    }
    for (size_t i = 0; i < setup->registry.count; i++)
        if (may_match(rule, setup->registry.items[i].tool))
            return false;
    return true;
}

/* The first toolset that has what the rule is about. */
static const char *toolset_of(const struct al_setup *setup, const struct al_rule *rule)
{
    for (size_t i = 0; i < setup->toolsets.count; i++)
        for (size_t k = 0; setup->toolsets.items[i]->tools[k]; k++)
            if (may_match(rule, setup->toolsets.items[i]->tools[k]))
                return setup->toolsets.items[i]->name;
    return NULL;
}

void al_doctor_rules(struct al_findings *findings, const struct al_setup *setup)
{
    const struct al_policy *policy = &setup->config.approval.policy;

    for (size_t i = 0; i < policy->count && setup->registry.count; i++) {
        const struct al_rule *rule = &policy->rules[i];
        const char *toolset = is_idle(setup, rule) ? toolset_of(setup, rule) : NULL;
        al_auto(al_freep) char *what = NULL, *safe = NULL;

        if (!toolset)
            continue;
        safe = al_text_sanitize_line(rule->tool ? rule->tool : rule->operation);
        what = al_asprintf("rule %zu (line %u) is about %s of the toolset %s", i + 1, rule->line,
                           safe, toolset);
        al_finding_add(findings, "rules", AL_WARNING, what,
                       "No tool of this session is of that name, so the rule protects nothing "
                       "here. Name the tools that airlock tools lists, or choose that toolset.");
    }
}
