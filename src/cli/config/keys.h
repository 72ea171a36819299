// SPDX-License-Identifier: Apache-2.0
/* The keys of the file.  Each key is a row of one table, bound to a field of struct al_config.
 * Defaults, reading, releasing, suggesting the nearest key and the
 * reference page all use these rows. */
#ifndef AL_CLI_CONFIG_KEYS_H
#define AL_CLI_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/value.h"

struct al_config;

/** The kind of a key's value, and with it the C type of its field. */
enum al_key_kind {
    AL_KEY_BOOL,
    AL_KEY_UINT32,
    AL_KEY_UINT64,
    AL_KEY_STRING,    /**< char *, NULL when absent */
    AL_KEY_STRINGS,   /**< struct al_strv */
    AL_KEY_PATHS,     /**< struct al_strv of absolute paths */
    AL_KEY_FILE,      /**< char *, a path; a relative one begins where the file that is read lies */
    AL_KEY_CHOICE,    /**< an enum whose values index `words` */
    AL_KEY_VARIABLES, /**< struct al_strv of "NAME=value": a table whose names the user chooses */
    AL_KEY_DIRS,      /**< the directories of a grant: such a table */
    AL_KEY_GRANTS,    /**< struct al_grants: a table of tables that the user names */
    AL_KEY_SERVERS,   /**< struct al_mcp_servers: another such table */
    AL_KEY_RULES,     /**< struct al_policy: a list of tables */
};

/** The struct that has a key's field. */
enum al_key_place { AL_KEY_OF_CONFIG, AL_KEY_OF_RULE, AL_KEY_OF_GRANT, AL_KEY_OF_SERVER };

/** The beginnings of the keys' paths that are below a name of the user's choosing, or of a rule. */
#define AL_KEY_GRANT  "grants.NAME."
#define AL_KEY_SERVER "mcp.servers.NAME."
#define AL_KEY_RULE   "tools.approval.rule."

struct al_key {
    const char *path;  /**< dotted, from the top */
    const char *about; /**< for the reference page */
    enum al_key_kind kind;
    enum al_key_place place;
    size_t offset;    /**< of the field in its struct */
    int64_t min, max; /**< UINT32, UINT64: of the value; lists and tables: of the number of items */
    int64_t initial;  /**< the default of a BOOL, UINT32, UINT64 */
    const char *text; /**< the default of a STRING; NULL: none */
    size_t given;     /**< offset of a bool that says that the key is there; 0: there is none */
    bool takes_one;   /**< STRINGS: a string stands for the list of it */
    const char *const *words; /**< the choices of a CHOICE or of each of STRINGS, ended by NULL */
    const char *option;       /**< of the command line, which takes precedence; NULL: none */
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

/**
 * Read a table of settings whose keys are those of one place.
 *
 * @param place   How their paths begin: AL_KEY_GRANT.
 * @param fields  The struct of that place.
 * @return 0, or AL_ERR_BAD_ARGS "<file>:<line>: <key>: <what is wrong>".
 */
int al_config_read_table(const char *place, const struct al_value *table, void *fields,
                         struct al_error *err);

/** Read a file of settings as it is.  0; AL_ERR_NOT_FOUND: there is no such file; or
 * AL_ERR_BAD_ARGS. */
int al_config_read_text(const char *path, struct al_str *ret_text, struct al_error *err);

/** Set the defaults of the keys of one place; lists stay as they are. */
void al_keys_init(enum al_key_place place, void *fields);

/** Release what the fields of one place own, and leave them empty. */
void al_keys_clear(enum al_key_place place, void *fields);

/** Append the value that a key has in the struct of its place. */
void al_key_add_value(const struct al_key *key, const void *fields, struct al_str *out);

/** Append the values of the keys of one place.  Other values have another text. */
void al_keys_describe(enum al_key_place place, const void *fields, struct al_str *out);

/**
 * Append the names of the keys whose values differ, in the order of the table.  Grants and rules
 * are left out: their parts have names of their own.
 */
void al_keys_changed(const struct al_config *before, const struct al_config *after,
                     struct al_strv *ret_names);

#endif
