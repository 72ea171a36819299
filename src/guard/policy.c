// SPDX-License-Identifier: Apache-2.0
#include "guard/policy.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "guard/effects.h"
#include "guard/text.h"

static void rule_clear(struct al_rule *rule)
{
    free(rule->tool);
    free(rule->operation);
    free(rule->effect);
    free(rule->branch);
    free(rule->path);
    free(rule->address);
    free(rule->message);
}

void al_policy_clear(struct al_policy *policy)
{
    for (size_t i = 0; i < policy->count; i++)
        rule_clear(&policy->rules[i]);
    free(policy->rules);
    *policy = AL_POLICY_INIT;
}

struct al_rule *al_policy_add(struct al_policy *policy, unsigned line)
{
    struct al_rule *rule;

    policy->rules = al_reallocarray(policy->rules, policy->count + 1, sizeof(*policy->rules));
    rule = &policy->rules[policy->count++];
    *rule = (struct al_rule){ .decision = AL_APPROVAL_ASK, .line = line };
    return rule;
}

static bool glob(const char *pattern, const char *text)
{
    return fnmatch(pattern, text, 0) == 0;
}

/* The way to match one item of a list. */
typedef bool (*match_fn)(const char *pattern, const char *item);

/* Whether a pattern matches any of the items, or all of them. */
static bool matches_items(const char *pattern, const struct al_strv *items, match_fn match,
                          bool all)
{
    for (size_t i = 0; items && i < items->count; i++)
        if (match(pattern, items->items[i]) != all)
            return !all;
    return all && items && items->count > 0;
}

/* Whether a pattern matches any of these effects, or all of them. */
static bool matches_effects(const char *pattern, unsigned effects, bool all)
{
    for (unsigned bit = 0; bit < AL_EFFECT_COUNT; bit++)
        if ((effects & 1u << bit) && glob(pattern, al_effect_name(bit)) != all)
            return !all;
    return all && effects;
}

/* A pattern of which a beginning matches the prefix matches some continuation with its rest. */
bool al_policy_may_match_below(const char *pattern, const char *prefix)
{
    size_t len = strlen(pattern);

    for (size_t n = 0; n <= len; n++) {
        al_auto(al_freep) char *beginning = al_strndup(pattern, n);

        if (glob(beginning, prefix))
            return true;
    }
    return false;
}

static bool is_directory(const char *path)
{
    return !*path || al_ends_with(path, "/");
}

static bool touches(const char *pattern, const char *path)
{
    al_auto(al_freep) char *name = NULL;

    if (!is_directory(path))
        return glob(pattern, path);
    name = *path ? al_strndup(path, strlen(path) - 1) : al_strdup("");
    return glob(pattern, name) || al_policy_may_match_below(pattern, path);
}

/* A pattern that names a directory is about everything in it. */
static bool touches_path(const char *pattern, const char *path)
{
    al_auto(al_freep) char *within =
        al_asprintf("%s%s*", pattern, al_ends_with(pattern, "/") ? "" : "/");

    return touches(pattern, path) || touches(within, path);
}

/* Whether a pattern matches a path and, for a directory, everything that can ever be below it.
 * That takes a `*` at the end of the pattern.  No pattern covers "", which is every path. */
static bool covers_path(const char *pattern, const char *path)
{
    if (!is_directory(path))
        return glob(pattern, path);
    return *path && al_ends_with(pattern, "*") && !al_ends_with(pattern, "\\*") &&
           glob(pattern, path);
}

/* A server or git may resolve "..", which leads out of what the pattern names. */
static bool covers_address(const char *pattern, const char *address)
{
    return !strstr(address, "..") && !strcasestr(address, "%2e") && glob(pattern, address);
}

static bool allows(const struct al_rule *rule, const struct al_policy_query *query)
{
    const unsigned beyond = query->effects & ~(unsigned)AL_READS;

    /* Most operations also read.  A permission has to match the other effects, or reading if there
     * are no others. */
    return (!rule->effect ||
            matches_effects(rule->effect, beyond ? beyond : query->effects, true)) &&
           (!rule->branch || matches_items(rule->branch, query->branches, glob, true)) &&
           (!rule->path || matches_items(rule->path, query->paths, covers_path, true)) &&
           (rule->address ? matches_items(rule->address, query->addresses, covers_address, true)
                          : !query->new_address);
}

static bool restricts(const struct al_rule *rule, const struct al_policy_query *query)
{
    return (!rule->effect || matches_effects(rule->effect, query->effects, false)) &&
           (!rule->branch || matches_items(rule->branch, query->branches, glob, false)) &&
           (!rule->path || matches_items(rule->path, query->paths, touches_path, false)) &&
           (!rule->address || matches_items(rule->address, query->addresses, glob, false));
}

static bool names(const struct al_rule *rule, const char *tool, const char *operation)
{
    return (!rule->tool || glob(rule->tool, tool)) &&
           (!rule->operation || glob(rule->operation, operation));
}

static bool matches(const struct al_rule *rule, const struct al_policy_query *query)
{
    if (!names(rule, query->tool, query->operation) &&
        !(query->as_tool && names(rule, query->as_tool, query->as_operation)))
        return false;
    return rule->decision == AL_APPROVAL_ALLOW ? allows(rule, query) : restricts(rule, query);
}

/* The first rule that matches; number 0: none does. */
static struct al_ruling first_match(const struct al_policy *policy,
                                    const struct al_policy_query *query)
{
    for (size_t i = 0; policy && i < policy->count; i++)
        if (matches(&policy->rules[i], query))
            return (struct al_ruling){ .decision = policy->rules[i].decision,
                                       .number = i + 1,
                                       .rule = &policy->rules[i] };
    return (struct al_ruling){ .decision = AL_APPROVAL_ALLOW };
}

/* From the loosest decision to the strictest. */
static unsigned strictness(enum al_approval_mode decision)
{
    return decision == AL_APPROVAL_ALLOW ? 0 : decision == AL_APPROVAL_ASK ? 1 : 2;
}

struct al_ruling al_policy_decide(const struct al_policy *policy, enum al_approval_mode mode,
                                  const struct al_policy_query *query)
{
    struct al_ruling ruling = first_match(policy, query);
    struct al_ruling narrower = first_match(policy ? policy->narrower : NULL, query);

    if (!ruling.number && query->asks)
        ruling.decision = mode;
    narrower.narrows = true;
    return strictness(narrower.decision) > strictness(ruling.decision) ? narrower : ruling;
}

void al_ruling_describe(const struct al_ruling *ruling, struct al_str *out)
{
    al_str_addf(out, "rule %zu of the %s (line %u)", ruling->number,
                ruling->narrows ? "worker file" : "configuration", ruling->rule->line);
}

int al_policy_check_effect(const char *pattern, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str valid = AL_STR_INIT;
    al_auto(al_freep) char *safe = NULL;

    if (strpbrk(pattern, "*?[\\"))
        return 0;
    for (unsigned bit = 0; bit < AL_EFFECT_COUNT; bit++) {
        const char *name = al_effect_name(bit);

        if (!strcmp(name, pattern))
            return 0;
        al_str_addf(&valid, "%s%s", bit ? ", " : "", name);
    }
    safe = al_text_sanitize_line(pattern);
    return al_error_set(err, AL_ERR_BAD_ARGS, "unknown effect '%s' (valid: %s)", safe, valid.buf);
}
