// SPDX-License-Identifier: Apache-2.0
/*
 * The pages of the review: HTML of what waits, what runs, what is staged and what happened.
 *
 * - Everything that comes from a repository, an agent or a process is text; see html.h.
 * - A page works without a script, with links and forms.  The script only keeps it live.
 * - A page has no inline script, no inline style and no picture, so that its
 *   Content-Security-Policy can forbid them.
 * - In each form the button that rejects comes first: it is the one that Enter in the reason means.
 *
 * Nothing is read or kept here.  Threads: any.  Source: HTML Living Standard.
 */
#ifndef AL_CLI_REVIEW_WEB_PAGE_H
#define AL_CLI_REVIEW_WEB_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/review/job.h"
#include "cli/review/overview.h"
#include "review/door.h"
#include "util/str.h"

/** A text, and which part of it is shown.  Borrowed. */
struct al_page_text {
    const char *text;
    size_t len;
    const char *path;  /**< of the page, safe in HTML: "/review/3f2a9c10" */
    const char *label; /**< what it is, for a screen reader: "Text of the question" */
    size_t page;       /**< from 0; one that there is not is the last */
};

/** A text longer than this many lines, or bytes, has several pages. */
#define AL_PAGE_LINES_MAX 2000
#define AL_PAGE_BYTES_MAX (256u << 10)

/** Lines of a question's text that /review shows itself; a link leads to the rest. */
#define AL_PAGE_EXCERPT_LINES 120

/** Executions that /review shows. */
#define AL_PAGE_EXECUTIONS_MAX 100

/** What every page of a user says.  Borrowed. */
struct al_page_frame {
    const char *csrf;    /**< the hidden field of each form */
    const char *notice;  /**< one line at the top: what came of the last answer; NULL: none */
    bool notice_is_bad;  /**< the notice tells of a failure */
    const char *problem; /**< of the door or the overview, one line; NULL: none */
};

/** Append /review: what waits, with its forms; what runs, is staged, and happened. */
void al_page_overview(const struct al_page_frame *frame, const struct al_review_list *waiting,
                      const struct al_overview *overview, struct al_str *out);

/** Append the element `main` of that page alone, for the script. */
void al_page_overview_main(const struct al_page_frame *frame, const struct al_review_list *waiting,
                           const struct al_overview *overview, struct al_str *out);

/**
 * Append /review/ID: a question with its text in full.
 *
 * @param text  NULL or not complete: it is on its way.  The page shows the excerpt until then, and
 *              loads itself again.
 * @param page  Of the text, from 0; one that there is not is the last.
 */
void al_page_question(const struct al_page_frame *frame, const struct al_review_waiting *question,
                      const struct al_review_text *text, size_t page, struct al_str *out);

/** A job and what it printed.  Borrowed. */
struct al_page_job {
    enum al_review_job_kind kind;
    const struct al_str *text;
    bool ended, succeeded;
    uint64_t newest; /**< of AL_REVIEW_JOB_PREVIEW: what the preview was made for */
};

/**
 * Append /review/execution/SEQ, with what it changed; and with another kind of job the preview of a
 * rollback, with its form, or what came of the rollback.
 *
 * @param job  NULL: there is none, because the execution has no checkpoint.
 */
void al_page_execution(const struct al_page_frame *frame, const struct al_overview_call *call,
                       const struct al_page_job *job, size_t page, struct al_str *out);

/** Append /review/staged/ID: a staged commit with its diff.  `job` may be NULL. */
void al_page_staged(const struct al_page_frame *frame, const struct al_overview_staged *staged,
                    const struct al_page_job *job, size_t page, struct al_str *out);

/** Append a page with a heading and a sentence.  Both are any text.
 *
 * @param with_link  It leads back to /review: the user may see that page. */
void al_page_message(const char *heading, const char *sentence, bool with_link, struct al_str *out);

/** /review/style.css and /review/script.js. */
extern const char al_page_style[];
extern const char al_page_script[];

/** Append at most `max_lines` lines of a text; then how many there are in all, with a link to
 * `path`. */
void al_page_add_excerpt(const struct al_page_text *text, size_t max_lines, struct al_str *out);

#endif
