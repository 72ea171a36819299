// SPDX-License-Identifier: Apache-2.0
/*
 * The work that a window of airlock review asks this program to do beside it: show the changes of
 * an execution, say what a rollback would change, roll back, show a staged commit.
 *
 * Each job is a child process, `airlock diff`, `airlock rollback` or `airlock staging`, so that it
 * can take its time, be ended, and has the locks and guards of the command.
 *
 *     r = al_review_job_start(setup, kind, item, newest, &job, &err);
 *     poll(al_review_job_fd(job)) ... until al_review_job_has_ended(job)
 *     show(al_review_job_text(job))
 *     al_review_job_free(job)
 *
 * Threads: one at a time; a thread of its own waits for the child.  A rollback that is killed can
 * be continued (docs/ROLLBACK.md); a window waits for it.
 */
#ifndef AL_REVIEW_COMMAND_JOB_H
#define AL_REVIEW_COMMAND_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/setup.h"
#include "review/command/model.h"

/** A longer output is cut, which its last line says. */
#define AL_REVIEW_JOB_MAX_BYTES (16u << 20)

enum al_review_job_kind {
    AL_REVIEW_JOB_CHANGES,   /**< the changes that an execution made; of a commit its patch */
    AL_REVIEW_JOB_PREVIEW,   /**< what going back to before an execution would change */
    AL_REVIEW_JOB_ROLL_BACK, /**< go back to before an execution: it and all later ones there */
    AL_REVIEW_JOB_STAGED,    /**< the diff of a staged commit */
};

struct al_review_job;

/**
 * @param setup   After al_setup_config(): its journal, configuration and state directory are the
 *                child's.
 * @param item    A checkpointed execution, or a staged commit.  Borrowed for the call only.
 * @param newest  The newest execution of the repository when the user looked, al_model_newest().
 *                The preview and the rollback fail if there is a newer one, and say so, and nothing
 *                changes.  0: none.
 */
int al_review_job_start(const struct al_setup *setup, enum al_review_job_kind kind,
                        const struct al_item *item, uint64_t newest, struct al_review_job **ret_job,
                        struct al_error *err);

/** Readable once the job has ended.  Borrowed. */
int al_review_job_fd(const struct al_review_job *job);
bool al_review_job_has_ended(const struct al_review_job *job);

/** The output of a job that has ended, made safe for a terminal: several lines.  Borrowed. */
const struct al_str *al_review_job_text(const struct al_review_job *job);

/** Test whether a job that has ended succeeded.  A preview that says that a rollback would lose
 * something fails too, with that as its text. */
bool al_review_job_succeeded(const struct al_review_job *job);

/** End the job.  NULL is fine. */
void al_review_job_free(struct al_review_job *job);

#endif
