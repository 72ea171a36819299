// SPDX-License-Identifier: Apache-2.0
/* Files in conflict as text: hunk by hunk in three sides, or in words where there are no hunks. */
#ifndef AL_TOOLSETS_EVERYDAY_CONFLICT_TEXT_H
#define AL_TOOLSETS_EVERYDAY_CONFLICT_TEXT_H

#include "gitops/sequencer/conflict.h"
#include "tool/call.h"

/** Append one line, "Rebase 2/5: ours is main and …, theirs is a1b2c3d "subject" of topic." */
int al_conflict_add_sides(struct al_call *call, struct al_str *out, struct al_error *err);

/** Append one file in conflict: a line with its name and what is in conflict, then its hunks. */
int al_conflict_add_file(struct al_call *call, const struct al_conflict *conflict,
                         struct al_str *out, struct al_error *err);

/** Append "src/a.c (2 hunks), b.png (binary)" for files in conflict, at most 20 of them. */
int al_conflict_add_list(struct al_call *call, const struct al_conflicts *conflicts,
                         struct al_str *out, struct al_error *err);

#endif
