// SPDX-License-Identifier: Apache-2.0
/* The difference of two texts as a unified diff of one hunk. */
#ifndef AL_CLI_INSTALL_LINE_DIFF_H
#define AL_CLI_INSTALL_LINE_DIFF_H

#include "util/str.h"

/** Append the lines from the first to the last difference, with three lines around them.  `name` is
 * the file's.  NULL for `before`: the file is new; for `after`: it goes.  Texts are not made safe.
 */
void al_line_diff(const char *name, const struct al_str *before, const struct al_str *after,
                  struct al_str *out);

#endif
