// SPDX-License-Identifier: Apache-2.0
/* The facts that the selected lines of the journal have in common: the columns of a table in which
 * they would all be equal are left out. */
#ifndef AL_CLI_HISTORY_SURVEY_H
#define AL_CLI_HISTORY_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/history/query.h"
#include "history/journal.h"
#include "util/str.h"

/** The lines read so far.  Set up with AL_SURVEY_INIT. */
struct al_survey {
    size_t lines;
    char *common_dir; /**< a directory above all repositories, ending in '/'; NULL: not several */
    bool has_several_agents; /**< or lines of an agent beside lines of none */
    char *first;             /* the first repository; NULL: none yet; private */
    struct al_str last;      /* the last line's member: successive lines often have the same */
    struct al_str agent;     /* the first line's member */
};

#define AL_SURVEY_INIT ((struct al_survey){ .last = AL_STR_INIT, .agent = AL_STR_INIT })

/** Read the lines that the query selects, from the file with this index on.  What cannot be read is
 * left out. */
void al_survey_lines(const struct al_query *query, const struct al_history *history, size_t index,
                     struct al_survey *survey);
void al_survey_clear(struct al_survey *survey);

#endif
