// SPDX-License-Identifier: Apache-2.0
/*
 * Who is a child of ours, who is a stray, and how both end.
 *
 * The server is a child subreaper, so a process whose parent died below it becomes its child.  A
 * child that is not in the register of running ones, and was not there at the start, is therefore a
 * stray.  Starting and reaping hold the register open (shared), a sweep holds it alone, so that a
 * child just started is never taken for a stray and the kernel's lists stand still meanwhile.
 */
#ifndef AL_PROC_REAPER_H
#define AL_PROC_REAPER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** A running child; kept by whoever runs it, linked into the register. */
struct al_child {
    pid_t pid; /**< also its session and process group */
    int pidfd;
    uint32_t grace_ms; /**< from SIGTERM to SIGKILL; 0: SIGKILL at once */
    struct al_child *next, *previous;
};

/** Remember the children that are there already; before any thread exists. */
void al_reaper_init(void);

/** Around starting a child and entering it. */
void al_children_lock(void);
void al_children_unlock(void);

/** Enter a child that started; between al_children_lock() and al_children_unlock(). */
void al_children_add(struct al_child *child);

/** Kill a child and its process group, after its grace; it stays to be ended. */
void al_child_kill(const struct al_child *child);

/**
 * Wait for a child to end, then kill and reap what is left of it.
 *
 * @param own_group  It was exec-once: it can have left nobody, unless it got round the filter.
 * @param[out] ret_info  How it ended, as waitid(2) says.
 */
void al_child_end(struct al_child *child, bool exec_once, siginfo_t *ret_info);

/** A list of process ids; zero-initialised is empty, released with al_pids_clear(). */
struct al_pids {
    pid_t *items;
    size_t count, capacity;
};

void al_pids_clear(struct al_pids *pids);

/** Add one. */
void al_pids_add(struct al_pids *pids, pid_t pid);

/** Whether it is in the list. */
bool al_pids_contain(const struct al_pids *pids, pid_t pid);

/** Add the children of a process, as its threads list them; false when the kernel keeps no list. */
bool al_pids_add_listed(struct al_pids *pids, pid_t parent);

/** The same from every process's own word on its parent, for kernels without such lists. */
void al_pids_add_scanned(struct al_pids *pids, pid_t parent);

#endif
