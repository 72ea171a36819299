// SPDX-License-Identifier: Apache-2.0
#include "cli/query.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "guard/text.h"
#include "util/json.h"
#include "util/log.h"

#define LAST_MAX 1000000000u

bool al_query_number(const char *text, size_t *ret_number)
{
    size_t number = 0;

    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9' || number > LAST_MAX)
            return false;
        number = number * 10 + (size_t)(*at - '0');
    }
    *ret_number = number;
    return *text && number >= 1 && number <= LAST_MAX;
}

static void format_utc(time_t when, int ms, char ret_text[32])
{
    struct tm tm;
    char seconds[24] = "";

    if (gmtime_r(&when, &tm))
        (void)strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(ret_text, 32, "%s.%03dZ", seconds, ms);
}

/* "90s", "15m", "2h", "3d", "1w": so long ago. */
static bool parse_ago(const char *text, char ret_since[32])
{
    static const struct {
        char unit;
        time_t seconds;
    } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
    size_t digits = strspn(text, "0123456789");
    al_auto(al_freep) char *number = al_strndup(text, digits);
    size_t count;

    if (!al_query_number(number, &count) || count > 1000000 || !text[digits] || text[digits + 1])
        return false;
    for (size_t i = 0; i < AL_COUNT(units); i++) {
        if (units[i].unit != text[digits])
            continue;
        format_utc(time(NULL) - (time_t)count * units[i].seconds, 0, ret_since);
        return true;
    }
    return false;
}

/* A date, with a time or without, local unless it says otherwise; also as R3 writes it. */
static bool parse_date(const char *text, char ret_since[32])
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
        format_utc(when, ms, ret_since);
        return true;
    }
    return false;
}

static int usage(const char *fmt, const char *word)
{
    al_auto(al_freep) char *safe = al_text_word(word);

    al_log_note("%s '%s'; see airlock log --help", fmt, safe);
    return AL_EXIT_USAGE;
}

/* The value of "--name VALUE" or "--name=VALUE"; NULL when the word is another option. */
static const char *value_of(const char *name, int *at, int argc, char **argv)
{
    size_t len = strlen(name);

    if (strncmp(argv[*at], name, len) != 0)
        return NULL;
    if (argv[*at][len] == '=')
        return argv[*at] + len + 1;
    return !argv[*at][len] && *at + 1 < argc ? argv[++*at] : NULL;
}

static int parse_word(struct al_query *query, int *at, int argc, char **argv)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = { { "--json", &query->json },
                  { "--verify", &query->verify },
                  { "--follow", &query->follow } };
    const char *word = argv[*at], *value;

    for (size_t i = 0; i < AL_COUNT(flags); i++) {
        if (strcmp(word, flags[i].name) != 0)
            continue;
        *flags[i].flag = true;
        return AL_EXIT_OK;
    }
    if ((value = value_of("--tool", at, argc, argv))) {
        query->tool = value;
        return AL_EXIT_OK;
    }
    if ((value = value_of("--since", at, argc, argv)))
        return parse_ago(value, query->since) || parse_date(value, query->since)
                   ? AL_EXIT_OK
                   : usage("cannot read the time", value);
    if (!strcmp(word, "--tool") || !strcmp(word, "--since"))
        return usage("a value is missing after", word);
    if (word[0] == '-' && (word[1] < '0' || word[1] > '9'))
        return usage("unknown option", word);
    if (query->last)
        return usage("one number is enough:", word);
    return al_query_number(word, &query->last) ? AL_EXIT_OK : usage("not a number of lines:", word);
}

int al_query_parse(struct al_query *query, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        int code = parse_word(query, &i, argc, argv);

        if (code != AL_EXIT_OK)
            return code;
    }
    if (query->verify && (query->follow || query->last || query->tool || query->since[0]))
        return usage("everything is checked, or nothing:", "--verify");
    return AL_EXIT_OK;
}

bool al_query_matches(const struct al_query *query, const char *text, size_t len)
{
    al_auto(al_json_decrefp) json_t *line = NULL;
    const char *tool, *time;

    if (!query->tool && !query->since[0])
        return true;
    line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    tool = al_json_get_string(line, "tool");
    time = al_json_get_string(line, "time");
    return (!query->tool || (tool && !strcmp(tool, query->tool))) &&
           (!query->since[0] || (time && strcmp(time, query->since) >= 0));
}
