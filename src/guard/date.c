// SPDX-License-Identifier: Apache-2.0
/* A grammar of dates, narrower than git's: git passes over what it does not know, and takes
 * "2 wekks ago" for the second of this month. */
#include "guard/date.h"

#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "guard/text.h"

#define VALUE_MAX_BYTES 200
#define SHOWN_MAX_BYTES 60

#define BETWEEN         "[ \t.,]+"

#define MONTH_NUMBER    "(0?[1-9]|1[0-2])"
#define DAY_NUMBER      "(0?[1-9]|[12][0-9]|3[01])"
#define YEAR            "(19[7-9][0-9]|20[0-9][0-9])"
#define MONTH                                                                                      \
    "(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|"           \
    "oct(ober)?|nov(ember)?|dec(ember)?)"
#define WEEKDAY "((sun|mon|fri)(day)?|tue(s(day)?)?|wed(nesday)?|thu(rs(day)?)?|sat(urday)?)"
#define UNIT    "(second|minute|hour|day|week|month|year)"

/* 3:00, 22:14:13 -0700 (PDT), 03:04:05.678Z, 3:04:05 PM; 5 pm */
#define OFFSET "[+-][0-9]{2}:?[0-9]{2}"
#define NAMED  "(z|utc|gmt|bst|[cm]?est|[cmw]et|eest|eet|hst|nzs?t|nzdt|[ecmp]dt|[cmp]st|jst)"
#define ZONE   "( ?(" OFFSET "( [(]?" NAMED "[)]?)?|" NAMED "(" OFFSET ")?))"
#define CLOCK  "[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?"
#define TIME   CLOCK "( ?[ap]m)?" ZONE "?"
#define HOUR   "[0-9]{1,2} ?[ap]m"

/* 2024-01-31, 31.01.2024, 01/31/2024, 31-Jan-2024; 20240131T030405 */
#define YEAR_FIRST    YEAR "[-/.](" MONTH_NUMBER "|" MONTH ")[-/.]" DAY_NUMBER
#define YEAR_LAST     DAY_NUMBER "[-/.](" DAY_NUMBER "|" MONTH ")[-/.](" YEAR "|[0-9][0-9])"
#define WITHOUT_SIGNS "t[0-9]{6}" ZONE "?"
/* git knows an offset of two digits beside a date only. */
#define HOURS_OFF "[t ]" CLOCK " ?[+-][0-9]{2}"
/* 1st, 5; may; Thu, 7 Apr; Fri June */
#define MONTH_DAY DAY_NUMBER "(st|nd|rd|th)?"
#define OF_WEEK   WEEKDAY BETWEEN "((" MONTH_DAY BETWEEN ")?" MONTH "|" YEAR_FIRST "|" YEAR_LAST ")"

/* 1700000000, @0 */
#define SECONDS "(@[0-9]+|[0-9]{9,12})"
/* 2 weeks, two.days, last friday */
#define NUMBER "(one|two|three|four|five|six|seven|eight|nine|ten|last)"
#define SPAN   "([0-9]+[ \t.,]*|" NUMBER BETWEEN ")(" UNIT "|" WEEKDAY ")s?"

#define DATE                                                                                       \
    YEAR_FIRST "(t" TIME "|" HOURS_OFF "|" WITHOUT_SIGNS "|" BETWEEN WEEKDAY ")?|" YEAR_LAST       \
               "(:" TIME ")?|[0-9]{8}" WITHOUT_SIGNS "|" OF_WEEK
#define ITEM                                                                                       \
    "(" DATE "|" MONTH "|" MONTH_DAY "|" YEAR "|" TIME "|" HOUR "|" SECONDS "|" SPAN               \
    "|yesterday|noon|midnight|tea|never|now)"
/* These words change nothing. */
#define FILLER "(ago|today|at|of|on|and|the|last|" OFFSET ")"

static bool is_date(const char *value)
{
    al_auto(al_freep) char *grammar = NULL;
    regex_t compiled;
    bool matches;

    if (strlen(value) > VALUE_MAX_BYTES)
        return false;
    grammar = al_asprintf("^[ \t.,]*(" FILLER BETWEEN ")*%s(" BETWEEN "(%s|" FILLER "))*[ \t.,]*$",
                          ITEM, ITEM);
    if (regcomp(&compiled, grammar, REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0)
        abort();
    matches = regexec(&compiled, value, 0, NULL, 0) == 0;
    regfree(&compiled);
    return matches;
}

int al_date_check(const char *param, const char *value, struct al_error *err)
{
    al_auto(al_freep) char *word = NULL;

    if (!value || is_date(value))
        return 0;
    word = al_text_sanitize_shown_line(value);
    if (strlen(word) > SHOWN_MAX_BYTES)
        word[al_utf8_floor(word, SHOWN_MAX_BYTES)] = '\0';
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "%s: git cannot read '%s' as a date; give one like 2024-01-31T00:00, "
                        "2024-01-31T12:00:00Z, '2 weeks ago' or yesterday (without a time, a day "
                        "is taken at the present time of day)",
                        param, word);
}
