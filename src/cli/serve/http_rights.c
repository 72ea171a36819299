// SPDX-License-Identifier: Apache-2.0
#include "cli/serve/http_rights.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "guard/agent.h"

/* Everything that a principal's session borrows. */
struct seat {
    struct al_rules *rules;
    struct al_grants narrowed; /* the worker file's grant, which narrows this token's */
    char *agent;
    struct al_session session;
};

struct al_rules *al_rules_new(void)
{
    struct al_rules *rules = al_calloc(1, sizeof(*rules));

    al_config_init(&rules->config);
    atomic_init(&rules->refs, 1);
    return rules;
}

struct al_rules *al_rules_ref(struct al_rules *rules)
{
    (void)atomic_fetch_add(&rules->refs, 1);
    return rules;
}

void al_rules_unref(struct al_rules *rules)
{
    if (!rules || atomic_fetch_sub(&rules->refs, 1) != 1)
        return;
    al_config_clear(&rules->config);
    free(rules);
}

static void free_seat(void *payload)
{
    struct seat *seat = payload;

    al_setup_clear_agent(&seat->session);
    al_grants_clear(&seat->narrowed);
    free(seat->agent);
    al_rules_unref(seat->rules);
    free(seat);
}

static const char *grant_name(const struct al_rules *rules, const struct al_token *token)
{
    return token && token->grant ? token->grant : rules->config.serve.grant;
}

/* The token's grant, and where there is a worker file, that one's too. */
static int choose_grant(const struct al_setup *setup, struct al_rules *rules,
                        const struct al_token *token, struct al_grants *narrowed,
                        const struct al_grant **ret_grant, struct al_error *err)
{
    const char *name = grant_name(rules, token);
    const struct al_grant *grant = NULL;
    int r = name ? al_grants_choose(&rules->config.grants, name, &grant, err) : 0;

    if (r == 0 && setup->worker.grants.count) {
        al_grants_copy(narrowed, &setup->worker.grants);
        narrowed->items[0].also = grant;
        r = al_grants_choose(narrowed, narrowed->items[0].name, &grant, err);
    }
    if (r == 0)
        *ret_grant = grant;
    return r;
}

/* The name that is chosen for the agent comes before the names of what it is limited by. */
static char *choose_agent(const struct al_setup *setup, const struct al_rules *rules,
                          const struct al_token *token)
{
    const char *chosen = token ? token->agent : NULL;

    if (!chosen)
        chosen = rules->config.serve.agent;
    if (!chosen)
        chosen = setup->worker.name;
    if (!chosen)
        chosen = grant_name(rules, token);
    return al_agent_name(chosen);
}

/* --- The text of rights --- */

/* With its length, so that no two lists have the same text. */
static void add_text(const char *text, struct al_str *out)
{
    if (text)
        al_str_addf(out, "%zu:%s,", strlen(text), text);
    else
        al_str_adds(out, "-,");
}

static void add_grant(const struct al_grant *grant, struct al_str *out)
{
    for (; grant; grant = grant->also) {
        add_text(grant->name, out);
        al_str_addf(out, "%d/%zu,%d/%zu,", grant->limits_tools, grant->tools.count,
                    grant->limits_dirs, grant->ndirs);
        for (size_t i = 0; i < grant->tools.count; i++)
            add_text(grant->tools.items[i], out);
        for (size_t i = 0; i < grant->ndirs; i++) {
            add_text(grant->dirs[i].path, out);
            al_str_addf(out, "%d,", grant->dirs[i].access);
        }
    }
    al_str_addc(out, ';');
}

static void add_policy(const struct al_policy *policy, struct al_str *out)
{
    for (size_t i = 0; i < policy->count; i++) {
        const struct al_rule *rule = &policy->rules[i];
        const char *const texts[] = { rule->tool,   rule->operation, rule->effect,
                                      rule->branch, rule->path,      rule->message };

        for (size_t k = 0; k < AL_COUNT(texts); k++)
            add_text(texts[k], out);
        al_str_addf(out, "%d/%u,", rule->decision, rule->line);
    }
    al_str_addf(out, "%zu;", policy->narrowing);
}

int al_rights_describe(const struct al_setup *setup, struct al_rules *rules,
                       const struct al_token *token, struct al_str *ret_text, struct al_error *err)
{
    al_auto(al_grants_clear) struct al_grants narrowed = AL_GRANTS_INIT;
    al_auto(al_freep) char *agent = choose_agent(setup, rules, token);
    const struct al_config *config = &rules->config;
    const struct al_grant *grant = NULL;
    int r = choose_grant(setup, rules, token, &narrowed, &grant, err);

    if (r < 0)
        return r;
    add_text(agent, ret_text);
    add_grant(grant, ret_text);
    add_policy(&config->approval.policy, ret_text);
    al_str_addf(ret_text, "%d,%" PRIu32 ",%" PRIu32, config->approval.mode, config->git.timeout_ms,
                config->git.max_bytes);
    return 0;
}

/* --- The principal --- */

static int fill_seat(const struct al_setup *setup, const struct al_token *token, struct seat *seat,
                     struct al_error *err)
{
    const struct al_config *config = &seat->rules->config;
    struct al_session *session = &seat->session;
    int r;

    *session = setup->session;
    r = choose_grant(setup, seat->rules, token, &seat->narrowed, &session->grant, err);
    if (r < 0)
        return r;
    seat->agent = choose_agent(setup, seat->rules, token);
    session->agent = seat->agent;
    session->approvals = NULL;
    session->mode = config->approval.mode;
    session->policy = &config->approval.policy;
    session->defaults.timeout_ms = config->git.timeout_ms;
    session->defaults.max_bytes = config->git.max_bytes;
    if (!al_setup_may_mount(setup, session->grant))
        session->mounts = NULL;
    return al_setup_agent(setup, session, err);
}

int al_rights_new(const struct al_setup *setup, struct al_rules *rules,
                  const struct al_token *token, struct al_principal **ret_principal,
                  struct al_error *err)
{
    struct seat *seat = al_calloc(1, sizeof(*seat));
    al_auto(al_freep) char *name = NULL;
    int r;

    seat->rules = al_rules_ref(rules);
    r = fill_seat(setup, token, seat, err);
    if (r < 0) {
        free_seat(seat);
        return r;
    }
    if (seat->agent)
        name = al_strdup(seat->agent);
    else if (token && token->line)
        name = al_asprintf("the token of line %u", token->line);
    else
        name = al_strdup(token ? "the token" : "everybody");
    *ret_principal = al_principal_new(&seat->session, name, free_seat, seat);
    return 0;
}
