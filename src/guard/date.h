// SPDX-License-Identifier: Apache-2.0
/*
 * What git reads as a date.  Its reader never fails: a word it does not know is passed over, and
 * where nothing is left the date is now.  `since: "gestern"` is then an empty history, and a
 * version is a day of this month.
 *
 * Source: git's date.c, parse_date_basic() and approxidate_str(); Documentation/date-formats.txt.
 */
#ifndef AL_GUARD_DATE_H
#define AL_GUARD_DATE_H

#include "util/error.h"

/** Refuse, naming the parameter, what git reads only by passing over a part of it: AL_ERR_BAD_ARGS.
 * A NULL value is fine. */
int al_date_check(const char *param, const char *value, struct al_error *err);

#endif
