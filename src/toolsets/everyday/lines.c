// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/lines.h"

#include <stdbool.h>

#include "answer/failure.h"

#define NUMBER_MAX INT32_MAX

/* A number from 1 on; false: there is none. */
static bool read_number(const char **at, uint64_t *ret)
{
    uint64_t number = 0;

    for (; **at >= '0' && **at <= '9' && number <= NUMBER_MAX; (*at)++)
        number = number * 10 + (uint64_t)(**at - '0');
    *ret = number;
    return number >= 1 && number <= NUMBER_MAX;
}

int al_lines_read(const char *text, struct al_lines *ret_lines, struct al_error *err)
{
    const char *at = text;
    bool good = true;

    *ret_lines = (struct al_lines){ .first = 1, .last = UINT64_MAX };
    if (!text)
        return 0;
    good = read_number(&at, &ret_lines->first);
    if (good && !*at)
        ret_lines->last = ret_lines->first;
    else if (good && *at == ',' && at[1])
        good = (at++, read_number(&at, &ret_lines->last)) && !*at &&
               ret_lines->last >= ret_lines->first;
    else
        good = good && *at == ',';
    return good ? 0
                : al_failure_bad_args(err, "Give the first and the last line: lines \"120,160\".",
                                      "lines: not a range of lines");
}
