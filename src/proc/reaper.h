// SPDX-License-Identifier: Apache-2.0
/*
 * Registers running children, and kills and reaps orphans.
 *
 * The process is a child subreaper: the kernel makes it the parent of every descendant whose own
 * parent has ended.  A child of this process is one of:
 *
 *   kind         how it is recognised                           what happens to it
 *   pre-existing was there at al_reaper_init()                  nothing
 *   registered   al_children_add()                              al_child_end() reaps it
 *   adopted      its session is that of a registered child      left until that child has ended
 *   orphan       none of these                                  killed and reaped by a sweep
 *
 *   lock          shared                                      exclusive
 *   sweep lock    to start and register a child, or reap it   during a sweep
 *
 * A sweep therefore never takes a child that was just started for an orphan, and the kernel's lists
 * of children do not lose a registered child meanwhile.
 *
 * Source: prctl(2) (PR_SET_CHILD_SUBREAPER), waitid(2), proc_pid_task(5) (children).
 */
#ifndef AL_PROC_REAPER_H
#define AL_PROC_REAPER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** A running child.  The caller owns the struct; the register links it. */
struct al_child {
    pid_t pid; /**< also its session and process group */
    int pidfd;
    uint32_t grace_ms; /**< time from SIGTERM to SIGKILL; 0: SIGKILL at once */
    struct al_child *next;
};

/** Remember the children that exist already.  Before any thread exists. */
void al_reaper_init(void);

/** Keep sweeps away while a child is started and registered. */
void al_children_lock(void);
void al_children_unlock(void);

/** Register a child that was started.  Between al_children_lock() and al_children_unlock(). */
void al_children_add(struct al_child *child);

/** Kill a child and its process group, after its grace.  al_child_end() is still due. */
void al_child_kill(const struct al_child *child);

/**
 * Wait for a child to end, unregister and reap it, and kill and reap what it left.
 *
 * @param exec_once  The filter lets the child start no process, so orphans are looked for less
 * often.
 * @param[out] ret_info  How it ended, from waitid(2).
 */
void al_child_end(struct al_child *child, bool exec_once, siginfo_t *ret_info);

/** A list of process ids.  Zero-initialised it is empty; al_pids_clear() releases it. */
struct al_pids {
    pid_t *items;
    size_t count;
};

void al_pids_clear(struct al_pids *pids);

/** Test whether `pid` is in the list. */
bool al_pids_contain(const struct al_pids *pids, pid_t pid);

/** The parent of a process; 0: none that is seen from here; -1: it is not known. */
pid_t al_pid_parent(pid_t pid);

/** Append the children of a process from /proc/PID/task/TID/children.  False: the kernel has no
 * such files (CONFIG_PROC_CHILDREN). */
bool al_pids_add_listed(struct al_pids *pids, pid_t parent);

/** The same from the parent that /proc/PID/stat of every process names. */
void al_pids_add_scanned(struct al_pids *pids, pid_t parent);

#endif
