// SPDX-License-Identifier: Apache-2.0
/* The toolset `files`. */
#ifndef AL_TOOLS_FILES_H
#define AL_TOOLS_FILES_H

#include "call/tool.h"

/** How the content of a file is written in an argument. */
enum al_encoding { AL_UTF_8, AL_BASE64 };

/** The choices of a row for it. */
extern const struct al_choice al_encodings[];

/** Append the bytes of an argument.  The message names the parameter. */
int al_content_decode(const char *param, const char *given, int encoding, struct al_str *ret_bytes,
                      struct al_error *err);

/** The tools. */
extern const struct al_tool al_tool_files_read, al_tool_files_write, al_tool_files_list,
    al_tool_files_delete;

#endif
