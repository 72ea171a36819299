// SPDX-License-Identifier: Apache-2.0
/* Several children at once, each reading what the one before it writes. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include "proc/capture.h"
#include "proc/jobs.h"
#include "proc/spawn.h"
#include "util/clock.h"

#define READ_BYTES (64u * 1024u)

/* What is watched: the end, the output and the standard error of each stage, and the cancel token.
 * A stage has an output of ours when it is the last one or the next one reads something else. */
#define WATCHED_MAX (3 * AL_PIPELINE_MAX + 1)

struct pipeline {
    const struct al_proc_spec *stages;
    size_t count, started;
    struct al_spawned children[AL_PIPELINE_MAX];
    bool ended[AL_PIPELINE_MAX];    /* the child itself; what it started may still be there */
    bool out_full[AL_PIPELINE_MAX]; /* that sink wants no more: read and dropped */
    bool err_full[AL_PIPELINE_MAX];
    int64_t deadline_ms;
};

static const struct al_spawned no_child = { .running = { .pidfd = -1 },
                                            .out_fd = -1,
                                            .err_fd = -1 };

/* Whether stage i writes into stage i + 1. */
static bool is_joined(const struct pipeline *line, size_t i)
{
    const struct al_proc_spec *to = &line->stages[i + 1];

    return !line->stages[i].out_fd && !to->in_fd && !to->input;
}

/* Our ends of the pipe between two stages are closed as soon as both have theirs: else nobody would
 * ever see its end. */
static int start_all(struct pipeline *line, struct al_error *err)
{
    al_auto(al_closep) int from = -1;

    for (size_t i = 0; i < line->count; i++) {
        struct al_proc_spec spec = line->stages[i];
        al_auto(al_closep) int into = -1;
        int ends[2] = { -1, -1 }, r;

        if (i + 1 < line->count && is_joined(line, i) && pipe2(ends, O_CLOEXEC) < 0)
            return al_error_errno(err, errno, "cannot create a pipe");
        into = ends[1];
        if (from >= 0)
            spec.in_fd = from;
        if (into >= 0)
            spec.out_fd = into;
        r = al_spawn(&spec, &line->children[i], err);
        al_closep(&from);
        from = ends[0];
        if (r < 0)
            return r;
        line->started++;
        al_spawned_count();
    }
    return 0;
}

/* Descriptors go into the list with whom they belong to. */
struct watch {
    struct pollfd fds[WATCHED_MAX];
    int *streams[WATCHED_MAX]; /* NULL: the end of a child, or the cancel token */
    size_t stages[WATCHED_MAX];
    size_t count;
};

static void add(struct watch *watch, int fd, int *stream, size_t stage)
{
    assert(watch->count < WATCHED_MAX);
    watch->fds[watch->count] = (struct pollfd){ .fd = fd, .events = POLLIN };
    watch->streams[watch->count] = stream;
    watch->stages[watch->count++] = stage;
}

static void add_streams(struct watch *watch, struct pipeline *line)
{
    for (size_t i = 0; i < line->started; i++) {
        struct al_spawned *child = &line->children[i];

        if (child->out_fd >= 0)
            add(watch, child->out_fd, &child->out_fd, i);
        if (child->err_fd >= 0)
            add(watch, child->err_fd, &child->err_fd, i);
    }
}

