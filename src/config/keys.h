// SPDX-License-Identifier: Apache-2.0
/*
 * The keys of the file: a key is a row of one table and a field of struct al_config.  Reading,
 * copying, releasing and guessing what a mistyped key meant all go by the rows.
 */
#ifndef AL_CONFIG_KEYS_H
#define AL_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct al_config;

/** What a key holds, and so the type of its field. */
enum al_key_kind {
    AL_KEY_BOOL,
    AL_KEY_UINT32,
    AL_KEY_UINT64,
    AL_KEY_STRING,   /**< char *, NULL when absent */
    AL_KEY_STRINGS,  /**< struct al_strv */
    AL_KEY_ABS_FILE, /**< char *, an absolute path once it was read */
    AL_KEY_CHOICE,   /**< an enum that counts its words from 0 */
    AL_KEY_GRANTS,   /**< struct al_grants: a table of tables that the person names */
    AL_KEY_RULES,    /**< struct al_policy: a list of tables; what is in them are the next two */
    AL_KEY_RULE_STRING,
    AL_KEY_RULE_DECISION,
};

struct al_key {
    const char *path; /**< dotted from the top */
    enum al_key_kind kind;
    size_t offset;            /**< into struct al_config; in a rule, into struct al_rule */
    int64_t min, max;         /**< UINT32, UINT64: the value; STRINGS: the number of items */
    const char *const *words; /**< CHOICE and RULE_DECISION: what may be chosen, then NULL */
    int (*check)(const char *item, struct al_error *err); /**< of each string; may be NULL */
};

/** The key with this name, or NULL; *ret_is_table then says whether it is a table keys are in. */
const struct al_key *al_key_find(const char *name, bool *ret_is_table);

/** The key, or table of keys, that a mistyped name meant; NULL when none is near.  Caller frees. */
char *al_key_nearest(const char *name);

/** Release what the keys' fields own, and leave them empty. */
void al_keys_clear(struct al_config *config);

/** Make a plain copy of a struct al_config independent of the one it was copied from. */
void al_keys_deep_copy(struct al_config *copy);

#endif
