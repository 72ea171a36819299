// SPDX-License-Identifier: Apache-2.0
/*
 * Run one confined child and collect what it writes, under a cap, a deadline and a cancel token.
 *
 * Only this folder starts processes.  It knows no policy: what to run, with which environment and
 * under which ruleset is decided above and handed in.
 *
 * Source: clone(2) (CLONE_VFORK, CLONE_PIDFD), landlock(7), seccomp(2), PR_SET_CHILD_SUBREAPER.
 */
#ifndef AL_PROC_PROC_H
#define AL_PROC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proc/cancel.h"
#include "proc/confine.h"
#include "util/error.h"

/**
 * Where a stream's bytes go, as they arrive.  `add` returns false when it wants no more: for
 * standard output the child is then stopped (the cap is reached, see al_proc_result.stopped),
 * unless the spec `drains`; for standard error the rest is read and dropped.
 */
struct al_sink {
    bool (*add)(void *payload, const char *data, size_t len);
    void *payload;
};

/** Kernel limits of one child (setrlimit(2)); 0 leaves a limit as it is. */
struct al_limits {
    uint64_t data_bytes;  /**< RLIMIT_DATA */
    uint64_t cpu_s;       /**< RLIMIT_CPU, seconds */
    uint64_t fsize_bytes; /**< RLIMIT_FSIZE */
    uint64_t nofile;      /**< RLIMIT_NOFILE */
};

/** What a child is held to by the kernel. */
struct al_sandbox {
    const struct al_ruleset *ruleset; /**< NULL: no Landlock on this kernel */
    bool exec_once;   /**< seccomp: the first execve only; al_proc_init()'s program only */
    bool no_sockets;  /**< seccomp: no socket of any family */
    bool network;     /**< seccomp: sockets may be made, and what no program needs is refused;
                           says nothing where one of the two above is set */
    bool keep_setuid; /**< no no_new_privs, for a program that needs its set-uid bit (firejail);
                           only without a ruleset, exec_once and no_sockets */
    struct al_limits limits;
};

/** What to run.  Borrowed: nothing here is kept once al_proc_run() returns. */
struct al_proc_spec {
    const char *program;     /**< absolute path of the file to execute */
    const char *const *argv; /**< NULL-terminated */
    const char *const *envp; /**< NULL-terminated and complete; nothing is inherited */
    int cwd_fd;              /**< directory to start in */

    const void *input; /**< bytes for standard input; NULL: /dev/null */
    size_t input_len;
    struct al_sink out, err;

    /** A connected socket that is standard input and output, instead of `input` and `out`; above 2,
     * 0: none.  Borrowed. */
    int socket_fd;
    /** Descriptors that are standard input, output or error instead of `input`, `out` and `err`;
     * above 2, 0: none.  Borrowed. */
    int in_fd, out_fd, err_fd;
    bool err_to_out; /**< standard error goes where standard output goes */
    bool drains; /**< what the sink of standard output wants no more is read and dropped, and the
                      child goes on to its own end: for one that must not be left half done */

    const int *kept_fds; /**< descriptors above 2 that the child has under the same numbers */
    size_t nkept_fds;
    bool has_job; /**< the caller holds a turn that is enough for this child too */

    const struct al_sandbox *sandbox; /**< never NULL */
    struct al_cancel *cancel;         /**< may be NULL */
    uint32_t timeout_ms;              /**< from the moment the child starts; never 0 */
    uint32_t grace_ms; /**< a child that is to end gets SIGTERM, to put away what it holds, and
                          after this SIGKILL; 0: SIGKILL at once */
};

/** How a child ended. */
struct al_proc_result {
    int exit_code;   /**< 0..255; -1 when a signal ended it, or when stopped */
    int signal;      /**< the signal that ended it, else 0 (0 when stopped) */
    bool stopped;    /**< out's sink wanted no more, so the child was killed */
    uint32_t ran_ms; /**< from its start to its end, waiting for a turn not included */
};

/** How a child can be started; chosen at build time with -Dspawn. */
const char *al_proc_spawn_method(void);

/**
 * Set up what al_proc_run() relies on, before any thread exists: child subreaper, SIGPIPE and
 * SIGXFSZ ignored, the page exec-once allows execve from (holding `program`), and the children that
 * are there already and are none of ours.  Children are given back the signals whose disposition is
 * not the default now: whoever changes another one calls this again, which does nothing else.
 *
 * @param program  The one program exec-once children may start; copied.  NULL: none (exec_once is
 *                 then refused).
 */
