// SPDX-License-Identifier: Apache-2.0
#include "cli/history/when.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cli/history/query.h"
#include "util/str.h"

/** Larger counts are rejected, so that the arithmetic cannot overflow. */
#define COUNT_MAX 1000000u

static void format_utc(time_t when, int ms, char ret_time[AL_WHEN_TEXT])
{
    struct tm tm;
    char seconds[24] = "";

    if (gmtime_r(&when, &tm))
        (void)strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(ret_time, AL_WHEN_TEXT, "%s.%03dZ", seconds, ms);
}

/* The time that many calendar months, days and seconds before now. */
static time_t before_now(int months, int days, time_t seconds)
{
    time_t now = time(NULL);
    struct tm tm;

    if (!localtime_r(&now, &tm))
        return now - seconds;
    tm.tm_mon -= months;
    tm.tm_mday -= days;
    tm.tm_isdst = -1;
    return mktime(&tm) - seconds;
}

/* `count` units before now.  A unit is written in the singular, in the plural or as one letter. */
static bool ago(const char *name, size_t len, size_t count, char ret_time[AL_WHEN_TEXT])
{
    static const struct {
        const char *name;
        int months, days;
        time_t seconds;
    } units[] = {
        { "second", 0, 0, 1 }, { "minute", 0, 0, 60 }, { "hour", 0, 0, 3600 }, { "day", 0, 1, 0 },
        { "week", 0, 7, 0 },   { "month", 1, 0, 0 },   { "year", 12, 0, 0 },
    };

    if (count > COUNT_MAX || !len)
        return false;
    for (size_t i = 0; i < AL_COUNT(units); i++) {
        size_t full = strlen(units[i].name);
        bool plural = len == full + 1 && (name[full] | 0x20) == 's';
        bool letter = len == 1 && i < 5; /* "m" is a minute */

        if (strncasecmp(name, units[i].name, letter ? 1 : full) != 0 ||
            (len != full && !plural && !letter))
            continue;
        format_utc(before_now(units[i].months * (int)count, units[i].days * (int)count,
                              units[i].seconds * (time_t)count),
                   0, ret_time);
        return true;
    }
    return false;
}

/* The next word.  Dots count as blanks, as in git. */
static const char *next_word(const char **at, size_t *ret_len)
{
    const char *word = *at + strspn(*at, " .");

    *ret_len = strcspn(word, " .");
    *at = word + *ret_len;
    return word;
}

static bool is_word(const char *word, size_t len, const char *wanted)
{
    return len == strlen(wanted) && strncasecmp(word, wanted, len) == 0;
}

/* "90s", "2 hours ago", "2.hours.ago", "last week". */
static bool parse_ago(const char *text, char ret_time[AL_WHEN_TEXT])
{
    const char *at = text, *word, *unit, *end;
    size_t digits = strspn(text, "0123456789"), len, unit_len, end_len, count = 1;
    al_auto(al_freep) char *number = al_strndup(text, digits);

    if (digits && (!al_query_number(number, &count) || count > COUNT_MAX))
        return false;
    if (digits && text[digits] && !strchr(" .", text[digits]))
        return !text[digits + 1] && ago(text + digits, 1, count, ret_time);
    word = next_word(&at, &len);
    if (!digits && !is_word(word, len, "last"))
        return false;
    unit = next_word(&at, &unit_len);
    end = next_word(&at, &end_len);
    if (at[strspn(at, " .")] || (digits ? !is_word(end, end_len, "ago") : end_len != 0))
        return false;
    return unit_len > 1 && ago(unit, unit_len, count, ret_time);
}

/* "now", "today" and "yesterday"; the latter two mean midnight. */
static bool parse_day(const char *text, char ret_time[AL_WHEN_TEXT])
{
    bool yesterday = !strcasecmp(text, "yesterday");
    time_t now = time(NULL);
    struct tm tm;

    if (!strcasecmp(text, "now")) {
        format_utc(now, 0, ret_time);
        return true;
    }
    if ((!yesterday && strcasecmp(text, "today") != 0) || !localtime_r(&now, &tm))
        return false;
    tm.tm_mday -= yesterday;
    tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
    tm.tm_isdst = -1;
    format_utc(mktime(&tm), 0, ret_time);
    return true;
}

/* A date with or without a time of day, also in the form of a tool log's `timestamp`. */
static bool parse_date(const char *text, char ret_time[AL_WHEN_TEXT])
{
    static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
                                         "%Y-%m-%d %H:%M",    "%Y%m%d_%H%M%S",     "%Y-%m-%d" };

    for (size_t i = 0; i < AL_COUNT(forms); i++) {
        struct tm tm = { .tm_isdst = -1 };
        const char *rest = strptime(text, forms[i], &tm);
        time_t when;
        int ms = 0, used = 0;

        if (!rest)
            continue;
        if (sscanf(rest, ".%3d%n", &ms, &used) == 1 && used == 4 && ms >= 0)
            rest += used;
        if (!*rest) {
            when = mktime(&tm);
        } else {
            const char *end = strptime(rest, "%z", &tm);
            long offset = tm.tm_gmtoff;

            if (!end || *end)
                continue;
            when = timegm(&tm) - offset;
        }
        format_utc(when, ms, ret_time);
        return true;
    }
    return false;
}

bool al_when_parse(const char *text, char ret_time[AL_WHEN_TEXT])
{
    return parse_day(text, ret_time) || parse_ago(text, ret_time) || parse_date(text, ret_time);
}
