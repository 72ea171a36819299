// SPDX-License-Identifier: Apache-2.0
/* A streaming reader of `git config --list -z --show-scope --show-origin`. */
#ifndef AL_GIT_VET_CONFIG_LIST_H
#define AL_GIT_VET_CONFIG_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/** One configured value, as `git config --list` tells it. */
struct al_config_entry {
    bool of_repository; /**< the scope is local or worktree */
    const char *origin; /**< the file it came from; NULL: none */
    const char *key;    /**< section and name in lower case, subsection as written */
    const char *value;
};

/** Reads records "scope NUL file:origin NUL key LF value NUL" and passes each to `take`. */
struct al_config_list {
    struct al_str token[3]; /* scope, origin, key and value */
    size_t at;              /* the token being read */
    void (*take)(void *payload, const struct al_config_entry *entry);
    void *payload;
};

#define AL_CONFIG_LIST_INIT(fn, data)                                                              \
    ((struct al_config_list){                                                                      \
        .token = { AL_STR_INIT, AL_STR_INIT, AL_STR_INIT }, .take = (fn), .payload = (data) })

void al_config_list_clear(struct al_config_list *list);

/** Feed bytes, split anywhere.  An al_sink function; always true. */
bool al_config_list_add(void *payload, const char *data, size_t len);

/** Test whether a configured value is true.  A value that git would refuse counts as true. */
bool al_git_is_true(const char *value);

#endif
