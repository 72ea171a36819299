// SPDX-License-Identifier: Apache-2.0
/* Runs one child, or several at once of which each reads the output of the one before it, and
 * collects their output. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/clock.h"
#include "proc/spawn.h"

#define READ_BYTES (64u * 1024u)

/* After this time a child counts no more among those that work: it waits for a slow disk or walks a
 * long history, and quick children must not wait behind it. */
#define LONG_MS 50

/* Why reading stopped. */
enum ending {
    EXIT,      /* all children ended */
    STOPPED,   /* a sink of standard output wanted no more */
    TIMEOUT,   /* the deadline passed */
    CANCELLED, /* the cancel token fired */
};

/* The descriptors that are polled: the cancel token, and the end, the output and the standard error
 * of each stage; -1 for what is not waited for.  We read the output of the last stage, and of a
 * stage whose next one reads something else. */
enum polled { END, OUT, ERR, PER_STAGE };
#define POLLED_MAX (1 + PER_STAGE * AL_PIPELINE_MAX)

struct pipeline {
    const struct al_proc_spec *stages;
    size_t count, started;
    struct al_spawned children[AL_PIPELINE_MAX];
    bool ended[AL_PIPELINE_MAX];           /* the child has ended; what it started may still run */
    bool full[AL_PIPELINE_MAX][PER_STAGE]; /* the sink wants no more: bytes are read and dropped */
    struct pollfd polled[POLLED_MAX];
    int64_t deadline_ms;
};

/* Whether stage i writes into stage i + 1. */
static bool is_piped(const struct pipeline *pipeline, size_t i)
{
    const struct al_proc_spec *to = &pipeline->stages[i + 1];

    return !pipeline->stages[i].out_fd && !to->in_fd && !to->input;
}

/* Our copies of a pipe between two stages are closed once both stages have theirs; otherwise its
 * reader would never see the end of input. */
static int start_all(struct pipeline *pipeline, struct al_error *err)
{
    al_auto(al_closep) int from = -1;

    for (size_t i = 0; i < pipeline->count; i++) {
        struct al_proc_spec spec = pipeline->stages[i];
        al_auto(al_closep) int into = -1;
        int ends[2] = { -1, -1 }, r;

        if (i + 1 < pipeline->count && is_piped(pipeline, i) && pipe2(ends, O_CLOEXEC) < 0)
            return al_error_errno(err, errno, "cannot create a pipe");
        into = ends[1];
        if (from >= 0)
            spec.in_fd = from;
        if (into >= 0)
            spec.out_fd = into;
        r = al_spawn(&spec, &pipeline->children[i], err);
        al_closep(&from);
        from = ends[0];
        if (r < 0)
            return r;
        pipeline->started++;
    }
    return 0;
}

/* Wait until something happens; with `all_ended` only for output.  False: the time is over. */
static bool await(struct pipeline *pipeline, bool all_ended, int timeout_ms)
{
    const int cancel_fd = al_cancel_fd(pipeline->stages[0].cancel);
    struct pollfd *at = pipeline->polled;

    *at++ = (struct pollfd){ all_ended ? -1 : cancel_fd, POLLIN, 0 };
    for (size_t i = 0; i < pipeline->started; i++) {
        const struct al_spawned *child = &pipeline->children[i];
        const bool ended = all_ended || pipeline->ended[i];

        *at++ = (struct pollfd){ ended ? -1 : child->process.pidfd, POLLIN, 0 };
        *at++ = (struct pollfd){ child->out_fd, POLLIN, 0 };
        *at++ = (struct pollfd){ child->err_fd, POLLIN, 0 };
    }
    return poll(pipeline->polled, (nfds_t)(at - pipeline->polled), timeout_ms) > 0;
}

static bool is_ready(const struct pipeline *pipeline, size_t stage, enum polled what)
{
    return pipeline->polled[1 + PER_STAGE * stage + what].revents;
}

/* Read once.  False: a sink of standard output wants no more, and all stages have to be stopped. */
static bool read_stream(struct pipeline *pipeline, size_t stage, enum polled what)
{
    const struct al_proc_spec *spec = &pipeline->stages[stage];
    struct al_spawned *child = &pipeline->children[stage];
    const struct al_sink *sink = what == OUT ? &spec->out : &spec->err;
    int *fd = what == OUT ? &child->out_fd : &child->err_fd;
    bool *full = &pipeline->full[stage][what];
    char data[READ_BYTES];
    ssize_t got = read(*fd, data, sizeof(data));

    if (got <= 0) {
        if (got == 0 || errno != EINTR)
            al_closep(fd);
        return true;
    }
    if (!sink->add || *full || sink->add(sink->payload, data, (size_t)got))
        return true;
    *full = what == ERR || spec->drains;
    return *full;
}

static bool read_ready(struct pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->started; i++)
        for (enum polled what = OUT; what <= ERR; what++)
            if (is_ready(pipeline, i, what) && !read_stream(pipeline, i, what))
                return false;
    return true;
}

static int time_left_ms(int64_t deadline_ms)
{
    int64_t left = deadline_ms - al_clock_ms();

    return left <= 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}

/* Note which stages have ended.  True: all have. */
static bool all_ended(struct pipeline *pipeline)
{
    bool all = true;

    for (size_t i = 0; i < pipeline->count; i++) {
        pipeline->ended[i] |= is_ready(pipeline, i, END);
        all &= pipeline->ended[i];
    }
    return all;
}

