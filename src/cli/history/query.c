// SPDX-License-Identifier: Apache-2.0
#include "cli/history/query.h"

#include <string.h>

#include "cli/cli.h"
#include "guard/text.h"
#include "toolsets/toolsets.h"
#include "toolsets/upstream/names.h"
#include "util/json.h"
#include "util/log.h"
#include "util/nearest.h"

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

static int usage(const char *fmt, const char *word)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(word);

    al_log_note("%s '%s'; see airlock log --help", fmt, safe);
    return AL_EXIT_USAGE;
}

bool al_query_tool_exists(const char *name)
{
    al_auto(al_toolset_registry_clear) struct al_toolset_registry toolsets =
        AL_TOOLSET_REGISTRY_INIT;

    if (!strcmp(name, "rollback") || al_mounted_server(name))
        return true; /* the journal may have calls of servers that are configured no more */
    al_toolsets_register(&toolsets);
    return al_toolset_find_tool(&toolsets, name).tool;
}

int al_query_unknown_tool(const char *name)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(name);
    al_auto(al_toolset_registry_clear) struct al_toolset_registry toolsets =
        AL_TOOLSET_REGISTRY_INIT;
    struct al_nearest nearest = { .word = name };

    al_nearest_offer(&nearest, "rollback");
    al_toolsets_register(&toolsets);
    for (size_t i = 0; i < toolsets.count; i++)
        for (size_t k = 0; toolsets.items[i]->tools[k]; k++)
            al_nearest_offer(&nearest, toolsets.items[i]->tools[k]->name);
    if (nearest.found)
        al_log_note("no tool is called '%s', did you mean '%s'?", safe, nearest.found);
    else
        al_log_note("no tool is called '%s'; see airlock tools", safe);
    return AL_EXIT_USAGE;
}

static int unknown_option(const char *word)
{
    static const char *const known[] = { "--json", "--verify", "--follow", "--running",
                                         "--tool", "--since",  "--agent",  "--help" };
    al_auto(al_freep) char *name = al_strndup(word, strcspn(word, "="));
    al_auto(al_freep) char *safe = al_text_sanitize_line(word);
    struct al_nearest nearest = { .word = name };

    for (size_t i = 0; i < AL_COUNT(known); i++)
        al_nearest_offer(&nearest, known[i]);
    if (!nearest.found)
        return usage("unknown option", word);
    al_log_note("unknown option '%s'; did you mean %s? See airlock log --help", safe,
                nearest.found);
    return AL_EXIT_USAGE;
}

/* The value of "--name VALUE" or "--name=VALUE".  NULL: the word is another option. */
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
                  { "--follow", &query->follow },
                  { "--running", &query->running } };
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
    if ((value = value_of("--agent", at, argc, argv))) {
        query->agent = value;
        return AL_EXIT_OK;
    }
    if ((value = value_of("--since", at, argc, argv)))
        return al_when_parse(value, query->since)
                   ? AL_EXIT_OK
                   : usage("a time is 2026-01-31, '2 hours ago' or yesterday, not", value);
    if (!strcmp(word, "--tool") || !strcmp(word, "--since") || !strcmp(word, "--agent"))
        return usage("a value is missing after", word);
    if (word[0] == '-' && (word[1] < '0' || word[1] > '9'))
        return unknown_option(word);
    if (query->last)
        return usage("unexpected second number", word);
    return al_query_number(word, &query->last) ? AL_EXIT_OK : usage("not a number of lines:", word);
}

int al_query_parse(struct al_query *query, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        int code = parse_word(query, &i, argc, argv);

        if (code != AL_EXIT_OK)
            return code;
    }
    if (query->verify &&
        (query->follow || query->last || query->tool || query->agent || query->since[0]))
        return usage("no selection goes with", "--verify");
    if (query->running && (query->verify || query->follow || query->last || query->since[0]))
        return usage("only --json, --tool and --agent go with", "--running");
    return AL_EXIT_OK;
}

static bool is_given(const char *wanted, const json_t *call, const char *member)
{
    const char *value = al_json_get_string(call, member);

    return !wanted || (value && !strcmp(value, wanted));
}

bool al_query_matches_call(const struct al_query *query, const json_t *call)
{
    return is_given(query->tool, call, "tool") && is_given(query->agent, call, "agent");
}

bool al_query_matches(const struct al_query *query, const char *text, size_t len)
{
    al_auto(al_json_decrefp) json_t *line = NULL;
    const char *time;

    if (!query->tool && !query->agent && !query->since[0])
        return true;
    line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    time = al_json_get_string(line, "time");
    return al_query_matches_call(query, line) &&
           (!query->since[0] || (time && strcmp(time, query->since) >= 0));
}
