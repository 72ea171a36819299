// SPDX-License-Identifier: Apache-2.0
#include "review/command/job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/text.h"
#include "proc/proc.h"

extern char **environ;

/* A rollback that is ended may finish the file that it writes. */
#define GRACE_MS 2000

struct al_review_job {
    struct al_strv argv;
    int cwd_fd;
    struct al_cancel *cancel;
    pthread_t thread;
    bool is_started;
    int ended_fd; /* eventfd(2): readable once the thread has written the members below */
    struct al_text text;
    bool is_cut;
    int exit_code;
};

static void add_words(const struct al_setup *setup, enum al_review_job_kind kind,
                      const struct al_item *item, uint64_t newest, struct al_strv *argv)
{
    static const char *const commands[] = {
        [AL_REVIEW_JOB_CHANGES] = "diff",
        [AL_REVIEW_JOB_PREVIEW] = "rollback",
        [AL_REVIEW_JOB_ROLL_BACK] = "rollback",
        [AL_REVIEW_JOB_STAGED] = "staging",
    };

    al_strv_adds(argv, "airlock", commands[kind], NULL);
    if (kind == AL_REVIEW_JOB_STAGED)
        al_strv_adds(argv, "diff", item->key, NULL);
    if (setup->config.file)
        al_strv_adds(argv, "--config", setup->config.file, NULL);
    al_strv_adds(argv, "--audit", setup->journal_file, NULL);
    if (kind == AL_REVIEW_JOB_STAGED)
        return;
    /* The root is the repository, so that no other one can be meant. */
    al_strv_adds(argv, "--root", item->path, "--execution", item->key, NULL);
    if (kind == AL_REVIEW_JOB_CHANGES)
        return;
    al_strv_add(argv, kind == AL_REVIEW_JOB_PREVIEW ? "--dry-run" : "--yes");
    if (newest) {
        al_strv_add(argv, "--newest");
        al_strv_addf(argv, "%" PRIu64, newest);
    }
}

/* Output over the limit is dropped. */
static bool add_output(void *payload, const char *data, size_t len)
{
    struct al_review_job *job = payload;

    if (!job->is_cut)
        job->is_cut = !al_text_add(&job->text, data, len);
    return true;
}

static void *thread_main(void *payload)
{
    static const struct al_confinement unconfined = { .ruleset_fd = 0 };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_review_job *job = payload;
    const struct al_proc_spec spec = {
        .program = "/proc/self/exe",
        .argv = (const char *const *)job->argv.items,
        .envp = (const char *const *)environ,
        .cwd_fd = job->cwd_fd,
        .out = { add_output, job },
        .err = { add_output, job },
        .has_job = true, /* its own children are those that work */
        .sandbox = &unconfined,
        .cancel = job->cancel,
        .timeout_ms = UINT32_MAX, /* whoever started the job ends it */
        .grace_ms = GRACE_MS,
    };
    struct al_proc_result result = { .exit_code = -1 };

    if (al_proc_run(&spec, &result, &err) < 0)
        (void)add_output(job, err.message, strlen(err.message));
    al_text_end(&job->text);
    (void)al_text_truncate(&job->text.out, AL_REVIEW_JOB_MAX_BYTES);
    job->exit_code = result.exit_code;
    (void)eventfd_write(job->ended_fd, 1);
    return NULL;
}

int al_review_job_start(const struct al_setup *setup, enum al_review_job_kind kind,
                        const struct al_item *item, uint64_t newest, struct al_review_job **ret_job,
                        struct al_error *err)
{
    const char *dir = kind == AL_REVIEW_JOB_STAGED ? "." : item->path;
    al_auto(al_freep) char *safe = al_text_sanitize_line(dir);
    struct al_review_job *job = al_calloc(1, sizeof(*job));
    int r = 0;

    *job = (struct al_review_job){ .argv = AL_STRV_INIT,
                                   .cwd_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC),
                                   .cancel = al_cancel_new(),
                                   .ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                                   .text = AL_TEXT_INIT(AL_REVIEW_JOB_MAX_BYTES),
                                   .exit_code = -1 };
    add_words(setup, kind, item, newest, &job->argv);
    if (job->cwd_fd < 0)
        r = al_error_errno(err, errno, "cannot open '%s'", safe);
    else if (job->ended_fd < 0 || pthread_create(&job->thread, NULL, thread_main, job) != 0)
        r = al_error_set(err, AL_ERR_EXECUTION, "cannot start another airlock");
    job->is_started = r == 0;
    if (r < 0)
        al_review_job_free(al_take(&job));
    *ret_job = job;
    return r;
}

int al_review_job_fd(const struct al_review_job *job)
{
    return job->ended_fd;
}

bool al_review_job_has_ended(const struct al_review_job *job)
{
    struct pollfd ended = { .fd = job->ended_fd, .events = POLLIN };

    return poll(&ended, 1, 0) > 0;
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
    if (!job)
        return;
    if (job->cancel)
        al_cancel_fire(job->cancel);
    if (job->is_started)
        (void)pthread_join(job->thread, NULL);
    al_cancel_unref(job->cancel);
    al_close(job->cwd_fd);
    al_close(job->ended_fd);
    al_strv_clear(&job->argv);
    al_text_clear(&job->text);
    free(job);
}
