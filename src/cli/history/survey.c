// SPDX-License-Identifier: Apache-2.0
#include "cli/history/survey.h"

#include <stdlib.h>
#include <string.h>

#include "history/journal.h"
#include "util/fs.h"
#include "util/json.h"

/* Shorten a directory, which ends in '/', until `path` is below it. */
static void shorten_to_common(char *common_dir, const char *path)
{
    while (!al_starts_with(path, common_dir)) {
        char *end = strrchr(common_dir, '/');

        *end = '\0';
        strrchr(common_dir, '/')[1] = '\0';
    }
}

static void add_repository(struct al_survey *survey, const char *text, size_t len)
{
    static const char member[] = "\"repository\":\"";
    const char *at = memmem(text, len, member, strlen(member)), *path;
    al_auto(al_json_decrefp) json_t *line = NULL;

    if (!at || (survey->last.len && al_starts_with(at, survey->last.buf)))
        return;
    al_str_reset(&survey->last);
    al_str_add(&survey->last, at, strcspn(at + strlen(member), "\"") + strlen(member) + 1);
    line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    path = al_json_get_string(line, "repository");
    if (!path || path[0] != '/')
        return;
    if (!survey->first) {
        survey->first = al_strdup(path);
        return;
    }
    if (!strcmp(survey->first, path))
        return;
    if (!survey->common_dir)
        survey->common_dir =
            al_strndup(survey->first, (size_t)(strrchr(survey->first, '/') - survey->first) + 1);
    shorten_to_common(survey->common_dir, path);
}

/* The member "agent" stands before "tool", and "tool" before the arguments, which may have a member
 * of that name.  A line without it is as good as one with null. */
static void add_agent(struct al_survey *survey, const char *text, size_t len)
{
    static const char member[] = "\"agent\":", next[] = ",\"tool\":";
    const char *end = memmem(text, len, next, strlen(next));
    const char *at = end ? memmem(text, (size_t)(end - text), member, strlen(member)) : NULL;
    const char *value = at ? at + strlen(member) : "null";
    size_t value_len = at ? (size_t)(end - value) : strlen(value);

    if (!survey->agent.len)
        al_str_add(&survey->agent, value, value_len);
    else if (survey->agent.len != value_len || memcmp(survey->agent.buf, value, value_len) != 0)
        survey->has_several_agents = true;
}

void al_survey_lines(const struct al_query *query, const struct al_history *history, size_t index,
                     struct al_survey *survey)
{
    for (size_t i = index; i < al_history_count(history); i++) {
        al_auto(al_closep) int fd = al_history_file(history, i);
        al_auto(al_lines_clear) struct al_lines lines = AL_LINES_INIT(fd, 0);
        const char *text;
        size_t len;

        while (fd >= 0 && al_lines_next(&lines, &text, &len) > 0) {
            if (!al_query_matches(query, text, len))
                continue;
            add_repository(survey, text, len);
            add_agent(survey, text, len);
            survey->lines++;
        }
    }
}

void al_survey_clear(struct al_survey *survey)
{
    free(survey->first);
    free(survey->common_dir);
    al_str_clear(&survey->last);
    al_str_clear(&survey->agent);
}
