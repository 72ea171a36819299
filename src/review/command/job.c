// SPDX-License-Identifier: Apache-2.0
#include "review/command/job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/text.h"
#include "proc/running.h"

extern char **environ;

/* A rollback that is ended may finish the file that it writes. */
#define GRACE_MS    2000
#define CHUNK_BYTES (64u << 10)

struct al_review_job {
    struct al_running *running; /* NULL: it has ended */
    int epoll_fd;
    int fds[3]; /* its output, its errors, its end; -1: at its end */
    struct al_text text;
    bool is_cut;
    int exit_code;
};

static void add_words(const struct al_setup *setup, const struct al_review_job_request *request,
                      struct al_strv *argv)
{
    static const char *const commands[] = {
        [AL_REVIEW_JOB_CHANGES] = "diff",
        [AL_REVIEW_JOB_PREVIEW] = "rollback",
        [AL_REVIEW_JOB_ROLL_BACK] = "rollback",
        [AL_REVIEW_JOB_STAGED] = "staging",
    };

    al_strv_adds(argv, "airlock", commands[request->kind], NULL);
    if (request->kind == AL_REVIEW_JOB_STAGED)
        al_strv_adds(argv, "diff", request->staged, NULL);
    if (setup->config.file)
        al_strv_adds(argv, "--config", setup->config.file, NULL);
    al_strv_adds(argv, "--audit", setup->journal_file, NULL);
    if (request->kind == AL_REVIEW_JOB_STAGED)
        return;
    /* The root is the repository, so that no other one can be meant. */
    al_strv_adds(argv, "--root", request->repository, "--execution", NULL);
    al_strv_addf(argv, "%" PRIu64, request->seq);
    if (request->kind == AL_REVIEW_JOB_CHANGES)
        return;
    al_strv_adds(argv, request->kind == AL_REVIEW_JOB_PREVIEW ? "--dry-run" : "--yes", NULL);
    if (request->newest) {
        al_strv_add(argv, "--newest");
        al_strv_addf(argv, "%" PRIu64, request->newest);
    }
}

static int start_child(struct al_review_job *job, const struct al_strv *argv, const char *dir,
                       struct al_error *err)
{
    static const struct al_confinement unconfined = { .ruleset = NULL };
    al_auto(al_closep) int cwd_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const struct al_proc_spec spec = {
        .program = "/proc/self/exe",
        .argv = (const char *const *)argv->items,
        .envp = (const char *const *)environ,
        .cwd_fd = cwd_fd,
        .sandbox = &unconfined,
        .timeout_ms = 1, /* no effect: whoever started the job ends it */
        .grace_ms = GRACE_MS,
    };

    if (cwd_fd < 0) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(dir);

        return al_error_errno(err, errno, "cannot open '%s'", safe);
    }
    return al_running_start(&spec, &job->running, err);
}

int al_review_job_start(const struct al_setup *setup, const struct al_review_job_request *request,
                        struct al_review_job **ret_job, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv argv = AL_STRV_INIT;
    struct al_review_job *job = al_calloc(1, sizeof(*job));
    int r;

    *job = (struct al_review_job){ .fds = { -1, -1, -1 },
                                   .text = AL_TEXT_INIT(AL_REVIEW_JOB_MAX_BYTES),
                                   .exit_code = -1 };
    add_words(setup, request, &argv);
    job->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    r = job->epoll_fd < 0
            ? al_error_errno(err, errno, "cannot watch another airlock")
            : start_child(job, &argv,
                          request->kind == AL_REVIEW_JOB_STAGED ? "." : request->repository, err);
    if (r < 0) {
        al_review_job_free(job);
        return r;
    }
    job->fds[0] = al_running_out_fd(job->running);
    job->fds[1] = al_running_err_fd(job->running);
    job->fds[2] = al_running_pidfd(job->running);
    for (size_t i = 0; i < AL_COUNT(job->fds); i++) {
        struct epoll_event event = { .events = EPOLLIN };

        (void)fcntl(job->fds[i], F_SETFL, fcntl(job->fds[i], F_GETFL) | O_NONBLOCK);
        (void)epoll_ctl(job->epoll_fd, EPOLL_CTL_ADD, job->fds[i], &event);
    }
    *ret_job = job;
    return 0;
}

int al_review_job_fd(const struct al_review_job *job)
{
    return job->epoll_fd;
}

/* Read a stream.  What is over the limit is read and dropped. */
static void read_stream(struct al_review_job *job, int *fd)
{
    al_auto(al_freep) char *chunk = al_malloc(CHUNK_BYTES);
    ssize_t n = *fd < 0 ? 0 : 1;

    while (n > 0) {
        n = read(*fd, chunk, CHUNK_BYTES);
        if (n > 0 && !job->is_cut)
            job->is_cut = !al_text_add(&job->text, chunk, (size_t)n);
    }
    if (*fd >= 0 && (n == 0 || (errno != EAGAIN && errno != EINTR))) {
        (void)epoll_ctl(job->epoll_fd, EPOLL_CTL_DEL, *fd, NULL);
        *fd = -1; /* al_running_end() closes it */
    }
}

/* What it started may hold its streams open, so its own end counts. */
bool al_review_job_run(struct al_review_job *job)
{
    struct al_proc_result result;
    struct pollfd ended = { .fd = job->fds[2], .events = POLLIN };
    const bool is_over = !job->running || poll(&ended, 1, 0) > 0;

    if (!job->running)
        return true;
    read_stream(job, &job->fds[0]);
    read_stream(job, &job->fds[1]);
    if (!is_over)
        return false;
    (void)epoll_ctl(job->epoll_fd, EPOLL_CTL_DEL, job->fds[2], NULL);
    al_running_end(al_take(&job->running), &result);
    al_text_end(&job->text);
    (void)al_text_truncate(&job->text.out, AL_REVIEW_JOB_MAX_BYTES);
    job->exit_code = result.exit_code;
    return true;
}

const struct al_str *al_review_job_text(const struct al_review_job *job)
{
    return &job->text.out;
}

bool al_review_job_succeeded(const struct al_review_job *job)
{
    return job->exit_code == 0;
}

void al_review_job_free(struct al_review_job *job)
{
    struct al_proc_result result;

    if (!job)
        return;
    if (job->running)
        al_running_end(al_take(&job->running), &result);
    al_close(job->epoll_fd);
    al_text_clear(&job->text);
    free(job);
}
