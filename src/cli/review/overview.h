// SPDX-License-Identifier: Apache-2.0
/*
 * What the windows of airlock review show beside the questions: the calls that run, the executions
 * that ended lately in any repository, and the staged commits.
 *
 * All text is made safe for a terminal: one line each, controls shown.  It is still text, so a page
 * escapes it.
 *
 * Threads: one at a time.  Source: docs/JOURNAL.md, staging/staged.h.
 */
#ifndef AL_CLI_REVIEW_OVERVIEW_H
#define AL_CLI_REVIEW_OVERVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/setup.h"
#include "review/door.h"
#include "util/str.h"

/** The questions, each with whether its call was seen. */
struct al_review_match {
    const struct al_review_list *waiting; /**< borrowed; may be NULL */
    bool *seen;
};

/** Executions that are kept; older ones are in airlock log. */
#define AL_OVERVIEW_EXECUTIONS_MAX 1000

/** Staged commits that are kept. */
#define AL_OVERVIEW_STAGED_MAX 200

/** A call that runs, or an execution that ended.  Members that are not known are "". */
struct al_overview_call {
    uint64_t seq; /**< of its line in the journal; 0: it runs */
    long pid;     /**< its process; 0: it ended */
    char *time;   /**< when it began, ISO 8601 UTC with milliseconds */
    char *agent, *tool, *operation;
    char *repository; /**< canonical path of the repository's top, as it is shown */
    char *path;       /**< the same as it is, for programs; NULL: unknown */
    char *summary;
    char *outcome; /**< ok error refused declined timeout cancelled interrupted dry_run; "": runs */
    char *decision;   /**< auto once always rule none rejected */
    char *decided_by; /**< policy elicitation terminal review none */
    char *result;     /**< the beginning of what it answered, several lines; "": it runs */
    int64_t duration_ms;
    bool changes;      /**< it has side effects; others only read */
    bool checkpointed; /**< it has a checkpoint: its changes can be shown and rolled back */
    bool waits;        /**< it runs, and is one of the questions */
};

/** A staged commit, of any root.  Its diff can be shown if it is of a root of this session. */
struct al_overview_staged {
    char *id;     /**< a UUID */
    char *time;   /**< as above */
    char *title;  /**< the first line of its message */
    char *worker; /**< "": none */
    size_t files;
    char *text; /**< its whole message and its files, several lines */
};

/** What is there now.  Borrowed until the next al_overview_refresh(). */
struct al_overview {
    struct al_overview_call *running; /**< oldest first */
    size_t nrunning;
    struct al_overview_call *executions; /**< newest first */
    size_t nexecutions;
    bool has_older;                    /**< the journal has more executions than these */
    struct al_overview_staged *staged; /**< newest first */
    size_t nstaged;
    char *problem; /**< why a part is missing, one line; NULL: none is */
};

struct al_overview_source;

/** @param setup  After al_setup_config().  Borrowed. */
struct al_overview_source *al_overview_open(const struct al_setup *setup);

/** NULL is fine. */
void al_overview_close(struct al_overview_source *source);

/** A descriptor (inotify) that is readable when something may have changed: poll it, then refresh.
 * It reports changes of the journal and of the calls that run.  -1: there is none, so refresh now
 * and then.  Borrowed. */
int al_overview_fd(const struct al_overview_source *source);

/**
 * Read what was added since the last time.  It reads files only, at most some MiB of them.
 *
 * @param waiting  The questions that wait, for `waits`; may be NULL.
 * @return Whether anything differs from before.
 */
bool al_overview_refresh(struct al_overview_source *source, const struct al_review_list *waiting);

/** What was read last.  Borrowed until the next al_overview_refresh(). */
const struct al_overview *al_overview_get(const struct al_overview_source *source);

/** The execution with this number; NULL: none is kept.  Borrowed. */
const struct al_overview_call *al_overview_find(const struct al_overview_source *source,
                                                uint64_t seq);

/** The newest execution with a checkpoint in the repository: what a rollback's preview was made
 * for, see review/job.h.  0: none. */
uint64_t al_overview_newest(const struct al_overview_source *source, const char *path);

/** @param waiting  Borrowed until al_review_match_clear(); NULL: no call waits. */
struct al_review_match al_review_match_begin(const struct al_review_list *waiting);

void al_review_match_clear(struct al_review_match *match);

/** Test whether a running call waits for an answer.  Each question is the answer to one call only:
 * of two equal calls with one question, one runs. */
bool al_review_match_take(struct al_review_match *match, long pid, const json_t *call);

#endif
