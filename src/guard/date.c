// SPDX-License-Identifier: Apache-2.0
#include "guard/date.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "guard/text.h"

#define VALUE_MAX_BYTES 200
#define SHOWN_MAX_BYTES 60
#define WORD_MAX_BYTES  16
/* A number of this many digits is a time in seconds; one of eight digits followed by a time is a
 * day. */
#define STAMP_DIGITS 9
#define DAY_DIGITS   8

/* A pending number that is no day of the month: it has to be followed by a unit. */
#define NOT_A_DAY (-1)

/* The state of reading a value. */
struct reading {
    const char *value, *at;
    bool means_something; /* git uses some part of the value */
    bool has_date;        /* a month or numeric date was read; a weekday may stand beside it */
    bool has_time;        /* hh:mm or seconds were read; a time zone may follow */
    long pending;         /* a number whose unit may follow; 0: none */
};

static const char *const months[] = { "january",   "february", "march",    "april",
                                      "may",       "june",     "july",     "august",
                                      "september", "october",  "november", "december" };
static const char *const weekdays[] = { "sunday",   "monday", "tuesday", "wednesday",
                                        "thursday", "friday", "saturday" };
static const char *const moments[] = { "yesterday", "noon", "midnight", "tea",
                                       "pm",        "am",   "never",    "now" };
static const char *const numbers[] = { "one",   "two",   "three", "four", "five", "six",
                                       "seven", "eight", "nine",  "ten",  "last" };
static const char *const units[] = { "second", "minute", "hour", "day", "week", "month", "year" };
/* git skips these words, and they change nothing. */
static const char *const fillers[] = { "ago", "today", "at", "of", "on", "and", "the" };
static const char *const ordinals[] = { "st", "nd", "rd", "th" };
static const char *const zones[] = {
    "idlw", "nt",   "cat", "hst",  "hdt",  "yst",  "ydt",  "pst", "pdt",  "mst",  "mdt",
    "cst",  "cdt",  "est", "edt",  "ast",  "adt",  "wat",  "gmt", "utc",  "z",    "wet",
    "bst",  "cet",  "met", "mewt", "mest", "cest", "mesz", "fwt", "fst",  "eet",  "eest",
    "wast", "wadt", "cct", "jst",  "east", "eadt", "gst",  "nzt", "nzst", "nzdt", "idle",
};

/* ASCII letters and digits, independent of the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_alpha(char c)
{
    return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(word, words[i]))
            return true;
    return false;
}
#define IS_ONE_OF(word, words) is_one_of(word, words, AL_COUNT(words))

/* Names may be abbreviated to at least three letters. */
static bool begins_one_of(const char *word, const char *const *words, size_t count)
{
    size_t len = strlen(word);

    for (size_t i = 0; len >= 3 && i < count; i++)
        if (!strncmp(word, words[i], len))
            return true;
    return false;
}

/* "week" or "weeks"; git accepts no other abbreviation of a unit. */
static bool is_unit(const char *word)
{
    size_t len = strlen(word);

    for (size_t i = 0; i < AL_COUNT(units); i++)
        if (!strncmp(word, units[i], strlen(units[i])) &&
            (!word[strlen(units[i])] ||
             (word[strlen(units[i])] == 's' && len == strlen(units[i]) + 1)))
            return true;
    return false;
}

/* Whether the date at `text` exists, if it is y-m-d with the year first. */
static bool is_day(const char *text)
{
    char *end;
    long first = strtol(text, &end, 10), second, third;
    char separator = *end;

    if (end - text != 4 || (separator != '-' && separator != '/' && separator != '.'))
        return true; /* other orders are not checked */
    second = strtol(end + 1, &end, 10);
    if (*end != separator || !is_digit(end[1]))
        return true;
    third = strtol(end + 1, NULL, 10);
    return first > 0 && second > 0 && third > 0 &&
           ((second <= 12 && third <= 31) || (second <= 31 && third <= 12));
}

/* End a pending number: without a unit it has to be a day of the month or a year. */
static bool settle_pending(struct reading *reading)
{
    long number = reading->pending;

    reading->pending = 0;
    return (number >= 0 && number < 100) || (number >= 1970 && number < 2100);
}

