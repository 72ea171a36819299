// SPDX-License-Identifier: Apache-2.0
/*
 * Inside a door.
 *
 *   door.c            the loop, and who hears of what
 *   door_places.c     the directories, and the connections to the processes in them
 *   door_requests.c   answers and whole texts: what was asked of a process, and what came back
 */
#ifndef AL_REVIEW_DOOR_PRIVATE_H
#define AL_REVIEW_DOOR_PRIVATE_H

#include "review/door.h"
#include "review/place.h"
#include "review/process.h"

/** The directories are looked at this often, in milliseconds, whether or not inotify says anything:
 * one may have been removed, and events may have been lost. */
#define AL_DOOR_LOOK_MS 5000

/** A process that was let go is tried again after this time in milliseconds. */
#define AL_DOOR_RETRY_MS 5000

/** The lines of all questions together, in bytes. */
#define AL_DOOR_QUESTIONS_MAX_BYTES (64u << 20)

/** A directory of sockets. */
struct al_door_dir {
    char *path;
    int fd;      /**< -1: it is not there, or cannot be used */
    int lock_fd; /**< -1: there is no lock */
    char lock[AL_REVIEW_LOCK_NAME];
    char *problem; /**< one safe line; NULL: none */
};

/** A request that has no answer yet. */
struct al_door_request {
    struct al_door_request *next;
    uint64_t ticket;
    struct al_review_process *process;
    bool is_text;
    int64_t due_ms;
    char id[AL_REVIEW_ID_CHARS + 1];
};

/** A reply that nobody has taken. */
struct al_door_reply {
    struct al_door_reply *next;
    struct al_review_reply reply;
};

/** A whole text. */
struct al_door_text {
    struct al_door_text *next;
    uint64_t ticket; /**< of its request; 0: it was not sent yet */
    struct al_review_text shown;
    char id[AL_REVIEW_ID_CHARS + 1];
};

struct al_review_door {
    int epoll_fd;
    int inotify_fd;
    int timer_fd; /**< what is due next */
    int kick_fd;  /**< eventfd: something happened outside of al_review_door_run() */
    struct al_door_dir *dirs;
    size_t ndirs;
    int64_t look_ms; /**< when the directories are looked at next */
    struct al_review_process *processes;
    size_t nprocesses;
    bool crowded; /**< there are more processes than AL_DOOR_PROCESSES_MAX */

    struct al_review_list questions;
    unsigned changes; /**< since the last al_review_door_run() */
    uint64_t ntickets;
    struct al_door_request *requests; /**< oldest first */
    struct al_door_reply *replies;    /**< oldest first */
    struct al_door_text *texts;       /**< the one asked for last first */
    char *problem;                    /**< what al_review_door_problem() says */
};

/* door.c */

/** Something happened outside of al_review_door_run(): wake whoever polls. */
void al_door_kick(const struct al_review_door *door);

/** Serve the lines that a process has sent. */
void al_door_serve_lines(struct al_review_door *door, struct al_review_process *process);

/* door_places.c */

/** Look for processes that are new and for those that are gone. */
void al_door_look(struct al_review_door *door);

/** Connect to the processes whose time has come, let those go that do not answer. */
void al_door_keep_times(struct al_review_door *door, int64_t now_ms);

/** Write to and read from a process. */
void al_door_run_process(struct al_review_door *door, struct al_review_process *process);

/** Close the connection.  `problem` says why, as a safe line; NULL: the process has ended it. */
void al_door_let_go(struct al_review_door *door, struct al_review_process *process,
                    const char *problem);

/** Leave everything. */
void al_door_leave(struct al_review_door *door);

/* door_requests.c */

/** Serve a line that answers a request.  False: it answers none of this process. */
bool al_door_serve_answer(struct al_review_door *door, const struct al_review_process *process,
                          const json_t *line);

/** The connection to a process has ended: so have its requests. */
void al_door_end_requests(struct al_review_door *door, const struct al_review_process *process,
                          const char *problem);

/** Give up the requests whose time is over.  Returns when the next one is due; INT64_MAX: none. */
int64_t al_door_end_late_requests(struct al_review_door *door, int64_t now_ms);

/** Send the requests for whole texts, one at a time to each process. */
void al_door_send_text_requests(struct al_review_door *door);

/** Forget the text of a question that no longer waits; NULL: all of them. */
void al_door_forget_text(struct al_review_door *door, const char *id);

/** Forget all requests, replies and texts. */
void al_door_clear_requests(struct al_review_door *door);

#endif
