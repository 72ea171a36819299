// SPDX-License-Identifier: Apache-2.0
/*
 * Watching a child: the kernel stops it, and everything that it starts, at each system call that
 * takes a name away or makes a file, and airlock decides what becomes of the call.
 *
 *   remove   unlink, unlinkat of a file
 *   rename   rename, renameat, renameat2
 *   create   open, openat, creat with O_TRUNC, or with O_CREAT and O_EXCL
 *   link     symlink, symlinkat
 *
 * A filter for seccomp's user notification is installed on a thread of its own, which starts the
 * child: the child inherits it, and the listener belongs to this process.  A second thread answers.
 * Both live as long as the child and all that it started.
 *
 *     call thread     --->  answering thread  --->  starting thread (has the filter)
 *      waits for the child   answers the calls       clones, then waits for the end
 *
 * It is a net under a program that is not malicious (git, itself confined), and no confinement:
 * such a program could change its arguments after they were read, or write into a file without
 * O_TRUNC. The child runs unwatched, or not at all (al_watch.is_required), where the kernel refuses
 * a listener (before 5.9, or where another program listens already), or does not let the child's
 * memory be read.
 *
 * Source: seccomp_unotify(2), proc_pid_mem(5).
 */
#ifndef AL_PROC_WATCH_H
#define AL_PROC_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** The effect of a system call. */
enum al_watch_kind { AL_WATCH_REMOVE, AL_WATCH_RENAME, AL_WATCH_CREATE, AL_WATCH_LINK };

/** A system call that waits.  Borrowed. */
struct al_watch_event {
    enum al_watch_kind kind;
    pid_t pid;
    const char *path; /**< what is removed, renamed or made: absolute, not normalised */
    const char *to;   /**< for a rename */
    int flags;        /**< of open or renameat2 */
    mode_t mode;      /**< of open */
};

/** The fate of the call.  Zero-initialised: the kernel goes on with it. */
struct al_watch_answer {
    bool is_done; /**< it is not made: it returns 0, or fails with `error` */
    int error;
    int fd; /**< above 0: an open returns a duplicate of this descriptor; -> al_watch.given */
};

/** The one who decides.  The functions are called on the answering thread, one at a time. */
struct al_watch {
    void (*decide)(void *payload, const struct al_watch_event *event,
                   struct al_watch_answer *ret_answer);
    /** The process has the descriptor `number`, or -1: it could not be given. */
    void (*given)(void *payload, pid_t pid, int number);
    /** Called when nothing happened for a moment, and at the end; false: there is nothing to wait
     * for. */
    bool (*idle)(void *payload);
    void *payload;
    bool is_required; /**< what cannot be watched is not started, and not done */
};

/** Whether a child can be watched.  The first call of a process tries it.  Threads: any. */
bool al_watch_is_possible(void);

struct al_watching;

/** Call start(payload) on a thread whose children are watched, and answer their calls.  NULL: it
 * was not called, or is_required and refused.  End it with al_watch_end(). */
struct al_watching *al_watch_begin(const struct al_watch *watch, void (*start)(void *payload),
                                   void *payload);

/** Stop answering: all that was started has ended.  NULL is allowed. */
void al_watch_end(struct al_watching *watching);

#endif
