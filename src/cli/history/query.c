// SPDX-License-Identifier: Apache-2.0
#include "cli/history/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/names.h"
#include "cli/print.h"
#include "history/journal.h"
#include "tools/toolsets.h"
#include "tools/upstream/mounts.h"

/* Larger counts are rejected, so that the arithmetic cannot overflow. */
#define COUNT_MAX 1000000u

/* The local time now, or at the last midnight. */
static struct tm local_now(bool midnight)
{
    const time_t now = time(NULL);
    struct tm tm = { .tm_isdst = -1 };

    (void)localtime_r(&now, &tm);
    if (midnight)
        tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
    tm.tm_isdst = -1;
    return tm;
}

/* `count` units before now.  A unit is written in the singular, in the plural or as one letter. */
static bool ago(const char *name, size_t count, int64_t *ret_ms)
{
    static const struct {
        const char *name;
        int months, days;
        time_t seconds;
    } units[] = {
        { "second", 0, 0, 1 }, { "minute", 0, 0, 60 }, { "hour", 0, 0, 3600 }, { "day", 0, 1, 0 },
        { "week", 0, 7, 0 },   { "month", 1, 0, 0 },   { "year", 12, 0, 0 },
    };
    struct tm tm = local_now(false);

    for (size_t i = 0; i < AL_COUNT(units) && count <= COUNT_MAX; i++) {
        const size_t len = name[1] ? strlen(units[i].name) : 1; /* "m" is a minute */

        if (strncmp(name, units[i].name, len) != 0 || (name[len] && strcmp(name + len, "s") != 0))
            continue;
        tm.tm_mon -= units[i].months * (int)count;
        tm.tm_mday -= units[i].days * (int)count;
        *ret_ms = 1000 * (mktime(&tm) - units[i].seconds * (time_t)count);
        return true;
    }
    return false;
}

/* "90s", "2 hours ago", "2.hours.ago", "last week".  Dots count as blanks, as in git. */
static bool parse_ago(const char *text, int64_t *ret_ms)
{
    al_auto(al_freep) char *words = al_strdup(text);
    char unit[16] = "";
    size_t count = 1;
    int end = 0;
    bool letter;

    for (char *at = words; *at; at++)
        *at = *at == '.' ? ' ' : (char)(*at | 0x20); /* in lower case */
    letter = sscanf(words, "%8zu%1[smhdw]%n", &count, unit, &end) == 2;
    if (!letter && sscanf(words, " %8zu %15[a-z] ago %n", &count, unit, &end) != 2) {
        count = 1;
        (void)sscanf(words, " last %15[a-z] %n", unit, &end);
    }
    return end && !words[end] && (letter || unit[1]) && ago(unit, count, ret_ms);
}

/* "now", "today" and "yesterday"; the latter two mean midnight. */
static bool parse_day(const char *text, int64_t *ret_ms)
{
    const bool now = !strcasecmp(text, "now"), yesterday = !strcasecmp(text, "yesterday");
    struct tm tm = local_now(!now);

    tm.tm_mday -= yesterday;
    *ret_ms = 1000 * mktime(&tm);
    return now || yesterday || !strcasecmp(text, "today");
}

/* A date, a time of day, or both, also in the form of a tool log's `timestamp`. */
static bool parse_date(const char *text, int64_t *ret_ms)
{
    static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
                                         "%Y-%m-%dT%H:%M",    "%Y-%m-%d %H:%M",
                                         "%Y%m%d_%H%M%S",     "%Y-%m-%d",
                                         "%H:%M:%S",          "%H:%M" };
    const struct tm today = local_now(true);

    for (size_t i = 0; i < AL_COUNT(forms); i++) {
        struct tm tm = today;
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
        *ret_ms = 1000 * when + ms;
        return true;
    }
    return false;
}

/* Read a time.  It is local time, unless it has a zone.
 *
 *   2026-01-31, 2026-01-31T12:30:00Z             ISO 8601, with or without a time of day
 *   20260131_123000                              a tool log's `timestamp`
 *   12:30, 12:30:00                              today
 *   now, today, yesterday                        the latter two mean midnight
 *   "2 hours ago", 2.hours.ago, "last week"      relative, in git's words
 *   90s, 15m, 2h, 3d, 1w                         relative, abbreviated */
static bool when_parse(const char *text, int64_t *ret_ms)
{
    return parse_day(text, ret_ms) || parse_ago(text, ret_ms) || parse_date(text, ret_ms);
}

bool al_cli_is_label(const char *text)
{
    int64_t ms;

    return text[strspn(text, "0123456789")] && !when_parse(text, &ms);
}

#define LAST_MAX 1000000000u

bool al_query_number(const char *text, size_t *ret_number)
{
    if (!*text || text[strspn(text, "0123456789")])
        return false;
    *ret_number = strtoull(text, NULL, 10); /* the largest number for one that is too large */
    return *ret_number >= 1 && *ret_number <= LAST_MAX;
}

