// SPDX-License-Identifier: Apache-2.0
#include "cli/review/match.h"

#include <stdlib.h>
#include <string.h>

#include "history/journal.h"

/* The journal cuts a longer summary (AL_JOURNAL_RECORD_MAX_BYTES).  What is redacted after the cut
 * may be a little different there, so less is compared. */
#define COMPARED_BYTES 2048u

struct al_review_match al_review_match_begin(const struct al_review_list *waiting)
{
    return (struct al_review_match){
        .waiting = waiting,
        .seen = al_calloc((waiting ? waiting->count : 0) + 1, sizeof(bool)),
    };
}

void al_review_match_clear(struct al_review_match *match)
{
    free(al_take(&match->seen));
}

static bool has_tool(const json_t *entry, const json_t *call)
{
    const char *asked = al_json_get_string(entry, "tool"), *runs = al_json_get_string(call, "tool");

    return asked && runs && !strcmp(asked, runs);
}

/* The journal has the summary without secrets, and a question has it whole. */
static bool has_summary(const json_t *entry, const json_t *call)
{
    const char *asked = al_json_get_string(entry, "summary");
    const char *runs = al_json_get_string(call, "summary");
    al_auto(al_str_clear) struct al_str clean = AL_STR_INIT;

    if (!asked || !runs)
        return false;
    al_redact_text(asked, strlen(asked), &clean);
    return !strncmp(clean.buf, runs, COMPARED_BYTES);
}

bool al_review_match_take(struct al_review_match *match, long pid, const json_t *call)
{
    for (size_t i = 0; match->waiting && i < match->waiting->count; i++) {
        const struct al_review_waiting *question = &match->waiting->items[i];

        if (!match->seen[i] && question->pid == pid && has_tool(question->entry, call) &&
            has_summary(question->entry, call))
            return match->seen[i] = true;
    }
    return false;
}