int al_proc_init(const char *program, struct al_error *err);

/**
 * Let the calling thread put the filter of children that are exec_once and without sockets on
 * itself when it starts the first of them, for good, so that they need not.  It makes no process
 * but by al_proc_run() and al_proc_run_pipeline(), and no socket; and threads it makes hold the
 * filter without knowing of it, so that it makes them by al_proc_run_unfiltered().  Nothing happens
 * with -Dspawn=fork.
 */
void al_proc_confine_thread(void);

/** Call run(payload) on a thread that no filter holds, and wait for it: this one, or one that is
 * kept for that and runs what it is given one after the other.  Not for what may block. */
void al_proc_run_unfiltered(void (*run)(void *payload), void *payload);

/** The address of the program path in the exec-once page; NULL before al_proc_init(). */
const char *al_exec_page_path(void);

/**
 * Run a program in its own session under its sandbox, and wait for it.
 *
 * Everything it started is killed and reaped before this returns, however it returns.  A non-zero
 * exit code is a success here: only the caller knows what it means.  Children at work at once are
 * capped (al_proc_set_jobs(), those that last long aside: proc/jobs.h); waiting for a turn is
 * first come first served, can be cancelled and does not count towards timeout_ms.
 *
 * @param      spec        What to run, and under which limits.
 * @param[out] ret_result  Written on success only.  On AL_ERR_TIMEOUT the sinks hold what came.
 * @param[out] err         Written on failure only; may be NULL.
 * @return 0, or a negative enum al_status:
 *         AL_ERR_EXECUTION  it could not be started; a missing program is "<name> binary not
 *                           available" with reason "not_found"
 *         AL_ERR_SANDBOX    a layer the sandbox asks for could not be put on; nothing ran
 *         AL_ERR_TIMEOUT    killed after timeout_ms, or by SIGXCPU
 *         AL_ERR_CANCELLED  killed because spec->cancel fired, or never started for it
 * Threads:   safe; calls share nothing but the turn they wait for.
 * Source:    clone(2), pidfd_open(2), landlock(7), docs/SECURITY-MODEL.md.
 */
int al_proc_run(const struct al_proc_spec *spec, struct al_proc_result *ret_result,
                struct al_error *err);

/**
 * Wait for a turn as al_proc_run() does, for several children that work on one thing together and
 * run `has_job`.
 * @return 0, and then al_proc_release_job() is due; AL_ERR_CANCELLED; AL_ERR_EXECUTION.
 */
int al_proc_acquire_job(struct al_cancel *cancel, struct al_error *err);
void al_proc_release_job(void);

/** The most stages of a pipeline. */
#define AL_PIPELINE_MAX 16

/**
 * Run several programs side by side, each one's standard output being the next one's standard
 * input, except where a stage has an out_fd or the next one an in_fd or input of its own.
 *
 * All of them run on one turn, and under the timeout_ms and cancel token of the first.  What ends
 * one of them early (deadline, cancel token, the last one's sink) ends all.  The sinks of standard
 * error may be the same.
 *
 * @param      stages      1 to AL_PIPELINE_MAX.
 * @param[out] ret_results  As many; written on success only.
 * @return As al_proc_run(); AL_ERR_TIMEOUT too when the kernel ended one for its use of the CPU.
 */
int al_proc_run_pipeline(const struct al_proc_spec *stages, size_t nstages,
                         struct al_proc_result *ret_results, struct al_error *err);

/** How many children may work at once (at least 1).  Default: the number of online cores. */
void al_proc_set_jobs(unsigned jobs);
unsigned al_proc_jobs(void);

/** Children started since al_proc_init(), for tests and the benchmark. */
uint64_t al_proc_started(void);

/**
 * Kill every child that runs now, for a program that must end at once.  Those with a grace_ms have
 * the longest of them to end by themselves.  Threads: any.
 */
void al_proc_kill_all(void);

/** Go on as another program, under the confinement there is.  Returns only when that fails: -errno.
 */
int al_proc_exec(const char *program, char *const *argv, char *const *envp);

/** A sink that keeps at most `max_bytes` and counts everything. */
struct al_buffer {
    char *data;       /**< NUL-terminated once anything came; NULL before */
    size_t len;       /**< bytes kept */
    size_t max_bytes; /**< more is refused (out: the child is stopped) */
    uint64_t total;   /**< bytes offered */
};

/** The sink that fills `buffer`, which outlives it. */
struct al_sink al_buffer_sink(struct al_buffer *buffer);
void al_buffer_clear(struct al_buffer *buffer);

#endif
