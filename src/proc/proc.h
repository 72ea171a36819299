// SPDX-License-Identifier: Apache-2.0
/*
 * Runs confined children and collects their output, under a cap, a deadline and a cancel token.
 *
 * Only this folder starts processes.  It knows no policy: callers decide the program, environment
 * and ruleset.
 *
 * Source: clone(2) (CLONE_VFORK, CLONE_PIDFD), landlock(7), seccomp(2), prctl(2)
 * (PR_SET_CHILD_SUBREAPER).
 */
#ifndef AL_PROC_PROC_H
#define AL_PROC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "proc/cancel.h"
#include "proc/confine.h"
#include "proc/watch.h"

/**
 * Receives the bytes of a stream as they arrive.  `add` returns false when it wants no more bytes:
 *
 *   stream                           then
 *   standard output                  the child is killed (al_proc_result.stopped)
 *   standard output, spec `drains`   further output is read and dropped
 *   standard error                   further output is read and dropped
 */
struct al_sink {
    bool (*add)(void *payload, const char *data, size_t len);
    void *payload;
};

/** Resource limits of one child (setrlimit(2)); 0 leaves a limit unchanged. */
struct al_limits {
    uint64_t data_bytes;  /**< RLIMIT_DATA */
    uint64_t cpu_s;       /**< RLIMIT_CPU, seconds */
    uint64_t fsize_bytes; /**< RLIMIT_FSIZE */
    uint64_t nofile;      /**< RLIMIT_NOFILE */
};

/** The kernel's confinement of a child. */
struct al_confinement {
    int ruleset_fd;      /**< 0: no Landlock on this kernel */
    bool reads_own_proc; /**< the child may also read /proc/PID of its own, but of no process that
                              it starts; only with a ruleset that no other child uses */
    bool exec_once;      /**< seccomp: one execve only, of the program given to al_proc_init() */
    bool no_sockets;     /**< seccomp: no socket of any family */
    bool network; /**< seccomp: sockets are allowed, system calls that no program needs are not;
                       ignored with exec_once or no_sockets */
    bool stream_pairs; /**< seccomp, with no_sockets or network and without exec_once: of UNIX
                            sockets, pairs of connected streams (socketpair(2)) are allowed, and no
                            others */
    bool keep_setuid;  /**< no no_new_privs, for a program that needs its set-uid bit (firejail);
                          only without ruleset, exec_once and no_sockets */
    struct al_limits limits;
};

/** A program to run.  Borrowed: al_proc_run() keeps nothing of it after it returns. */
struct al_proc_spec {
    const char *program;     /**< absolute path of the file to execute */
    const char *const *argv; /**< NULL-terminated */
    const char *const *envp; /**< NULL-terminated and complete: nothing is inherited */
    int cwd_fd;              /**< working directory */

    const void *input; /**< bytes for standard input; NULL: /dev/null */
    size_t input_len;
    struct al_sink out, err;

    int in_fd;       /**< standard input, instead of `input`; above 2; 0: none */
    int out_fd;      /**< standard output, instead of `out`; above 2; 0: none */
    int err_fd;      /**< standard error, instead of `err`; above 2; 0: none */
    bool err_to_out; /**< standard error goes where standard output goes */
    bool drains;     /**< never stop the child because `out` wants no more: for a program that must
                          not be interrupted */

    const int *kept_fds; /**< descriptors above 2 that the child inherits under the same numbers */
    size_t nkept_fds;
    bool has_job; /**< the caller holds a job that covers this child (al_proc_acquire_job()) */

    const struct al_confinement *sandbox; /**< never NULL */
    const struct al_watch *watch;         /**< decides about its changes to names; NULL: nobody.
                                               Only for al_proc_run() */
    struct al_cancel *cancel;             /**< may be NULL */
    uint32_t timeout_ms;                  /**< from the start of the child; never 0 */
    uint32_t grace_ms; /**< time from SIGTERM to SIGKILL, for a child that removes its lock files;
                          0: SIGKILL at once */
    bool dies_with_parent; /**< SIGKILL when airlock is killed, whatever grace_ms says */
};

/** The end of a child. */
struct al_proc_result {
    int exit_code;   /**< 0..255; -1 when a signal ended it, or when stopped */
    int signal;      /**< the signal that ended it, else 0; 0 when stopped */
    bool stopped;    /**< `out` wanted no more, so the child was killed */
    uint32_t ran_ms; /**< from start to end; waiting for a job does not count */
};

