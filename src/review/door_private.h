// SPDX-License-Identifier: Apache-2.0
/*
 * Inside a door.
 *
 *   door.c             the directories, the connections to the processes in them, and the loop
 *   door_questions.c   what a process says: questions, replies and whole texts
 */
#ifndef AL_REVIEW_DOOR_PRIVATE_H
#define AL_REVIEW_DOOR_PRIVATE_H

#include "base/reader.h"
#include "review/door.h"
#include "review/message.h"
#include "review/place.h"

/** A directory of sockets. */
struct al_door_dir {
    char *path;
    int fd;        /**< -1: it is not there, or cannot be used */
    int lock_fd;   /**< -1: there is no lock */
    char *problem; /**< one safe line; NULL: none */
};

/** A process with a socket. */
struct al_door_process {
    struct al_door_process *next;
    pid_t pid;
    size_t dir; /**< index of the directory that its socket is in */
    int fd;     /**< does not block; -1: not connected */
    struct al_reader in;
    bool listed;    /**< it has said what waits since it was connected to */
    bool exists;    /**< its socket was there when the directory was last looked at */
    int64_t due_ms; /**< connected and not `listed`: the answer has to be there; not connected: the
                         next attempt */
    unsigned attempts; /**< to connect, that failed or came to an end */
    unsigned nbusy;    /**< attempts in a row that found no room */
    char *problem;     /**< why it was let go, one safe line; NULL: it was not */
};

/** A request that has no answer yet. */
struct al_door_request {
    struct al_door_request *next;
    struct al_door_process *process;
    enum al_review_verb verb;
    int64_t ticket, due_ms;
    char id[AL_REVIEW_ID_CHARS + 1];
};

/** A reply that nobody has taken. */
struct al_door_reply {
    struct al_door_reply *next;
    struct al_review_reply reply;
};

struct al_review_door {
    bool attends;
    int epoll_fd;
    int inotify_fd;
    int timer_fd; /**< what is due next */
    struct al_door_dir *dirs;
    size_t ndirs;
    int64_t look_ms; /**< when the directories are looked at next */
    struct al_door_process *processes;
    size_t nprocesses;
    bool crowded; /**< there are more processes than AL_DOOR_PROCESSES_MAX */

    struct al_review_list questions;
    char whole_of[AL_REVIEW_ID_CHARS + 1]; /**< whose whole text was asked for last; "": nobody's */
    struct al_review_text whole;
    int64_t whole_ticket; /**< of the request for it; 0: it was not sent yet */
    unsigned changes;     /**< since the last al_review_door_run() */
    int64_t ntickets;
    struct al_door_request *requests; /**< oldest first */
    struct al_door_reply *replies;    /**< oldest first */
    char *problem;                    /**< what al_review_door_problem() says */
};

/* door.c */

/** Something happened outside of al_review_door_run(): wake whoever polls. */
void al_door_kick(const struct al_review_door *door);

/** Close the connection.  `problem` says why, as a safe line; NULL: the process has ended it. */
void al_door_let_go(struct al_review_door *door, struct al_door_process *process,
                    const char *problem);

/** Send a request.  False: the process does not take it. */
bool al_door_send(struct al_door_process *process, const struct al_review_request *request);

/* door_questions.c */

/** Serve a line of a process, or NULL for one that is no object.  Returns why it is to be let go;
 * NULL: it is not.  Caller frees. */
char *al_door_serve(struct al_review_door *door, struct al_door_process *process,
                    const json_t *line, size_t len);

/** The connection to a process has ended: so have its questions and requests. */
void al_door_forget(struct al_review_door *door, const struct al_door_process *process,
                    const char *problem);

/** Give up the requests whose time is over. */
void al_door_end_late_requests(struct al_review_door *door, int64_t now_ms);

/** Send the request for the whole text that is wanted, once its process has answered the one
 * before. */
void al_door_send_text_request(struct al_review_door *door);

/** Forget all questions, requests and replies. */
void al_door_clear(struct al_review_door *door);

#endif
