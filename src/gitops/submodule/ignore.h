// SPDX-License-Identifier: Apache-2.0
/*
 * Test whether an ignore rule might match a file, without git.  The answer may be a wrong yes but
 * never a wrong no.
 *
 * Only the last component of a rule is compared with the name of the file and of each directory
 * above it: that component has to match one of them, whatever the rest of the rule says.
 *
 * Source: gitignore(5).
 */
#ifndef AL_GITOPS_SUBMODULE_IGNORE_H
#define AL_GITOPS_SUBMODULE_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

/** One rule. */
struct al_ignore_rule {
    char *dir;  /**< the directory it applies to, with '/' at the end; "": everywhere */
    char *part; /**< its last component; NULL: it may match anything */
};

/** A list of rules. */
struct al_ignore_rules {
    struct al_ignore_rule *items;
    size_t count;
};

#define AL_IGNORE_RULES_INIT ((struct al_ignore_rules){ .items = NULL })

void al_ignore_rules_clear(struct al_ignore_rules *rules);

/**
 * Add the rules of a file.  A file that exists but cannot be read adds a rule that may match
 * anything.
 *
 * @param fd   The open file, or -errno of open(2); the caller closes it.
 * @param dir  The directory the rules apply to.
 */
void al_ignore_rules_read(struct al_ignore_rules *rules, int fd, const char *dir);

/** Test whether a rule might match `path` or a directory above it. */
bool al_ignore_rules_may_match(const struct al_ignore_rules *rules, const char *path);

#endif
