// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/merged.h"

#include "answer/answer.h"
#include "answer/place.h"
#include "toolsets/everyday/outcome.h"

/* The numbers of git's diffstat: "2 files changed, 3 insertions(+)".  Only that line has a blank
 * and a digit at its beginning: the lines of files have a '|', and others a word. */
static void add_numbers(const struct al_merge_outcome *outcome, struct al_str *text)
{
    for (const char *line = outcome->text.buf; *line;) {
        size_t len = strcspn(line, "\n");

        if (line[0] == ' ' && line[1] >= '0' && line[1] <= '9' && !memchr(line, '|', len) &&
            memmem(line, len, " changed", strlen(" changed")))
            al_str_addf(text, "%.*s\n", (int)len - 1, line + 1);
        line += len + (line[len] == '\n');
    }
}

int al_merged_answer(struct al_call *call, const char *name, const struct al_merge_outcome *outcome,
                     const char *lines, struct al_result *result, struct al_error *err)
{
    static const char *const joined[] = { "pre-merge-commit", "prepare-commit-msg", "commit-msg",
                                          "post-merge", NULL };
    static const char *const moved[] = { "post-merge", NULL };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = 0;

    al_str_adds(&text, lines ? lines : "");
    if (outcome->conflicted) {
        al_str_adds(&text, "The merge of ");
        al_place_add_name(name, &text);
        al_str_adds(&text, " stopped at conflicts.\n");
        return al_outcome_stopped(call, &text, result, err);
    }
    if (outcome->up_to_date)
        al_str_adds(&text, "Nothing to merge: the branch has ");
    else
        al_str_adds(&text, outcome->fast_forward ? "Moved on to " : "Merged ");
    al_place_add_name(name, &text);
    if (outcome->up_to_date) {
        al_str_adds(&text, " already.\n");
    } else {
        al_str_adds(&text, ": ");
        r = al_outcome_add_commit(call, "HEAD", &text, err);
        al_str_addc(&text, '\n');
        add_numbers(outcome, &text);
        al_outcome_add_skipped(call, outcome->fast_forward ? moved : joined, !outcome->fast_forward,
                               &text);
    }
    if (r == 0)
        al_answer_done(call, &text, result);
    return r;
}
