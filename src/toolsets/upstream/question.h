// SPDX-License-Identifier: Apache-2.0
/*
 * A question that another MCP server has for the user, or for the client's model.
 *
 * The user has to know that the server asks, and not airlock: what the server says is indented
 * below a line of airlock's, so no line of it can pass for the beginning of an approval.
 */
#ifndef AL_TOOLSETS_UPSTREAM_QUESTION_H
#define AL_TOOLSETS_UPSTREAM_QUESTION_H

#include "util/json.h"

/**
 * The parameters of elicitation/create as they are passed on.
 *
 * @param params  As the server sent them.
 * @return an object, whose reference the caller owns; NULL: not a form with a message and a schema.
 */
json_t *al_question_params(const json_t *params, const char *server, const char *tool);

#endif