static int usage(const char *what, const char *word)
{
    return al_cli_usage("%s '%s'; see airlock log --help", what, word);
}

bool al_query_tool_exists(const char *name)
{
    if (!strcmp(name, "rollback") || al_mounted_server(name))
        return true; /* the journal may have calls of servers that are configured no more */
    return al_toolset_find_tool(al_toolsets(), name).tool;
}

int al_query_unknown_tool(const char *name)
{
    struct al_nearest nearest = { .word = name };

    al_nearest_offer(&nearest, "rollback");
    al_names_offer(&nearest);
    return nearest.found
               ? al_cli_usage("no tool is called '%s', did you mean '%s'?", name, nearest.found)
               : al_cli_usage("no tool is called '%s'; see airlock tools", name);
}

int al_query_check(struct al_query *query, const char *since, int argc, char **argv)
{
    if (since && !when_parse(since, &query->since_ms))
        return usage("a time is 2026-01-31, '2 hours ago' or yesterday, not", since);
    if (argc > 1)
        return usage("unexpected second number", argv[1]);
    if (argc && !al_query_number(argv[0], &query->last))
        return usage("not a number of lines:", argv[0]);
    if (query->verify && (query->follow || query->last || query->tool || query->agent ||
                          query->session || query->since_ms))
        return usage("no selection goes with", "--verify");
    if (query->running && (query->verify || query->follow || query->last || query->since_ms))
        return usage("only --json, --tool, --agent and --session go with", "--running");
    return AL_EXIT_OK;
}

static bool is_given(const char *wanted, const json_t *call, const char *member)
{
    const char *value = al_json_get_string(call, member);

    return !wanted || (value && !strcmp(value, wanted));
}

/* In this repository or one inside of it; or in none, as a call that ends before it has opened one,
 * unless its only root lies elsewhere. */
static bool is_here(const char *top, const json_t *call)
{
    al_auto(al_freep) char *repository = al_journal_path(call, "repository");
    al_auto(al_freep) char *place =
        repository ? al_strdup(repository) : al_journal_path(call, "root");

    return !top || !place || al_fs_beneath(top, place) ||
           (!repository && al_fs_beneath(place, top));
}

bool al_query_matches_call(const struct al_query *query, const json_t *call)
{
    return is_here(query->top, call) && is_given(query->tool, call, "tool") &&
           is_given(query->agent, call, "agent") &&
           is_given(query->session, call, "conversation_id");
}

static bool is_from(const json_t *line, int64_t since_ms)
{
    const int64_t ms = al_clock_iso_ms(al_json_get_string(line, "time"));

    return ms && ms >= since_ms;
}

bool al_query_matches(const struct al_query *query, const char *text, size_t len)
{
    al_auto(al_json_decrefp) json_t *line = NULL;

    if (!query->tool && !query->agent && !query->session && !query->top && !query->since_ms)
        return true;
    line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    return al_query_matches_call(query, line) &&
           (!query->since_ms || is_from(line, query->since_ms));
}

/* --- Executions from one on --- */

struct span {
    uint64_t *seqs;
    size_t count;
};

static void add_seq(struct span *span, uint64_t seq)
{
    span->seqs = al_reallocarray(span->seqs, span->count + 1, sizeof(*span->seqs));
    span->seqs[span->count++] = seq;
}

size_t al_query_from(const char *journal_file, const char *top, const char *what,
                     uint64_t **ret_seqs, char **ret_elsewhere)
{
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    struct span labelled = { .seqs = NULL }, later = { .seqs = NULL };
    int64_t since_ms = 0;
    const char *text;
    size_t len, number = 0;
    const bool is_number = al_query_number(what, &number);
    const bool is_time = !is_number && when_parse(what, &since_ms);

    if (al_history_open(journal_file, &history) < 0)
        return 0;
    while (al_history_next(&history, &text, &len) > 0) {
        al_auto(al_json_decrefp) json_t *line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
        const uint64_t seq = (uint64_t)json_integer_value(json_object_get(line, "seq"));

        if (is_number && seq == number && !al_journal_is_about(line, top) && !*ret_elsewhere)
            *ret_elsewhere = al_strdup(al_json_get_string(line, "repository"));
        if (!al_journal_is_about(line, top) || !al_json_get_string(line, "git_commit"))
            continue;
        if (is_given(what, line, "label"))
            labelled.count = 0; /* the newest one of this name */
        if (labelled.count || is_given(what, line, "label"))
            add_seq(&labelled, seq);
        if ((is_number && seq >= number) || (is_time && is_from(line, since_ms)))
            add_seq(&later, seq);
    }
    free((labelled.count ? later : labelled).seqs);
    *ret_seqs = (labelled.count ? labelled : later).seqs;
    return *ret_elsewhere ? 0 : labelled.count ? labelled.count : later.count;
}