static enum ending wait_for_all(struct pipeline *pipeline)
{
    const int64_t long_ms = al_clock_ms() + LONG_MS;
    bool is_long = false;

    for (;;) {
        const int left_ms = time_left_ms(pipeline->deadline_ms);
        const int until_long_ms = is_long ? left_ms : time_left_ms(long_ms);

        if (!is_long && until_long_ms == 0) {
            al_proc_release_job();
            is_long = true;
            continue;
        }
        if (await(pipeline, false, until_long_ms < left_ms ? until_long_ms : left_ms)) {
            if (all_ended(pipeline))
                return EXIT;
            if (pipeline->polled[0].revents)
                return CANCELLED;
            if (!read_ready(pipeline))
                return STOPPED;
        }
        if (left_ms == 0)
            return TIMEOUT;
    }
}

/* Read what the pipes still hold after every writer has ended.  False: a sink wanted no more. */
static bool read_rest(struct pipeline *pipeline)
{
    while (await(pipeline, true, 0))
        if (!read_ready(pipeline))
            return false;
    return true;
}

/* End every stage.  Orphans are looked for once, with the last stage: before that, the other stages
 * would not be alone. */
static void end_all(struct pipeline *pipeline, bool kill_first, siginfo_t *infos)
{
    bool own_groups = true;

    for (size_t i = 0; kill_first && i < pipeline->started; i++)
        al_child_kill(&pipeline->children[i].process);
    for (size_t i = 0; i < pipeline->started; i++) {
        own_groups &= pipeline->children[i].exec_once;
        al_child_end(&pipeline->children[i].process, i + 1 < pipeline->started || own_groups,
                     &infos[i]);
    }
}

static int timed_out(const struct pipeline *pipeline, struct al_error *err)
{
    const struct al_proc_spec *first = &pipeline->stages[0];
    const bool is_alone = pipeline->count == 1;

    return al_error_set_code(err, AL_ERR_TIMEOUT, AL_CODE_TIMEOUT, "%s%stimed out after %ums",
                             is_alone ? first->argv[0] : "", is_alone ? " command " : "",
                             (unsigned)first->timeout_ms);
}

static int report(const struct pipeline *pipeline, enum ending ending, const siginfo_t *infos,
                  struct al_proc_result *ret_results, struct al_error *err)
{
    const bool stopped = ending == STOPPED;

    if (ending == CANCELLED)
        return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    if (ending == TIMEOUT)
        return timed_out(pipeline, err);
    for (size_t i = 0; i < pipeline->count; i++)
        if (!stopped && infos[i].si_code != CLD_EXITED && infos[i].si_status == SIGXCPU)
            return timed_out(pipeline, err);
    for (size_t i = 0; i < pipeline->count; i++)
        ret_results[i] = stopped ? (struct al_proc_result){ .exit_code = -1, .stopped = true }
                                 : al_spawned_result(&infos[i]);
    return 0;
}

static int run(struct pipeline *pipeline, struct al_proc_result *ret_results, struct al_error *err)
{
    siginfo_t infos[AL_PIPELINE_MAX] = { { .si_signo = 0 } };
    int64_t began_ms = al_clock_ms();
    enum ending ending = CANCELLED;
    int r = start_all(pipeline, err);

    pipeline->deadline_ms = al_clock_ms() + pipeline->stages[0].timeout_ms;
    if (r == 0)
        ending = wait_for_all(pipeline);
    if (ending != EXIT) /* ending them may take a while */
        al_proc_release_job();
    end_all(pipeline, ending != EXIT, infos);
    if (ending == EXIT && !read_rest(pipeline))
        ending = STOPPED;
    else if (ending == TIMEOUT)
        (void)read_rest(pipeline);
    if (r == 0)
        r = report(pipeline, ending, infos, ret_results, err);
    for (size_t i = 0; r == 0 && i < pipeline->count; i++)
        ret_results[i].ran_ms = (uint32_t)(al_clock_ms() - began_ms);
    for (size_t i = 0; i < pipeline->count; i++)
        al_spawned_clear(&pipeline->children[i]);
    return r;
}

int al_proc_run_pipeline(const struct al_proc_spec *stages, size_t nstages,
                         struct al_proc_result *ret_results, struct al_error *err)
{
    struct pipeline pipeline = { .stages = stages, .count = nstages };
    int r = 0;

    if (nstages < 1 || nstages > AL_PIPELINE_MAX)
        return al_error_set(err, AL_ERR_EXECUTION, "a pipeline has 1 to %d stages",
                            AL_PIPELINE_MAX);
    for (size_t i = 0; i < nstages; i++)
        pipeline.children[i] = AL_SPAWNED_INIT;
    if (!stages[0].has_job)
        r = al_proc_acquire_job(stages[0].cancel, err);
    if (r < 0)
        return r;
    r = run(&pipeline, ret_results, err);
    if (!stages[0].has_job)
        al_proc_release_job();
    return r;
}

int al_proc_run(const struct al_proc_spec *spec, struct al_proc_result *ret_result,
                struct al_error *err)
{
    return al_proc_run_pipeline(spec, 1, ret_result, err);
}
