// SPDX-License-Identifier: Apache-2.0
/*
 * Refuse dates that git would misread.
 *
 * git's date parser never fails.  It skips words it does not know, and a text without any known
 * word means "now".  So `since: "gestern"` gives an empty history, and a version number becomes a
 * day of this month.
 *
 * Source: git's date.c, parse_date_basic() and approxidate_str(); Documentation/date-formats.txt.
 */
#ifndef AL_GUARD_DATE_H
#define AL_GUARD_DATE_H

#include "base/error.h"

/**
 * Check a date.  A NULL value is fine.
 * @return 0; AL_ERR_BAD_ARGS, naming the parameter, for a value of which git would skip a part.
 */
int al_date_check(const char *param, const char *value, struct al_error *err);

#endif
