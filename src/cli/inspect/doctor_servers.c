// SPDX-License-Identifier: Apache-2.0
/* The findings of airlock doctor about other MCP servers: a line for each, and the tools that are
 * not mounted. */
#include "cli/inspect/doctor.h"

#include <fnmatch.h>

#include "tools/upstream/mounts.h"

/** The tools that are named. */
#define NAMED_MAX 8

static void check_server(struct al_findings *findings, struct al_upstream *server)
{
    al_auto(al_upstream_state_clear) struct al_upstream_state state = { .ntools = 0 };
    al_auto(al_freep) char *what = al_asprintf("mcp %s", al_upstream_name(server));

    al_upstream_get_state(server, &state);
    if (state.phase != AL_UPSTREAM_READY)
        al_finding_add(findings, what, AL_MISSING,
                       state.confined
                           ? "Correct its command or timeout_ms. It is confined: its allow has to "
                             "list what it reads, writes or runs outside the roots."
                           : "Correct its command or timeout_ms.",
                       "%s", state.problem ? state.problem : "has not answered in time");
    else
        al_finding_add(findings, what, state.confined ? AL_FINE : AL_WARNING,
                       "It runs with all of your rights. Remove confine = false, and list in its "
                       "allow what it needs.",
                       "%s, %zu tool%s, %s, %s", state.program ? state.program : "no name",
                       state.ntools, state.ntools == 1 ? "" : "s",
                       state.revision ? state.revision->name : "no revision",
                       state.confined ? "confined" : "not confined");
    if (state.nleft_out && state.left_out)
        al_finding_add(findings, what, AL_WARNING, "Nothing to do here: tell its authors.",
                       "%zu of its tools left out: %s", state.nleft_out, state.left_out);
}

static void check_left_out(struct al_findings *findings, const struct al_setup *setup,
                           const struct al_mounted_list *list)
{
    al_auto(al_strv_clear) struct al_strv lines = AL_STRV_INIT, collisions = AL_STRV_INIT;

    al_upstream_mounts_left_out(setup->session.mounts, list, &lines, &collisions);
    for (size_t i = 0; i < collisions.count; i++)
        al_finding_add(findings, "mcp tools", AL_FINE, NULL,
                       "not offered, as airlock has tools of these names: %s", collisions.items[i]);
    for (size_t i = 0; i < lines.count && i < NAMED_MAX; i++)
        al_finding_add(findings, "mcp tools", AL_WARNING, "The tool is not offered.", "%s",
                       lines.items[i]);
    if (lines.count > NAMED_MAX)
        al_finding_add(findings, "mcp tools", AL_WARNING,
                       "Choose the tools with [mcp.servers.NAME] tools.",
                       "%zu more are not mounted", lines.count - NAMED_MAX);
}

/* Whether the tools that a pattern can match are known: it is about servers of the session, and
 * all of them run. */
static bool is_decided(const struct al_mounts *mounts, const char *pattern)
{
    bool found = false;

    for (size_t i = 0; i < al_upstream_mounts_count(mounts); i++) {
        struct al_upstream *server = al_upstream_mounts_server(mounts, i);
        al_auto(al_upstream_state_clear) struct al_upstream_state state = { .ntools = 0 };
        al_auto(al_freep) char *prefix =
            al_asprintf(AL_MOUNTS_PREFIX "%s__", al_upstream_name(server));

        if (!al_policy_may_match_below(pattern, prefix))
            continue;
        al_upstream_get_state(server, &state);
        if (state.phase != AL_UPSTREAM_READY)
            return false;
        found = true;
    }
    return found;
}

static bool is_offered(const struct al_mounted_list *list, const char *pattern)
{
    for (size_t i = 0; i < list->count; i++)
        if (fnmatch(pattern, list->items[i].tool->name, 0) == 0)
            return true;
    return false;
}

/* A start cannot refuse a rule about a tool that its server does not have. */
static void check_rules(struct al_findings *findings, const struct al_setup *setup,
                        const struct al_mounted_list *list)
{
    const struct al_policy *policy = &setup->config.approval.policy;

    for (size_t i = 0; i < policy->count; i++) {
        const char *pattern = policy->rules[i].tool;

        if (!pattern || !al_starts_with(pattern, AL_MOUNTS_PREFIX) || is_offered(list, pattern) ||
            !is_decided(setup->session.mounts, pattern))
            continue;
        al_finding_add(findings, "mcp rules", AL_WARNING,
                       "Correct the name: the rule decides nothing. airlock tools lists the "
                       "names.",
                       "the rule in line %u is about '%s', which no server offers",
                       policy->rules[i].line, pattern);
    }
}

void al_doctor_servers(struct al_findings *findings, struct al_setup *setup)
{
    const struct al_mounted_list *list = al_setup_mounted(setup);
    const struct al_mounts *mounts = setup->session.mounts;

    for (size_t i = 0; i < al_upstream_mounts_count(mounts); i++)
        check_server(findings, al_upstream_mounts_server(mounts, i));
    if (list) {
        check_left_out(findings, setup, list);
        check_rules(findings, setup, list);
    }
}
