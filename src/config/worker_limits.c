// SPDX-License-Identifier: Apache-2.0
#include "config/worker_limits.h"

#include <string.h>

#include "util/str.h"

#define ROOTS_MAX      64u
#define TOOLS_MAX      256u
#define DIRS_MAX       256u
#define RULES_MAX      256u
#define TEXT_MAX_BYTES 4096u
#define ONLY_NARROWS   "must be 'ask' or 'deny': a worker file only narrows"

static int check_strings(const struct al_yaml *list, size_t min, size_t max, struct al_error *err)
{
    int r = al_yaml_check_list(list, min, max, err);

    for (size_t i = 0; r == 0 && i < list->count; i++)
        r = al_yaml_check_string(&list->items[i], TEXT_MAX_BYTES, err);
    return r;
}

static int take_roots(struct al_worker *worker, struct al_error *err)
{
    const struct al_yaml *roots = al_yaml_get(&worker->frontmatter, "roots");
    int r = roots ? check_strings(roots, 1, ROOTS_MAX, err) : 0;

    if (r == 0)
        worker->roots = roots;
    return r;
}

static int take_tools(const struct al_yaml *tools, struct al_grant *grant, struct al_error *err)
{
    int r = check_strings(tools, 0, TOOLS_MAX, err);

    grant->limits_tools = true;
    for (size_t i = 0; r == 0 && i < tools->count; i++)
        al_strv_add(&grant->tools, tools->items[i].text);
    return r;
}

static int take_dirs(const struct al_yaml *dirs, struct al_grant *grant, struct al_error *err)
{
    int r = al_yaml_check_type(dirs, AL_YAML_MAPPING, err);

    grant->limits_dirs = true;
    if (r == 0 && dirs->count > DIRS_MAX)
        return al_yaml_error(dirs, err, "lists more than %u directories", DIRS_MAX);
    for (size_t i = 0; r == 0 && i < dirs->count; i++) {
        const struct al_yaml *dir = &dirs->items[i];
        al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

        r = al_yaml_check_string(dir, TEXT_MAX_BYTES, err);
        if (r == 0 && al_grant_add_dir(grant, dir->name, dir->text, &why) < 0)
            r = al_yaml_error(dir, err, "%s", why.message);
    }
    return r;
}

static int take_grant(struct al_worker *worker, struct al_error *err)
{
    static const char *const names[] = { "tools", "fs", NULL };
    const struct al_yaml *from = al_yaml_get(&worker->frontmatter, "grants"), *tools, *dirs;
    al_auto(al_freep) char *name = NULL;
    struct al_grant *grant;
    int r = from ? al_yaml_check_names(from, names, err) : 0;

    if (!from || r < 0)
        return r;
    name = al_asprintf("worker %s", worker->name);
    grant = al_grants_add(&worker->grants, name);
    tools = al_yaml_get(from, "tools");
    dirs = al_yaml_get(from, "fs");
    if (tools)
        r = take_tools(tools, grant, err);
    return r == 0 && dirs ? take_dirs(dirs, grant, err) : r;
}

static int take_pattern(const struct al_yaml *rule, const char *name, char **field,
                        struct al_error *err)
{
    const char *text;
    int r = al_yaml_get_string(rule, name, TEXT_MAX_BYTES, &text, err);

    if (r == 0)
        *field = al_strdup(text);
    return r;
}

static int take_decision(const struct al_yaml *from, struct al_rule *rule, struct al_error *err)
{
    const struct al_yaml *decision = al_yaml_get(from, "decision");
    int r = decision ? al_yaml_check_string(decision, TEXT_MAX_BYTES, err)
                     : al_yaml_error(from, err, "has no 'decision'");

    if (r < 0)
        return r;
    if (strcmp(decision->text, "ask") != 0 && strcmp(decision->text, "deny") != 0)
        return al_yaml_error(decision, err, ONLY_NARROWS);
    rule->decision = decision->text[0] == 'a' ? AL_APPROVAL_ASK : AL_APPROVAL_DENY;
    return 0;
}

static int take_rule(const struct al_yaml *from, struct al_policy *policy, struct al_error *err)
{
    static const char *const names[] = { "tool", "operation", "effect",  "branch",
                                         "path", "decision",  "message", NULL };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct al_rule *rule = al_policy_add(policy, from->line);
    const struct {
        const char *name;
        char **field;
    } patterns[] = {
        { "tool", &rule->tool },     { "operation", &rule->operation },
        { "effect", &rule->effect }, { "branch", &rule->branch },
        { "path", &rule->path },     { "message", &rule->message },
    };
    int r = al_yaml_check_names(from, names, err);

    for (size_t i = 0; r == 0 && i < AL_COUNT(patterns); i++)
        r = take_pattern(from, patterns[i].name, patterns[i].field, err);
    if (r == 0 && rule->effect && al_policy_check_effect(rule->effect, &why) < 0)
        r = al_yaml_error(al_yaml_get(from, "effect"), err, "%s", why.message);
    return r == 0 ? take_decision(from, rule, err) : r;
}

static int take_policy(struct al_worker *worker, struct al_error *err)
{
    const struct al_yaml *rules = al_yaml_get(&worker->frontmatter, "policy");
    int r = rules ? al_yaml_check_list(rules, 0, RULES_MAX, err) : 0;

    for (size_t i = 0; rules && r == 0 && i < rules->count; i++)
        r = take_rule(&rules->items[i], &worker->policy, err);
    return r;
}

int al_worker_take_limits(struct al_worker *worker, struct al_error *err)
{
    int r = take_roots(worker, err);

    if (r == 0)
        r = take_grant(worker, err);
    return r == 0 ? take_policy(worker, err) : r;
}
