// SPDX-License-Identifier: Apache-2.0
/* The questions that wait, and the calls that run, as text and as JSON. */
#ifndef AL_CLI_REVIEW_SHOW_H
#define AL_CLI_REVIEW_SHOW_H

#include "review/client.h"

/** Append the entries as one JSON array on a line, in ASCII. */
void al_review_add_json(const struct al_review_list *waiting, struct al_str *out);

/** Append what waits and what runs, for a user. */
void al_review_add_list(const struct al_review_list *waiting, const char *journal_file,
                        struct al_str *out);

/** Append one question with its text; NULL: the excerpt that it has.  Text of the call is indented,
 * so that it cannot pass for airlock's own lines. */
void al_review_add_question(const struct al_review_waiting *question, const char *text,
                            struct al_str *out);

#endif
