// SPDX-License-Identifier: Apache-2.0
/*
 * The pages of the review: HTML of the model.
 *
 * - Everything that comes from a repository, an agent or a process is text: made safe as on a
 *   terminal with nothing removed, then escaped.
 * - A page works without a script, with links and forms.  The script only keeps it live.
 * - A page has no inline script, no inline style and no picture, so that its
 *   Content-Security-Policy can forbid them.
 * - In each form the button that rejects comes first: it is the one that Enter in the reason means.
 *
 * Nothing is read or kept here.  Threads: any.  Source: HTML Living Standard.
 */
#ifndef AL_REVIEW_WEB_PAGE_H
#define AL_REVIEW_WEB_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "review/command/job.h"
#include "review/command/model.h"
#include "review/door.h"

/** A text longer than this many lines has several pages. */
#define AL_PAGE_LINES_MAX 2000

/** Lines of a question's text that /review shows itself; a link leads to the rest. */
#define AL_PAGE_EXCERPT_LINES 120

/** Entries of a kind, but for questions, that /review shows. */
#define AL_PAGE_ENTRIES_MAX 100

/** The parts that every page of a user has.  Borrowed. */
struct al_page_frame {
    const char *csrf;    /**< the hidden field of each form */
    const char *notice;  /**< one line at the top: what came of the last answer; NULL: none */
    const char *problem; /**< of the door or the model, one line; NULL: none */
    const char *filter;  /**< of /review: entries that do not wait need this text; NULL: none */
    bool only_changes;   /**< of /review: without what only read */
};

/** Append /review: what waits, with its forms; what runs, is staged, and happened.  `only_main`:
 * the element `main` alone, for the script. */
void al_page_overview(const struct al_page_frame *frame, const struct al_model *model,
                      bool only_main, struct al_str *out);

/**
 * Append /review/ID: a question with its text in full.
 *
 * @param text  NULL or not complete: it is on its way.  The page shows the excerpt until then.
 * @param page  Of the text, from 0; one that there is not is the last.
 */
void al_page_question(const struct al_page_frame *frame, const struct al_item *question,
                      const struct al_review_text *text, size_t page, struct al_str *out);

/** A job that has ended, and what it printed.  Borrowed. */
struct al_page_job {
    enum al_review_job_kind kind;
    const struct al_str *text;
    bool succeeded;
    uint64_t newest; /**< of AL_REVIEW_JOB_PREVIEW: what the preview was made for */
};

/**
 * Append /review/execution/SEQ or /review/staged/ID with what it changes; and with another kind of
 * job the preview of a rollback, with its form, or what came of the rollback.
 *
 * @param job  NULL: there is none, because the execution has no checkpoint.
 */
void al_page_entry(const struct al_page_frame *frame, const struct al_item *item,
                   const struct al_page_job *job, size_t page, struct al_str *out);

/** Append a page with a heading and a sentence.  Both are any text.
 *
 * @param with_link  It leads back to /review: the user may see that page. */
void al_page_message(const char *heading, const char *sentence, bool with_link, struct al_str *out);

/** /review/style.css and /review/script.js. */
extern const char al_page_style[];
extern const char al_page_script[];

#endif
