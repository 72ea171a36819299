// SPDX-License-Identifier: Apache-2.0
/* The argument `lines`: "120,160". */
#ifndef AL_TOOLSETS_EVERYDAY_LINES_H
#define AL_TOOLSETS_EVERYDAY_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

/** Numbers of lines, counted from 1. */
struct al_lines {
    uint64_t first, last; /**< `last` is UINT64_MAX for an open end */
    bool is_numbered;     /**< for the caller: the lines are shown with their numbers */
};

/** Read "4,6", "4" or "4,".
 *
 * @param text  NULL: all lines.
 * @return 0; AL_ERR_BAD_ARGS.
 */
int al_lines_read(const char *text, struct al_lines *ret_lines, struct al_error *err);

#endif