/**
 * Set up the process for al_proc_run(), before any thread exists:
 *
 * - The process becomes a child subreaper, and existing children are remembered: they are never
 *   killed or reaped.
 * - SIGPIPE and SIGXFSZ are ignored.
 * - The exec-once page, the only address execve may be called with, holds `program`.
 * - Signals without the default disposition are noted; children get the default back.
 *
 * A second call only notes the dispositions again: call it after changing one.
 *
 * @param program  The program of exec-once children; copied.  NULL: exec_once is refused.
 */
int al_proc_init(const char *program, struct al_error *err);

/** The address of the program path in the exec-once page; NULL before al_proc_init(). */
const char *al_exec_page_path(void);

/**
 * Run a program in its own session under its sandbox, and wait for it.
 *
 * Everything it started is killed and reaped before this returns, on success and on failure.  A
 * non-zero exit code is a success here, because only the caller knows its meaning.  The number of
 * children at work is limited (proc/jobs.c).  Waiting for a job is first come first served, can be
 * cancelled and does not count towards timeout_ms.
 *
 * @param      spec        What to run, and under which limits.
 * @param[out] ret_result  Written on success only.  On AL_ERR_TIMEOUT the sinks hold what came.
 * @param[out] err         Written on failure only; may be NULL.
 * @return 0, or a negative enum al_status:
 *         AL_ERR_EXECUTION  it could not be started; a missing program is "<name> binary not
 *                           available" with reason "not_found"
 *         AL_ERR_SANDBOX    a layer of the sandbox could not be applied; nothing ran
 *         AL_ERR_TIMEOUT    killed after timeout_ms, or by SIGXCPU
 *         AL_ERR_CANCELLED  killed because spec->cancel fired, or not started because it had
 * Threads:   any; calls share only the jobs.
 * Source:    clone(2), pidfd_open(2), landlock(7), docs/SECURITY-MODEL.md.
 */
int al_proc_run(const struct al_proc_spec *spec, struct al_proc_result *ret_result,
                struct al_error *err);

/**
 * Wait for a job as al_proc_run() does, on behalf of several children that work together and are
 * run with `has_job`.  A thread holds one such job at most.
 * @return 0, and then al_proc_release_job() is due; AL_ERR_CANCELLED; AL_ERR_EXECUTION.
 */
int al_proc_acquire_job(struct al_cancel *cancel, struct al_error *err);
void al_proc_release_job(void);

/** The most stages of a pipeline. */
#define AL_PIPELINE_MAX 16

/**
 * Run several programs at once.  The standard output of each is the standard input of the next,
 * unless the stage has an out_fd, or the next one has an in_fd or input.
 *
 * All stages share one job, and the timeout_ms and cancel token of the first.  The deadline, the
 * cancel token or the last stage's sink ends all stages.  Several stages may share one sink for
 * standard error.
 *
 * @param      stages      1 to AL_PIPELINE_MAX.
 * @param[out] ret_results  One for each stage; written on success only.
 * @return As al_proc_run(); AL_ERR_TIMEOUT also when SIGXCPU ended a stage.
 */
int al_proc_run_pipeline(const struct al_proc_spec *stages, size_t nstages,
                         struct al_proc_result *ret_results, struct al_error *err);

/** The number of children that may work at once, at least 1.  Default: the cores this process may
 * use. */
void al_proc_set_jobs(unsigned jobs);

/** Children started since al_proc_init(), for tests and the benchmark. */
uint64_t al_proc_started(void);

/**
 * Kill every running child, for a program that has to end at once.  Children with a grace_ms share
 * the longest of these times to end by themselves.  Threads: any.
 */
void al_proc_kill_all(void);

/** Replace this process by another program (execve(2)), under the current confinement.  Returns
 * only on failure: -errno. */
int al_proc_exec(const char *program, char *const *argv, char *const *envp);

/** A sink that keeps at most `max_bytes` and counts everything. */
struct al_buffer {
    struct al_str text;
    size_t max_bytes; /**< bytes beyond this are refused */
    uint64_t total;   /**< bytes offered */
};

#define AL_BUFFER_INIT(max) ((struct al_buffer){ .text = AL_STR_INIT, .max_bytes = (max) })

/** The sink that fills `buffer`, which outlives it. */
struct al_sink al_buffer_sink(struct al_buffer *buffer);
void al_buffer_clear(struct al_buffer *buffer);

#endif
