// SPDX-License-Identifier: Apache-2.0
/* The hunks of a conflict in the arguments of a call: [{"id": "3fa9c1d2", "take": "ours"}]. */
#ifndef AL_TOOLSETS_EVERYDAY_HUNK_CHOICES_H
#define AL_TOOLSETS_EVERYDAY_HUNK_CHOICES_H

#include "gitops/sequencer/conflict_hunks.h"
#include "tool/tool.h"

/** The members of an item, for AL_OBJECTS(). */
extern const struct al_object al_hunk_choices_row;

/** Check the items by themselves: each has one of take and content, and no id is there twice. */
int al_hunk_choices_check(const struct al_objects *choices, struct al_error *err);

/** Refuse content that has conflict markers of the file's size. */
int al_hunk_choices_check_markers(const struct al_objects *choices, size_t marker_size,
                                  struct al_error *err);

/** Append the file with the chosen hunks resolved.  AL_ERR_BAD_ARGS for an id that is not there,
 * with those that are. */
int al_hunk_choices_settle(const struct al_objects *choices, const struct al_conflict_file *file,
                           struct al_str *out, struct al_error *err);

#endif
