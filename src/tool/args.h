// SPDX-License-Identifier: Apache-2.0
/* Access to the fields of a tool's argument struct through its parameter rows. */
#ifndef AL_TOOL_ARGS_H
#define AL_TOOL_ARGS_H

#include "tool/tool.h"

/** The field of a parameter, to be written. */
void *al_args_field(void *args, const struct al_param *param);

/** The value of a parameter of type AL_TYPE_BOOL. */
bool al_args_bool(const void *args, const struct al_param *param);

/** The value of a parameter of type AL_TYPE_INT. */
const struct al_opt_int *al_args_int(const void *args, const struct al_param *param);

/** The value of a parameter of type AL_TYPE_STRING, NULL when it is absent.  Borrowed. */
const char *al_args_string(const void *args, const struct al_param *param);

/** The value of a parameter of type AL_TYPE_STRINGS.  Borrowed. */
const struct al_strv *al_args_strings(const void *args, const struct al_param *param);

/** An item of a parameter of type AL_TYPE_OBJECTS: the struct that its members' offsets are in. */
void *al_args_item(const struct al_param *param, const struct al_objects *list, size_t i);

/** Gets one row that has a value of its own, and the struct its offset is in. */
typedef void (*al_args_fn)(void *payload, const struct al_param *param, const void *args);

/** Visit every row of a tool; of an object that is given, and of each item of an array of objects,
 * its members instead. */
void al_args_visit(const struct al_tool *tool, const void *args, al_args_fn visit, void *payload);

#endif
