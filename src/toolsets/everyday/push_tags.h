// SPDX-License-Identifier: Apache-2.0
/* The tags of a push: what they are here, and what a question says of them. */
#ifndef AL_TOOLSETS_EVERYDAY_PUSH_TAGS_H
#define AL_TOOLSETS_EVERYDAY_PUSH_TAGS_H

#include "tool/call.h"
#include "tool/resolved.h"

/** Add every tag here, its full name and object id, as one value: a tag that is made, moved or
 * deleted later gives another value. */
int al_push_tags_resolve(struct al_call *call, struct al_resolved *out, struct al_error *err);

/**
 * Append the names and ids of tags: at most 20, then their number.
 *
 * @param missing  The full names of those that the remote lacks; NULL when it was not looked at,
 *                 then every resolved tag is listed.
 */
void al_push_tags_show(const struct al_call *call, const struct al_strv *missing,
                       struct al_str *out);

#endif
