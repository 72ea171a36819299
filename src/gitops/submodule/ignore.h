// SPDX-License-Identifier: Apache-2.0
/*
 * Whether a rule might ignore a file, told without git: never a wrong no.
 *
 * The last part of a rule has to match the name of the file or of a directory it lies in, whatever
 * stands before it, so that alone is held against the names.
 *
 * Source: gitignore(5).
 */
#ifndef AL_GITOPS_SUBMODULE_IGNORE_H
#define AL_GITOPS_SUBMODULE_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

/** One rule. */
struct al_ignore_rule {
    char *dir;  /**< where it counts, with '/' at the end; "": everywhere */
    char *part; /**< its last part; NULL: it may match anything */
};

/** Rules, each with the directory it counts in. */
struct al_ignore_rules {
    struct al_ignore_rule *items;
    size_t count;
};

#define AL_IGNORE_RULES_INIT ((struct al_ignore_rules){ .items = NULL })

void al_ignore_rules_clear(struct al_ignore_rules *rules);

/**
 * Add the rules of a file.  One that is there and cannot be read may say anything.
 *
 * @param fd   Open, or the -errno of trying; closed by the caller.
 * @param dir  The directory it counts in.
 */
void al_ignore_rules_read(struct al_ignore_rules *rules, int fd, const char *dir);

/** Whether one of them might ignore `path` or a directory it lies in. */
bool al_ignore_rules_may_match(const struct al_ignore_rules *rules, const char *path);

#endif
