// SPDX-License-Identifier: Apache-2.0
/* Runs one child, or several at once of which each reads the output of the one before it, and
 * collects their output. */
#include <assert.h>
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

/* The descriptors that are polled: the end, the output and the standard error of each stage, and
 * the cancel token. We read the output of the last stage, and of a stage whose next one reads
 * something else. */
#define WATCHED_MAX (3 * AL_PIPELINE_MAX + 1)

struct pipeline {
    const struct al_proc_spec *stages;
    size_t count, started;
    struct al_spawned children[AL_PIPELINE_MAX];
    bool ended[AL_PIPELINE_MAX];    /* the child has ended; what it started may still run */
    bool out_full[AL_PIPELINE_MAX]; /* the sink wants no more: bytes are read and dropped */
    bool err_full[AL_PIPELINE_MAX];
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

/* The descriptors to poll, each with what it belongs to. */
struct poll_set {
    struct pollfd fds[WATCHED_MAX];
    int *streams[WATCHED_MAX]; /* the descriptor to close at the end; NULL: a pidfd or the cancel
                                  token */
    size_t stages[WATCHED_MAX];
    size_t count;
};

static void add(struct poll_set *poll_set, int fd, int *stream, size_t stage)
{
    assert(poll_set->count < WATCHED_MAX);
    poll_set->fds[poll_set->count] = (struct pollfd){ .fd = fd, .events = POLLIN };
    poll_set->streams[poll_set->count] = stream;
    poll_set->stages[poll_set->count++] = stage;
}

static void add_streams(struct poll_set *poll_set, struct pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->started; i++) {
        struct al_spawned *child = &pipeline->children[i];

        if (child->out_fd >= 0)
            add(poll_set, child->out_fd, &child->out_fd, i);
        if (child->err_fd >= 0)
            add(poll_set, child->err_fd, &child->err_fd, i);
    }
}

/* Read once.  False: a sink of standard output wants no more, and all stages have to be stopped. */
static bool read_stream(struct pipeline *pipeline, int *fd, size_t stage)
{
    const struct al_proc_spec *spec = &pipeline->stages[stage];
    bool is_out = fd == &pipeline->children[stage].out_fd;
    const struct al_sink *sink = is_out ? &spec->out : &spec->err;
    bool *full = is_out ? &pipeline->out_full[stage] : &pipeline->err_full[stage];
    char data[READ_BYTES];
    ssize_t got = read(*fd, data, sizeof(data));

    if (got <= 0) {
        if (got == 0 || errno != EINTR)
            al_closep(fd);
        return true;
    }
    if (!sink->add || *full || sink->add(sink->payload, data, (size_t)got))
        return true;
    *full = !is_out || spec->drains;
    return *full;
}

static bool read_ready(struct pipeline *pipeline, struct poll_set *poll_set)
{
    for (size_t i = 0; i < poll_set->count; i++)
        if (poll_set->fds[i].revents && poll_set->streams[i] &&
            !read_stream(pipeline, poll_set->streams[i], poll_set->stages[i]))
            return false;
    return true;
}

static int time_left_ms(int64_t deadline_ms)
{
    int64_t left = deadline_ms - al_clock_ms();

    return left <= 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}

/* Note which stages have ended.  True: all have. */
static bool all_ended(struct pipeline *pipeline, const struct poll_set *poll_set)
{
    bool all = true;

    for (size_t i = 0; i < poll_set->count; i++)
        if (poll_set->fds[i].revents && !poll_set->streams[i] &&
            poll_set->stages[i] < pipeline->count)
            pipeline->ended[poll_set->stages[i]] = true;
    for (size_t i = 0; i < pipeline->count; i++)
        all &= pipeline->ended[i];
    return all;
}

static enum ending wait_for_all(struct pipeline *pipeline)
{
    const int cancel_fd = al_cancel_fd(pipeline->stages[0].cancel);
    const int64_t long_ms = al_clock_ms() + LONG_MS;
    bool is_long = false;

    for (;;) {
        struct poll_set poll_set = { .count = 0 };
        int left_ms, recent_ms;

        add(&poll_set, cancel_fd, NULL, pipeline->count);
        for (size_t i = 0; i < pipeline->count; i++)
            if (!pipeline->ended[i])
                add(&poll_set, pipeline->children[i].process.pidfd, NULL, i);
        add_streams(&poll_set, pipeline);
        left_ms = time_left_ms(pipeline->deadline_ms);
        recent_ms = is_long ? left_ms : time_left_ms(long_ms);
        if (!is_long && recent_ms == 0) {
            al_proc_release_job();
            is_long = true;
            recent_ms = left_ms;
        }
        if (poll(poll_set.fds, poll_set.count, recent_ms < left_ms ? recent_ms : left_ms) > 0) {
            if (all_ended(pipeline, &poll_set))
                return EXIT;
            if (poll_set.fds[0].revents)
                return CANCELLED;
            if (!read_ready(pipeline, &poll_set))
                return STOPPED;
        }
        if (left_ms == 0)
            return TIMEOUT;
    }
}

/* Read what the pipes still hold after every writer has ended.  False: a sink wanted no more. */
static bool read_rest(struct pipeline *pipeline)
{
    for (;;) {
        struct poll_set poll_set = { .count = 0 };

        add_streams(&poll_set, pipeline);
        if (!poll_set.count || poll(poll_set.fds, poll_set.count, 0) <= 0)
            return true;
        if (!read_ready(pipeline, &poll_set))
            return false;
    }
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
    for (size_t i = 0; i < pipeline->count; i++) {
        const bool exited = infos[i].si_code == CLD_EXITED;

        ret_results[i] = (struct al_proc_result){
            .exit_code = exited && !stopped ? infos[i].si_status : -1,
            .signal = stopped || exited ? 0 : infos[i].si_status,
            .stopped = stopped,
        };
    }
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
