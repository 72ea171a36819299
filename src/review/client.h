// SPDX-License-Identifier: Apache-2.0
/*
 * A door's side of review/message.h: the questions of all processes of this user, and answers to
 * them.
 */
#ifndef AL_REVIEW_CLIENT_H
#define AL_REVIEW_CLIENT_H

#include <sys/types.h>

#include "guard/rules/approval.h"
#include "review/list.h"
#include "util/error.h"
#include "util/str.h"

/** How long each process has for its answer, in milliseconds.  A process that is stopped does not
 * answer. */
#define AL_REVIEW_ANSWER_MS 3000

/** Told about a process or a directory that could not be asked, with a safe line. */
typedef void al_review_problem_fn(void *payload, const char *line);

/** Ask every process for the questions that wait.  Entries that are not as they should be are left
 * out.  Sockets of dead processes are removed. */
void al_review_list_all(const struct al_strv *dirs, struct al_review_list *ret_list,
                        al_review_problem_fn *problem, void *payload);

/** How long the process of a question has for its whole text, in milliseconds: it runs git. */
#define AL_REVIEW_TEXT_MS 120000

/**
 * Read the whole text of a question.
 *
 * @param pid       The process it waits in.
 * @param ret_text  Appended.
 * @return 0; AL_ERR_NOT_FOUND when it no longer waits; AL_ERR_EXECUTION when it cannot be shown.
 */
int al_review_read_text(const struct al_strv *dirs, pid_t pid, const char *id,
                        struct al_str *ret_text, al_review_problem_fn *problem, void *payload,
                        struct al_error *err);

/**
 * Answer a question.
 *
 * @param reason  Of a rejection; NULL: none.
 * @return 0; AL_ERR_NOT_FOUND when it no longer waits; AL_ERR_BAD_ARGS when it cannot be answered
 *         like this, and goes on waiting; AL_ERR_EXECUTION when its process does not answer.
 */
int al_review_send_answer(const struct al_strv *dirs, const char *id, enum al_answer decision,
                          const char *reason, al_review_problem_fn *problem, void *payload,
                          struct al_error *err);

/**
 * Ask for a link to the page that a server of the user serves already (`serve --http`).
 *
 * @return a link on one line, which the caller wipes and frees; NULL: no server has such a page.
 */
char *al_review_find_link(const struct al_strv *dirs, al_review_problem_fn *problem, void *payload);

#endif
