// SPDX-License-Identifier: Apache-2.0
/* JSON as users write it in a settings file. */
#ifndef AL_CLI_INSTALL_JSON_STYLE_H
#define AL_CLI_INSTALL_JSON_STYLE_H

#include "util/json.h"

struct al_json_style {
    const char *newline; /**< between members; NULL: everything is on one line */
    const char *unit;    /**< of indentation */
};

/** Append a line end and an indentation. */
void al_json_style_newline(const struct al_json_style *style, const char *indent,
                           struct al_str *out);

/** Append a value of objects, lists, strings, whole numbers, true and false.  A member of an object
 * has a line of its own; a list is on one line.  `indent` is that of the line the value begins on.
 */
void al_json_style_add(const json_t *value, const struct al_json_style *style, const char *indent,
                       struct al_str *out);

#endif
