// SPDX-License-Identifier: Apache-2.0
/* The keys of the file.  Each key is a row of one table, bound to a field of struct al_config.
 * Reading, copying, releasing, suggesting the nearest key and the
 * reference page all use these rows. */
#ifndef AL_CONFIG_KEYS_H
#define AL_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"
#include "util/str.h"

struct al_config;

/** The kind of a key's value, and with it the C type of its field. */
enum al_key_kind {
    AL_KEY_BOOL,
    AL_KEY_UINT32,
    AL_KEY_UINT64,
    AL_KEY_STRING,   /**< char *, NULL when absent */
    AL_KEY_STRINGS,  /**< struct al_strv */
    AL_KEY_ABS_FILE, /**< char *, an absolute path after reading */
    AL_KEY_FILE,     /**< char *, a path; a relative one begins where the file that is read lies */
    AL_KEY_CHOICE,   /**< an enum whose values index `words` */
    AL_KEY_GRANTS,   /**< struct al_grants: a table of tables that the user names */
    AL_KEY_SERVERS,  /**< struct al_mcp_servers: another such table */
    AL_KEY_RULES,    /**< struct al_policy: a list of tables with keys of the next two kinds */
    AL_KEY_RULE_STRING,
    AL_KEY_RULE_DECISION,
};

struct al_key {
    const char *path;  /**< dotted, from the top */
    const char *about; /**< for the reference page */
    enum al_key_kind kind;
    size_t offset;            /**< in struct al_config; of a rule's key, in struct al_rule */
    int64_t min, max;         /**< UINT32, UINT64: of the value; STRINGS: of the number of items */
    bool takes_one;           /**< STRINGS: a string stands for the list of it */
    const char *const *words; /**< CHOICE and RULE_DECISION: the choices, ended by NULL */
    int (*check)(const char *item,
                 struct al_error *err); /**< applied to each string; may be NULL */
};

/** One key after the other, in the order of the table; NULL: there are no more. */
const struct al_key *al_key_nth(size_t i);

/** The key with this name, or NULL.  *ret_is_table then says whether the name is a table that
 * contains keys. */
const struct al_key *al_key_find(const char *name, bool *ret_is_table);

/** The key or table nearest to a mistyped name; NULL when none is near.  Caller frees. */
char *al_key_nearest(const char *name);

/** Release what the keys' fields own, and leave them empty. */
void al_keys_clear(struct al_config *config);

/** After a plain assignment of struct al_config: replace every owned value by a copy of its own. */
void al_keys_deep_copy(struct al_config *copy);

/**
 * Append the names of the keys whose values differ, in the order of the table.  Grants and rules
 * are left out: their parts have names of their own.
 */
void al_keys_changed(const struct al_config *before, const struct al_config *after,
                     struct al_strv *ret_names);

#endif
