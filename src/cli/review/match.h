// SPDX-License-Identifier: Apache-2.0
/*
 * Which of the calls that run are those that wait for an answer, so that each is listed once.
 *
 * A running call is one line of its process's open records (history/open_records.c), and a question
 * is one entry of its process's queue (review/queue.h).  They belong together if the process, the
 * tool and the summary are the same.  The journal's summary has no secrets and may be cut.
 */
#ifndef AL_CLI_REVIEW_MATCH_H
#define AL_CLI_REVIEW_MATCH_H

#include <stdbool.h>

#include "review/list.h"

/** The questions, each with whether its call was seen. */
struct al_review_match {
    const struct al_review_list *waiting; /**< borrowed; may be NULL */
    bool *seen;
};

/** @param waiting  Borrowed until al_review_match_clear(); NULL: no call waits. */
struct al_review_match al_review_match_begin(const struct al_review_list *waiting);

void al_review_match_clear(struct al_review_match *match);

/** Test whether a running call waits for an answer.  Each question is the answer to one call only:
 * of two equal calls with one question, one runs. */
bool al_review_match_take(struct al_review_match *match, long pid, const json_t *call);

#endif
