// SPDX-License-Identifier: Apache-2.0
/*
 * TOML as a tree of values.
 *
 * toml++ is C++ and stays behind this header: none of its types and exceptions leave toml.cc.
 */
#ifndef AL_CLI_CONFIG_TOML_H
#define AL_CLI_CONFIG_TOML_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/value.h"

/**
 * Read a document.  The members of a table are in the order of their names, an item of a list has
 * the key of the list, and a name that needs quotes has them in the key.
 *
 * @param file  For messages.  Borrowed; outlives the tree.
 * @return 0, or AL_ERR_BAD_ARGS "<file>:<line>: <what is wrong>".
 */
int al_toml_read(const char *file, const char *text, size_t len, struct al_value *ret_toml,
                 struct al_error *err);

#ifdef __cplusplus
}
#endif

#endif
