// SPDX-License-Identifier: Apache-2.0
/* [[tools.approval.rule]]: a list of tables, one for each rule. */
#include "config/reader.h"

#define RULES_MAX 256u

void al_config_reader_end_rule(struct al_config_reader *reader)
{
    const struct al_policy *policy = &reader->into->approval.policy;

    if (policy->count && !reader->has_decision)
        al_config_reader_fail(reader, policy->rules[policy->count - 1].line, "tools.approval.rule",
                              "has no 'decision'");
}

bool al_config_reader_set_rules(struct al_config_reader *reader, const struct al_toml_value *value,
                                struct al_policy *policy)
{
    if (value->in_list) {
        al_config_reader_end_rule(reader);
        reader->has_decision = false;
        (void)al_policy_add(policy, value->line);
        return true;
    }
    if (value->type == AL_TOML_STRINGS && !value->nitems) {
        al_policy_clear(policy);
        return false;
    }
    if (!al_config_reader_check_type(reader, value, AL_TOML_TABLES))
        return false;
    if (value->nitems > RULES_MAX) {
        al_config_reader_fail(reader, value->line, value->key, "must have at most %u rules",
                              RULES_MAX);
        return false;
    }
    al_policy_clear(policy);
    reader->has_decision = true; /* there is no current rule */
    return true;
}
