// SPDX-License-Identifier: Apache-2.0
/* [[tools.approval.rule]]: a list of tables, each of them one rule. */
#include "config/reading.h"

#define RULES_MAX 256u

void al_reading_end_rule(struct al_reading *reading)
{
    const struct al_policy *policy = &reading->into->approval.policy;

    if (policy->count && !reading->has_decision)
        al_reading_complain(reading, policy->rules[policy->count - 1].line, "tools.approval.rule",
                            "has no 'decision'");
}

bool al_reading_set_rules(struct al_reading *reading, const struct al_toml_value *value,
                          struct al_policy *policy)
{
    if (value->in_list) {
        al_reading_end_rule(reading);
        reading->has_decision = false;
        (void)al_policy_add(policy, value->line);
        return true;
    }
    if (value->type == AL_TOML_STRINGS && !value->nitems) {
        al_policy_clear(policy);
        return false;
    }
    if (!al_reading_wants(reading, value, AL_TOML_TABLES))
        return false;
    if (value->nitems > RULES_MAX) {
        al_reading_complain(reading, value->line, value->key, "must have at most %u rules",
                            RULES_MAX);
        return false;
    }
    al_policy_clear(policy);
    reading->has_decision = true; /* no rule is open */
    return true;
}
