// SPDX-License-Identifier: Apache-2.0
/* Reading one configuration file: the state that the parts of config/ share. */
#ifndef AL_CONFIG_READER_H
#define AL_CONFIG_READER_H

#include <stdbool.h>

#include "config/config.h"
#include "config/keys.h"
#include "config/toml.h"

/** The longest string in the file. */
#define AL_CONFIG_STRING_MAX_BYTES 4096u

/** The state of reading a file.  Of several errors, the one nearest to the beginning of the file is
 * kept. */
struct al_config_reader {
    struct al_config *into;
    const char *path;
    const char *home; /**< may be NULL */
    struct al_error *err;
    bool failed;
    unsigned line;     /**< of the error that is kept */
    bool has_decision; /**< the current rule has a decision, or there is no current rule */
};

/** Report an error: "<file>:<line>: <key>: <what>". */
al_printf(4, 5) void al_config_reader_fail(struct al_config_reader *reader, unsigned line,
                                           const char *key, const char *fmt, ...);

/** Check that a value has a type, and report an error if it does not. */
bool al_config_reader_check_type(struct al_config_reader *reader, const struct al_toml_value *value,
                                 enum al_toml_type wanted);

/** Check the rules for every string (not empty, no NUL, not too long), and report an error if one
 * is broken. */
bool al_config_reader_check_strings(struct al_config_reader *reader,
                                    const struct al_toml_value *value);

/**
 * Store a value in the field of its key.
 * @return whether to visit what is inside the value.
 */
bool al_config_reader_set(struct al_config_reader *reader, const struct al_key *key,
                          const struct al_toml_value *value);

/**
 * Begin the list of rules, or the next rule of it.  The file's rules replace earlier ones.
 * @return whether to visit what is inside the value.
 */
bool al_config_reader_set_rules(struct al_config_reader *reader, const struct al_toml_value *value,
                                struct al_policy *policy);

/** Report an error if the last rule has no decision.  Every rule has to state its decision, so
 * there is no default to misremember. */
void al_config_reader_end_rule(struct al_config_reader *reader);

/**
 * Store a value at or below `grants`.
 * @return whether to visit what is inside the value.
 */
bool al_config_reader_set_grants(struct al_config_reader *reader,
                                 const struct al_toml_value *value);

/**
 * Store a value below `mcp.servers`.
 * @return whether to visit what is inside the value.
 */
bool al_config_reader_set_mcp_servers(struct al_config_reader *reader,
                                      const struct al_toml_value *value);

/** Report an error if a server has no command and nothing else is wrong. */
void al_config_reader_end_mcp_servers(struct al_config_reader *reader);

#endif
