// SPDX-License-Identifier: Apache-2.0
/* Files and directories of a revision, as git_show answers them. */
#ifndef AL_TOOLSETS_EVERYDAY_FILE_VIEW_H
#define AL_TOOLSETS_EVERYDAY_FILE_VIEW_H

#include "answer/answer.h"
#include "gitops/reading/read_object.h"
#include "toolsets/everyday/lines.h"

/** Show a file or a directory, and make it the result. */
int al_file_view(struct al_call *call, const struct al_object_info *info,
                 const struct al_lines *lines, struct al_pages *pages, struct al_result *result,
                 struct al_error *err);

/** Append the text of a tag object: "tag v1 2026-02-07 Lee <mail>", then its message. */
void al_file_view_add_tag(const char *text, size_t len, struct al_str *out);

#endif
