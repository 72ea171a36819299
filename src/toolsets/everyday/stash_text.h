// SPDX-License-Identifier: Apache-2.0
/* Stash entries as text. */
#ifndef AL_TOOLSETS_EVERYDAY_STASH_TEXT_H
#define AL_TOOLSETS_EVERYDAY_STASH_TEXT_H

#include "tool/call.h"

/** Append "1a2b3c4d On main: words". */
int al_stash_text_entry(struct al_call *call, const char *oid, struct al_str *out,
                        struct al_error *err);

/** Append a line for each entry, newest first; among several working trees, whose it is. */
int al_stash_text_list(struct al_call *call, struct al_str *text, struct al_error *err);

/** Append what an entry changes; a long patch is left out, and where to read it said. */
int al_stash_text_show(struct al_call *call, const char *oid, struct al_str *text,
                       struct al_error *err);

#endif
