// SPDX-License-Identifier: Apache-2.0
/* The options that a command line gives. */
#ifndef AL_CLI_CONFIG_GIVEN_H
#define AL_CLI_CONFIG_GIVEN_H

#include "base/str.h"

/** The options.  They take precedence over the configuration file. */
struct al_options {
    struct al_strv given; /**< name, value, name, value, ...; the value of a flag is "" */
};

#define AL_OPTIONS_INIT ((struct al_options){ .given = AL_STRV_INIT })

/** The value of an option that is given, the last one.  NULL: it is not given.  Borrowed. */
const char *al_option(const struct al_options *options, const char *name);

/** Append the values of an option. */
void al_option_all(const struct al_options *options, const char *name, struct al_strv *ret_values);

/** Give an option one value, in place of those that are given. */
void al_option_set(struct al_options *options, const char *name, const char *value);

void al_options_clear(struct al_options *options);

#endif
