// SPDX-License-Identifier: Apache-2.0
/*
 * Policy: the user's rules about operations, branches, paths and addresses.
 *
 * Policy sees neutral data and knows nothing about tools.  The first rule that matches decides.
 * The session's approval mode decides if none matches.  A pattern is a glob of fnmatch(3) in which
 * `*` also matches '/'.
 *
 * A call often has several effects, branches, paths or addresses.
 * - A rule that asks or denies matches if any of them matches.
 * - A rule that allows matches only if all of them match, so a permission never covers more than it
 *   says.  It has to name an address that is new: an agent may have added it.
 *
 * A worker file's rules are looked at by themselves, and the stricter decision holds: deny before
 * ask before allow.
 */
#ifndef AL_GUARD_POLICY_H
#define AL_GUARD_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "guard/approval.h"

/** One rule.  Strings are owned.  A NULL pattern matches everything. */
struct al_rule {
    char *tool, *operation, *effect, *branch, *path, *address;
    enum al_approval_mode decision;
    char *message; /**< shown when the rule denies or asks; NULL: none */
    unsigned line; /**< of the configuration, where the rule begins */
};

/** The rules in the order of their file.  Read only while a session runs. */
struct al_policy {
    struct al_rule *rules;
    size_t count;
    const struct al_policy *narrower; /**< of a worker file, which only narrow; NULL: none.
                                         Borrowed */
};

#define AL_POLICY_INIT ((struct al_policy){ .rules = NULL })

void al_policy_clear(struct al_policy *policy);

/** Add a rule that matches everything and asks, for the caller to fill in.  Borrowed until the next
 * one is added. */
struct al_rule *al_policy_add(struct al_policy *policy, unsigned line);

/** The facts about a call that rules look at.  Borrowed. */
struct al_policy_query {
    const char *tool, *operation;
    const char *as_tool, *as_operation; /**< names that rules may use as well; NULL: none */
    unsigned effects;                   /**< enum al_effects */
    bool asks;                          /**< it needs an approval if no rule matches */
    const struct al_strv *branches;     /**< names without refs/heads/ */
    /** Relative to the repository's top.  A path with a trailing '/' is a directory and everything
     * below it; "" is every path there is. */
    const struct al_strv *paths;
    const struct al_strv *addresses; /**< where to or from, as shown to users; NULL: none */
    bool new_address; /**< one of them was added or changed in this session, and nobody agreed */
};

/** A decision and its source. */
struct al_ruling {
    enum al_approval_mode decision;
    size_t number;              /**< of the rule in its file, from 1; 0: no rule matched */
    const struct al_rule *rule; /**< borrowed; NULL: no rule matched */
    bool narrows;               /**< the rule comes from the worker file */
};

/** Append "rule 2 of the configuration (line 7)". */
void al_ruling_describe(const struct al_ruling *ruling, struct al_str *out);

/**
 * Rule on a call.  `mode` decides, if no rule matches, for an operation that needs an approval, and
 * any other operation is allowed.
 *
 * @param policy  NULL: no rules.
 */
struct al_ruling al_policy_decide(const struct al_policy *policy, enum al_approval_mode mode,
                                  const struct al_policy_query *query);

/**
 * Check a pattern for effects: the name of an effect, or a glob.
 * @return 0, or AL_ERR_BAD_ARGS with the valid names.
 */
int al_policy_check_effect(const char *pattern, struct al_error *err);

/** Test whether a pattern can match some name that begins with `prefix`. */
bool al_policy_may_match_below(const char *pattern, const char *prefix);

#endif
