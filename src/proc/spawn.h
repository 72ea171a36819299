// SPDX-License-Identifier: Apache-2.0
/* Start a child: the parent's half. */
#ifndef AL_PROC_SPAWN_H
#define AL_PROC_SPAWN_H

#include "proc/proc.h"
#include "proc/reaper.h"

/** A started child and our ends of its streams. */
struct al_spawned {
    struct al_child process; /**< in the register */
    int out_fd, err_fd;
};

/**
 * Start spec->program and return once it executes (or could not).
 *
 * @return 0, or what al_proc_run() says about a child that could not be started; then nothing ran
 *         and nothing is left.
 * Ownership: al_child_end() ends it; al_spawned_clear() closes the descriptors afterwards.  The
 *            structure must stay where it is in between.
 */
int al_spawn(const struct al_proc_spec *spec, struct al_spawned *ret_child, struct al_error *err);
void al_spawned_clear(struct al_spawned *child);

/** What every child is given, looked at and opened once: which signals' dispositions are not the
 * default, and /dev/null. */
int al_spawn_init(struct al_error *err);

/** proc.c: whether what a specification asks for can be given. */
int al_spec_check(const struct al_proc_spec *spec, struct al_error *err);

/** proc.c: one more for al_proc_started(). */
void al_proc_count_start(void);

#endif
