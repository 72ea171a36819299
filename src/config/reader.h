// SPDX-License-Identifier: Apache-2.0
/* One reading of one configuration file, and what its parts share. */
#ifndef AL_CONFIG_READER_H
#define AL_CONFIG_READER_H

#include <stdbool.h>

#include "config/config.h"
#include "config/keys.h"
#include "config/toml.h"

/** Longest string of the file. */
#define AL_CONFIG_STRING_MAX_BYTES 4096u

/** The error kept is the one nearest to the file's beginning. */
struct al_config_reader {
    struct al_config *into;
    const char *path;
    const char *home; /**< may be NULL */
    struct al_error *err;
    bool failed;
    unsigned line;     /**< of the error kept */
    bool has_decision; /**< the rule being read has a decision */
};

/** Note that something is wrong: "<file>:<line>: <key>: <what>". */
al_printf(4, 5) void al_config_reader_fail(struct al_config_reader *reader, unsigned line,
                                           const char *key, const char *fmt, ...);

/** Whether a value is of a type; complains when it is not. */
bool al_config_reader_check_type(struct al_config_reader *reader, const struct al_toml_value *value,
                                 enum al_toml_type wanted);

/** Whether the strings of a value keep what holds for every string; complains when not. */
bool al_config_reader_check_strings(struct al_config_reader *reader,
                                    const struct al_toml_value *value);

/** Put a value into the field of its key; gives whether to look inside. */
bool al_config_reader_set(struct al_config_reader *reader, const struct al_key *key,
                          const struct al_toml_value *value);

/** The same for the list of rules, then for each of them.  A file's rules take the place of those
 * there were. */
bool al_config_reader_set_rules(struct al_config_reader *reader, const struct al_toml_value *value,
                                struct al_policy *policy);

/** Complain when the last rule does not say what it decides: one person would read it as one thing
 * and the next as another. */
void al_config_reader_end_rule(struct al_config_reader *reader);

/** Take what is below `grants`; the answer is that of a visit. */
bool al_config_reader_set_grants(struct al_config_reader *reader,
                                 const struct al_toml_value *value);

#endif
