// SPDX-License-Identifier: Apache-2.0
/*
 * The person's rules: may this operation, on these branches and paths, happen.
 *
 * Decided on neutral data, so that nothing about tools is known here.  The first rule that matches
 * decides; where none does, the session's mode does.  A pattern is a glob of fnmatch(3) in which
 * `*` also matches '/'.
 *
 * What a call does is often more than one effect, branch or path.  A rule that asks or denies
 * matches when any of them does; a rule that allows matches only when all of them do, so that a
 * permission never reaches further than its words.
 */
#ifndef AL_GUARD_POLICY_H
#define AL_GUARD_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "guard/approval.h"
#include "util/error.h"
#include "util/str.h"

/** One rule.  Strings are owned; a pattern that is NULL matches everything. */
struct al_rule {
    char *tool, *operation, *effect, *branch, *path;
    enum al_approval_mode decision;
    char *message; /**< shown when it denies or asks; NULL: none */
    unsigned line; /**< where it begins in the configuration */
};

/** The rules in their order.  Read only once a session runs. */
struct al_policy {
    struct al_rule *rules;
    size_t count;
};

#define AL_POLICY_INIT ((struct al_policy){ .rules = NULL })

void al_policy_clear(struct al_policy *policy);
/** Copy into a list that holds nothing yet. */
void al_policy_copy(struct al_policy *to, const struct al_policy *from);

/** Add a rule that matches everything and asks; the caller fills it in. */
struct al_rule *al_policy_add(struct al_policy *policy, unsigned line);

/** What is to be decided.  Borrowed. */
struct al_policy_query {
    const char *tool, *operation;
    unsigned effects;               /**< enum al_effects */
    bool asks;                      /**< it needs an approval where no rule matches */
    const struct al_strv *branches; /**< names without refs/heads/ */
    /** Relative to the repository's top.  One that ends in '/' is a directory with everything
     * below it, and "" is everything there is. */
    const struct al_strv *paths;
};

/** A decision and where it comes from. */
struct al_ruling {
    enum al_approval_mode decision;
    size_t number;       /**< of the rule, counted from 1; 0: no rule matched */
    unsigned line;       /**< of the rule; 0 without one */
    const char *message; /**< the rule's, NULL without one; borrowed from the policy */
};

/**
 * Decide.  Without a matching rule, what asks goes by `mode` and the rest is allowed.
 *
 * @param policy  May be NULL: no rules.
 */
struct al_ruling al_policy_decide(const struct al_policy *policy, enum al_approval_mode mode,
                                  const struct al_policy_query *query);

/** Whether a pattern may stand for effects: one of their names, or a glob.  AL_ERR_BAD_ARGS with
 * the valid names otherwise. */
int al_policy_check_effect(const char *pattern, struct al_error *err);

/** "allow", "ask" or "deny". */
const char *al_policy_decision_name(enum al_approval_mode decision);

#endif