/* One read; false when the last stage's sink wants no more. */
static bool read_stream(struct pipeline *line, int *fd, size_t stage)
{
    const struct al_proc_spec *spec = &line->stages[stage];
    bool is_out = fd == &line->children[stage].out_fd;
    const struct al_sink *sink = is_out ? &spec->out : &spec->err;
    bool *full = is_out ? &line->out_full[stage] : &line->err_full[stage];
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

static bool read_ready(struct pipeline *line, struct watch *watch)
{
    for (size_t i = 0; i < watch->count; i++)
        if (watch->fds[i].revents && watch->streams[i] &&
            !read_stream(line, watch->streams[i], watch->stages[i]))
            return false;
    return true;
}

static int time_left_ms(const struct pipeline *line)
{
    int64_t left = line->deadline_ms - al_clock_ms();

    return left <= 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}

/* Notes who has ended; true when all have. */
static bool all_ended(struct pipeline *line, const struct watch *watch)
{
    bool all = true;

    for (size_t i = 0; i < watch->count; i++)
        if (watch->fds[i].revents && !watch->streams[i] && watch->stages[i] < line->count)
            line->ended[watch->stages[i]] = true;
    for (size_t i = 0; i < line->count; i++)
        all &= line->ended[i];
    return all;
}

static enum al_ending wait_for_all(struct pipeline *line)
{
    const int cancel_fd = al_cancel_fd(line->stages[0].cancel);

    for (;;) {
        struct watch watch = { .count = 0 };
        int left_ms = time_left_ms(line);

        add_streams(&watch, line);
        for (size_t i = 0; i < line->count; i++)
            if (!line->ended[i])
                add(&watch, line->children[i].running.pidfd, NULL, i);
        add(&watch, cancel_fd, NULL, line->count);
        if (poll(watch.fds, watch.count, left_ms) > 0) {
            if (watch.fds[watch.count - 1].revents)
                return AL_ENDING_CANCELLED;
            if (!read_ready(line, &watch))
                return AL_ENDING_STOPPED;
            if (all_ended(line, &watch))
                return AL_ENDING_EXIT;
        }
        if (left_ms == 0)
            return AL_ENDING_TIMEOUT;
    }
}

/* What the pipes still hold once nobody is left who could write. */
static bool read_rest(struct pipeline *line)
{
    for (;;) {
        struct watch watch = { .count = 0 };

        add_streams(&watch, line);
        if (!watch.count || poll(watch.fds, watch.count, 0) <= 0)
            return true;
        if (!read_ready(line, &watch))
            return false;
    }
}

/* Who is left is looked for once, when the last one ends: while there are others, their ends would
 * be taken for something left. */
static void end_all(struct pipeline *line, bool kill_first, siginfo_t *infos)
{
    bool own_groups = true;

    for (size_t i = 0; kill_first && i < line->started; i++)
        al_child_kill(&line->children[i].running);
    for (size_t i = 0; i < line->started; i++) {
        own_groups &= line->stages[i].sandbox->exec_once;
        al_child_end(&line->children[i].running, i + 1 < line->started || own_groups, &infos[i]);
    }
}

static int timed_out(const struct pipeline *line, struct al_error *err)
{
    return al_error_set_code(err, AL_ERR_TIMEOUT, AL_CODE_TIMEOUT, "timed out after %ums",
                             (unsigned)line->stages[0].timeout_ms);
}

static int report(const struct pipeline *line, enum al_ending ending, const siginfo_t *infos,
                  struct al_proc_result *ret_results, struct al_error *err)
{
    const bool stopped = ending == AL_ENDING_STOPPED;

    if (ending == AL_ENDING_CANCELLED)
        return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    if (ending == AL_ENDING_TIMEOUT)
        return timed_out(line, err);
    for (size_t i = 0; i < line->count; i++)
        if (!stopped && infos[i].si_code != CLD_EXITED && infos[i].si_status == SIGXCPU)
            return timed_out(line, err);
    for (size_t i = 0; i < line->count; i++) {
        const bool exited = infos[i].si_code == CLD_EXITED;

        ret_results[i] = (struct al_proc_result){
            .exit_code = exited && !stopped ? infos[i].si_status : -1,
            .signal = stopped || exited ? 0 : infos[i].si_status,
            .stopped = stopped,
        };
    }
    return 0;
}

static int run(struct pipeline *line, struct al_proc_result *ret_results, struct al_error *err)
{
    siginfo_t infos[AL_PIPELINE_MAX] = { { .si_signo = 0 } };
    int64_t began_ms = al_clock_ms();
    enum al_ending ending = AL_ENDING_CANCELLED;
    int r = start_all(line, err);

    line->deadline_ms = al_clock_ms() + line->stages[0].timeout_ms;
    if (r == 0)
        ending = wait_for_all(line);
    end_all(line, ending != AL_ENDING_EXIT, infos);
    if (ending == AL_ENDING_EXIT && !read_rest(line))
        ending = AL_ENDING_STOPPED;
    else if (ending == AL_ENDING_TIMEOUT)
        (void)read_rest(line);
    if (r == 0)
        r = report(line, ending, infos, ret_results, err);
    for (size_t i = 0; r == 0 && i < line->count; i++)
        ret_results[i].ran_ms = (uint32_t)(al_clock_ms() - began_ms);
    for (size_t i = 0; i < line->count; i++)
        al_spawned_clear(&line->children[i]);
    return r;
}

int al_proc_run_pipeline(const struct al_proc_spec *stages, size_t nstages,
                         struct al_proc_result *ret_results, struct al_error *err)
{
    struct pipeline line = { .stages = stages, .count = nstages };
    struct al_job slot;
    int r = 0;

    if (nstages < 1 || nstages > AL_PIPELINE_MAX)
        return al_error_set(err, AL_ERR_EXECUTION, "a pipeline has 1 to %d stages",
                            AL_PIPELINE_MAX);
    for (size_t i = 0; i < nstages && r == 0; i++) {
        line.children[i] = no_child;
        r = al_spec_check(&stages[i], err);
    }
    if (r == 0)
        r = al_jobs_acquire(&slot, stages[0].cancel, err);
    if (r < 0)
        return r;
    r = run(&line, ret_results, err);
    al_jobs_release(&slot);
    return r;
}