/* Read digits and what is joined to them: 2024-01-02, 03:04:05.678, 1.5. */
static bool read_digits(struct reading *reading)
{
    const char *begin = reading->at, *at = begin, *last = begin;
    size_t len;

    if (!settle_pending(reading))
        return false;
    for (;; at++) {
        if (strchr(":-/.", *at) && *at && is_digit(at[1]))
            last = at + 1;
        else if (!is_digit(*at))
            break;
    }
    len = (size_t)(at - last);
    reading->at = at;
    reading->means_something = true;
    if (last != begin) {
        reading->has_date |= strpbrk(begin, "-/.") && strpbrk(begin, "-/.") < last;
        reading->has_time |= memchr(begin, ':', (size_t)(at - begin)) != NULL;
        reading->pending = len <= 2 && *last != '0' ? strtol(last, NULL, 10) : 0;
        return is_day(begin);
    }
    if (len >= STAMP_DIGITS)
        return reading->has_date = reading->has_time = true;
    if (len == DAY_DIGITS && to_lower(*at) == 't' && is_digit(at[1]))
        return reading->has_date = true;
    if (begin > reading->value && begin[-1] == '@')
        reading->has_time = true;
    else if (len == 6 && reading->has_date) /* 20240102T030405 */
        reading->has_time = true;
    else
        reading->pending =
            len < DAY_DIGITS && strtol(begin, NULL, 10) ? strtol(begin, NULL, 10) : NOT_A_DAY;
    return true;
}

/* Skip a UTC offset after a time: "+0100", "-07:00". */
static bool skip_offset(struct reading *reading)
{
    const char *at = reading->at + 1;

    if (!reading->has_time || !is_digit(*at))
        return false;
    reading->at = at + strspn(at, "0123456789:");
    return true;
}

static bool is_known_word(struct reading *reading, const char *word, char before)
{
    if (begins_one_of(word, months, AL_COUNT(months))) {
        reading->has_date = reading->means_something = true;
        return true;
    }
    if (IS_ONE_OF(word, moments)) {
        reading->pending = 0;
        return reading->means_something = true;
    }
    if (!reading->pending && IS_ONE_OF(word, numbers)) {
        reading->pending = 1;
        return reading->means_something = true;
    }
    if (reading->pending && (is_unit(word) || begins_one_of(word, weekdays, AL_COUNT(weekdays)))) {
        reading->pending = 0;
        return reading->means_something = true;
    }
    if (IS_ONE_OF(word, ordinals))
        return is_digit(before);
    if (!strcmp(word, "t"))
        return is_digit(before) && is_digit(*reading->at);
    if (IS_ONE_OF(word, zones) && reading->has_time)
        return true;
    return IS_ONE_OF(word, fillers);
}

static bool read_word(struct reading *reading)
{
    const char *begin = reading->at;
    char before = begin > reading->value ? begin[-1] : '\0';
    char word[WORD_MAX_BYTES];
    size_t len = 0;

    for (; is_alpha(*reading->at); reading->at++)
        if (len < sizeof(word) - 1)
            word[len++] = to_lower(*reading->at);
    word[len] = '\0';
    return is_known_word(reading, word, before);
}

/* A weekday is meaningful beside a date, before or after it: "Thu, 7 Apr 2005". */
static bool is_weekday_of_a_date(const struct reading *reading, const char *begin)
{
    size_t len = (size_t)(reading->at - begin);
    char word[WORD_MAX_BYTES];

    if (len >= sizeof(word) || !strpbrk(reading->value, "0123456789"))
        return false;
    for (size_t i = 0; i <= len; i++)
        word[i] = i < len ? to_lower(begin[i]) : '\0';
    return begins_one_of(word, weekdays, AL_COUNT(weekdays));
}

static bool is_date(const char *value)
{
    struct reading reading = { .value = value, .at = value };
    bool needs_date = false;

    if (strlen(value) > VALUE_MAX_BYTES)
        return false;
    while (*reading.at) {
        const char *begin = reading.at;
        bool is_known;

        if (is_digit(*begin)) {
            is_known = read_digits(&reading);
        } else if (is_alpha(*begin)) {
            is_known = read_word(&reading);
            if (!is_known && is_weekday_of_a_date(&reading, begin))
                is_known = needs_date = true;
        } else if ((*begin == '+' || *begin == '-') && skip_offset(&reading)) {
            is_known = true;
        } else {
            reading.at++;
            is_known = strchr(" \t.,:-/+@()", *begin) != NULL;
        }
        if (!is_known)
            return false;
    }
    return settle_pending(&reading) && reading.means_something && (!needs_date || reading.has_date);
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
