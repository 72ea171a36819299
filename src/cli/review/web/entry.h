// SPDX-License-Identifier: Apache-2.0
/* The entries of /review: a question with its form, a call that runs, an execution, a staged
 * commit. */
#ifndef AL_CLI_REVIEW_WEB_ENTRY_H
#define AL_CLI_REVIEW_WEB_ENTRY_H

#include "cli/review/web/page.h"

/** The path of a question's page, safe in HTML.  Caller frees. */
char *al_page_question_path(const struct al_review_waiting *question);

/** Append the facts that a question is judged by. */
void al_page_add_question_facts(const struct al_review_waiting *question, struct al_str *out);

/** Append the form that answers a question. */
void al_page_add_answers(const struct al_page_frame *frame,
                         const struct al_review_waiting *question, struct al_str *out);

/** Append the facts of a call. */
void al_page_add_call_facts(const struct al_overview_call *call, struct al_str *out);

/** What the call is called: its summary, or its tool.  Borrowed. */
const char *al_page_call_title(const struct al_overview_call *call);

/** Append the entries of /review. */
void al_page_add_question(const struct al_page_frame *frame,
                          const struct al_review_waiting *question, struct al_str *out);
void al_page_add_running(const struct al_overview_call *call, struct al_str *out);
void al_page_add_execution(const struct al_overview_call *call, struct al_str *out);
void al_page_add_staged(const struct al_overview_staged *staged, struct al_str *out);

#endif
