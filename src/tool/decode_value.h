// SPDX-License-Identifier: Apache-2.0
/* Decode the value of one parameter: its type, bounds and pattern. */
#ifndef AL_TOOL_DECODE_VALUE_H
#define AL_TOOL_DECODE_VALUE_H

#include "tool/tool.h"

/** Report that a value has another type than its parameter.  Returns AL_ERR_BAD_ARGS. */
int al_decode_wrong_type(const struct al_param *param, struct al_error *err);

/** Check that a value is an array, and the bounds of its number of items. */
int al_decode_count(const struct al_param *param, const json_t *value, struct al_error *err);

/**
 * Decode the value of a parameter of any type but AL_TYPE_OBJECT and AL_TYPE_OBJECTS.
 *
 * @param field  The parameter's field.  A string points into `value`; a list is a copy.
 * @return 0, or AL_ERR_BAD_ARGS naming the parameter.  A list may then have items all the same.
 */
int al_decode_value(const struct al_param *param, const json_t *value, void *field,
                    struct al_error *err);

#endif
