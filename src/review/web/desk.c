// SPDX-License-Identifier: Apache-2.0
/* The thread behind the page. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "review/command/job.h"
#include "review/command/model.h"
#include "review/door.h"
#include "review/web/page.h"
#include "review/web/private.h"

/* A request that is served. */
struct al_desk_work {
    struct al_desk_work *next;
    struct al_desk_request request;
    int64_t begun_ms;          /**< of al_clock_ms() */
    int64_t ticket;            /**< of the answer; 0: none was sent */
    struct al_review_job *job; /**< NULL: none runs */
    uint64_t newest;           /**< what the job's preview is made for */
    bool asked;                /**< the text was asked for */
    bool done;
};

struct al_desk {
    const struct al_setup *setup;
    struct al_strv dirs;
    bool always_attached;
    pthread_t thread;
    int wake_fd; /**< eventfd(2) */

    pthread_mutex_t lock;
    struct al_desk_work *inbox; /* lock: newest first */
    size_t count;               /* lock: requests in the inbox and at work */
    bool stops;                 /* lock */

    struct al_review_door *door; /**< NULL: nobody looks */
    struct al_model *model;
    struct al_desk_work *work; /**< oldest first */
    struct al_http_exchange *streams[AL_DESK_STREAMS_MAX];
    size_t nstreams, njobs;
    int64_t used_ms; /**< when a request was served last */
    uint64_t version;
};

/* The longest time that a page waits for processes that do not say what waits, and for a text. */
#define AL_DESK_PATIENCE_MS 2000

static struct al_page_frame frame_of(const struct al_desk *desk, const struct al_desk_work *work)
{
    return (struct al_page_frame){
        .csrf = work->request.csrf.text,
        .notice = work->request.notice,
        .problem = desk->model->problem ? desk->model->problem : al_review_door_problem(desk->door),
        .filter = work->request.filter,
        .only_changes = work->request.only_changes,
    };
}

static bool is_late(const struct al_desk_work *work)
{
    return al_clock_ms() - work->begun_ms >= AL_DESK_PATIENCE_MS;
}

static void answer_page(struct al_desk_work *work, enum al_web_status status,
                        const struct al_str *page)
{
    al_web_answer_page(work->request.exchange, status, page);
    work->done = true;
}

static void answer_message(struct al_desk_work *work, enum al_web_status status,
                           const char *sentence)
{
    al_web_answer_message(work->request.exchange, status, sentence);
    work->done = true;
}

/* --- Streams --- */

static void end_stream(struct al_desk *desk, size_t i)
{
    al_http_end_stream(desk->streams[i]);
    al_http_unref(desk->streams[i]);
    desk->streams[i] = desk->streams[--desk->nstreams];
}

/* Begin an event stream. */
static void add_stream(struct al_desk *desk, struct al_desk_work *work)
{
    static const struct al_http_header type[] = { { "Content-Type", "text/event-stream" } };

    if (desk->nstreams == AL_DESK_STREAMS_MAX) {
        al_web_answer_message(work->request.exchange, AL_WEB_UNAVAILABLE,
                              "Too many browsers look at this page. Close one of them.");
        return;
    }
    al_http_begin_stream(work->request.exchange, AL_WEB_OK, type, AL_COUNT(type));
    al_http_keep_alive(work->request.exchange, ":\n\n");
    /* The headers go out with the first bytes. */
    (void)al_http_send(work->request.exchange, ":\n\n", 3);
    desk->streams[desk->nstreams++] = al_http_ref(work->request.exchange);
}

static void tell_streams(struct al_desk *desk)
{
    char event[64];
    const int len = snprintf(event, sizeof(event), "event: change\ndata: %llu\n\n",
                             (unsigned long long)++desk->version);

    for (size_t i = desk->nstreams; i-- > 0;)
        if (!al_http_send(desk->streams[i], event, (size_t)len))
            end_stream(desk, i);
}

/* A browser that has gone follows the page no longer. */
static void drop_gone(struct al_desk *desk)
{
    for (size_t i = desk->nstreams; i-- > 0;)
        if (!al_http_send(desk->streams[i], "", 0))
            end_stream(desk, i);
}

/* --- Questions --- */

static void serve_overview(struct al_desk *desk, struct al_desk_work *work)
{
    al_auto(al_str_clear) struct al_str page = AL_STR_INIT;
    const struct al_page_frame frame = frame_of(desk, work);

    al_page_overview(&frame, desk->model, work->request.kind == AL_DESK_LIVE, &page);
    answer_page(work, AL_WEB_OK, &page);
}

static void serve_question(struct al_desk *desk, struct al_desk_work *work)
{
    const struct al_item *question = al_model_find(desk->model, AL_ITEM_QUESTION, work->request.id);
    const struct al_page_frame frame = frame_of(desk, work);
    al_auto(al_str_clear) struct al_str page = AL_STR_INIT;
    const struct al_review_text *text;

    if (!question) {
        answer_message(work, AL_WEB_NOT_FOUND,
                       "This question no longer waits: it was answered, or it is over.");
        return;
    }
    if (!work->asked)
        al_review_door_ask_text(desk->door, work->request.id);
    work->asked = true;
    text = al_review_door_text(desk->door, work->request.id);
    if (!(text && (text->complete || text->problem)) && !is_late(work))
        return;
    al_page_question(&frame, question, text, work->request.page, &page);
    answer_page(work, AL_WEB_OK, &page);
}

static void serve_answer(struct al_desk *desk, struct al_desk_work *work)
{
    if (!work->ticket)
        work->ticket = al_review_door_answer(desk->door, work->request.id, work->request.decision,
                                             work->request.reason);
}

/* The page of /review says what came of it; see site.c for the words. */
static const char *page_after(enum al_answer decision)
{
    return decision == AL_ANSWER_ONCE     ? "/review?said=once"
           : decision == AL_ANSWER_ALWAYS ? "/review?said=always"
                                          : "/review?said=reject";
}

/* The fate of an answer. */
static void take_reply(struct al_desk *desk, const struct al_review_reply *reply)
{
    struct al_desk_work *work = desk->work;

    while (work && (work->request.kind != AL_DESK_ANSWER || work->ticket != reply->ticket))
        work = work->next;
    if (!work || work->done)
        return;
    if (reply->outcome != AL_REVIEW_TAKEN) {
        answer_message(work, AL_WEB_CONFLICT, reply->message);
        return;
    }
    al_web_answer_elsewhere(work->request.exchange, page_after(work->request.decision));
    work->done = true;
}

/* --- Executions and staged commits --- */

static enum al_review_job_kind job_kind(const struct al_desk_work *work)
{
    const enum al_desk_kind kind = work->request.kind;

    return kind == AL_DESK_PREVIEW     ? AL_REVIEW_JOB_PREVIEW
           : kind == AL_DESK_ROLL_BACK ? AL_REVIEW_JOB_ROLL_BACK
           : kind == AL_DESK_STAGED    ? AL_REVIEW_JOB_STAGED
                                       : AL_REVIEW_JOB_CHANGES;
}

/* Start the child of a request, unless there are too many.  False: it has its answer. */
static bool start_job(struct al_desk *desk, struct al_desk_work *work, const struct al_item *item)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const struct al_review_job_request request = {
        .kind = job_kind(work),
        .repository = item->path,
        .seq = item->seq,
        .newest = work->newest,
        .staged = item->key,
    };

    if (work->job || desk->njobs >= AL_DESK_JOBS_MAX)
        return true;
    if (al_review_job_start(desk->setup, &request, &work->job, &err) < 0) {
        answer_message(work, AL_WEB_FAILED, err.message);
        return false;
    }
    desk->njobs++;
    return true;
}

static struct al_page_job page_job(const struct al_desk_work *work)
{
    return (struct al_page_job){
        .kind = job_kind(work),
        .text = al_review_job_text(work->job),
        .succeeded = al_review_job_succeeded(work->job),
        .newest = work->newest,
    };
}

/* A rollback that was refused changed nothing, which the status says too. */
static void answer_entry(struct al_desk *desk, struct al_desk_work *work,
                         const struct al_item *item, const struct al_page_job *job)
{
    const bool is_refused = job && job->kind == AL_REVIEW_JOB_ROLL_BACK && !job->succeeded;
    const struct al_page_frame frame = frame_of(desk, work);
    al_auto(al_str_clear) struct al_str page = AL_STR_INIT;

    al_page_entry(&frame, item, job, work->request.page, &page);
    answer_page(work, is_refused ? AL_WEB_CONFLICT : AL_WEB_OK, &page);
}

/* An execution, or a staged commit. */
static void serve_entry(struct al_desk *desk, struct al_desk_work *work)
{
    const bool is_staged = work->request.kind == AL_DESK_STAGED;
    const struct al_item *item = al_model_find(
        desk->model, is_staged ? AL_ITEM_STAGED : AL_ITEM_EXECUTION, work->request.id);
    struct al_page_job job;

    if (!item) {
        answer_message(work, AL_WEB_NOT_FOUND,
                       is_staged
                           ? "There is no such staged commit any more."
                           : "No execution with this number is kept here; airlock log lists all.");
        return;
    }
    if (!is_staged && !item->checkpointed) {
        answer_entry(desk, work, item, NULL);
        return;
    }
    if (!work->job && !is_staged)
        work->newest = work->request.kind == AL_DESK_ROLL_BACK
                           ? work->request.newest
                           : al_model_newest(desk->model, item->path);
    if (!start_job(desk, work, item) || !work->job || !al_review_job_run(work->job))
        return;
    job = page_job(work);
    answer_entry(desk, work, item, &job);
}

/* Serve a request as far as that is possible now; `done` says whether it has its answer. */
static void serve(struct al_desk *desk, struct al_desk_work *work)
{
    if (!desk->door) {
        answer_message(work, AL_WEB_FAILED, "The questions cannot be watched.");
        return;
    }
    if (!al_review_door_is_settled(desk->door) && !is_late(work))
        return;
    switch (work->request.kind) {
    case AL_DESK_OVERVIEW:
    case AL_DESK_LIVE:
        serve_overview(desk, work);
        break;
    case AL_DESK_EVENTS:
        add_stream(desk, work);
        work->done = true;
        break;
    case AL_DESK_QUESTION:
        serve_question(desk, work);
        break;
    case AL_DESK_ANSWER:
        serve_answer(desk, work);
        break;
    case AL_DESK_EXECUTION:
    case AL_DESK_PREVIEW:
    case AL_DESK_ROLL_BACK:
    case AL_DESK_STAGED:
        serve_entry(desk, work);
        break;
    case AL_DESK_STYLE:
    case AL_DESK_SCRIPT:
        break;
    }
}

/* How often the thread looks at deadlines, and at an overview that reports no changes. */
#define TICK_MS 500

void al_desk_request_clear(struct al_desk_request *request)
{
    if (request->exchange)
        al_http_unref(request->exchange);
    free(request->id);
    free(request->reason);
    free(request->filter);
    *request = (struct al_desk_request){ .exchange = NULL };
}

/* --- From other threads --- */

bool al_desk_put(struct al_desk *desk, const struct al_desk_request *request)
{
    struct al_desk_work *work;

    al_hold(&desk->lock);
    if (desk->stops || desk->count == AL_DESK_REQUESTS_MAX)
        return false;
    work = al_calloc(1, sizeof(*work));
    work->request = *request;
    work->begun_ms = al_clock_ms();
    work->next = desk->inbox;
    desk->inbox = work;
    desk->count++;
    (void)eventfd_write(desk->wake_fd, 1);
    return true;
}

/* --- The thread --- */

/* Take what other threads left.  False: the desk stops. */
static bool take_inbox(struct al_desk *desk)
{
    struct al_desk_work *inbox, **last = &desk->work, *next;
    bool stops;

    pthread_mutex_lock(&desk->lock);
    inbox = desk->inbox;
    desk->inbox = NULL;
    stops = desk->stops;
    pthread_mutex_unlock(&desk->lock);
    while (*last)
        last = &(*last)->next;
    for (; inbox; inbox = next) { /* the newest first, so each goes before those after it */
        next = inbox->next;
        inbox->next = *last;
        *last = inbox;
    }
    return !stops;
}

static void open_or_close_door(struct al_desk *desk)
{
    const int64_t now = al_clock_ms();
    const bool is_used = desk->always_attached || desk->work || desk->nstreams;

    if (is_used)
        desk->used_ms = now;
    if (is_used && !desk->door)
        desk->door = al_review_door_new(&desk->dirs);
    else if (!is_used && desk->door && now - desk->used_ms >= AL_DESK_LINGER_MS)
        al_review_door_free(al_take(&desk->door));
}

/* Returns whether what is shown has changed. */
static bool run_door(struct al_desk *desk)
{
    struct al_review_reply reply;
    unsigned changes;

    if (!desk->door)
        return false;
    changes = al_review_door_run(desk->door);
    while (al_review_door_next_reply(desk->door, &reply)) {
        take_reply(desk, &reply);
        al_review_reply_clear(&reply);
    }
    return (changes & (AL_DOOR_QUESTIONS | AL_DOOR_PROBLEMS)) != 0;
}

static void end_work(struct al_desk *desk, struct al_desk_work *work)
{
    if (work->job) {
        al_review_job_free(work->job);
        desk->njobs--;
    }
    al_desk_request_clear(&work->request);
    free(work);
    al_hold(&desk->lock);
    desk->count--;
}

static void serve_all(struct al_desk *desk)
{
    for (struct al_desk_work **at = &desk->work; *at;) {
        struct al_desk_work *work = *at;

        if (!work->done)
            serve(desk, work);
        if (work->done) {
            *at = work->next;
            end_work(desk, work);
        } else {
            at = &work->next;
        }
    }
}

static void wait_for_something(struct al_desk *desk)
{
    struct pollfd fds[3 + AL_DESK_JOBS_MAX];
    const bool is_watched = desk->work || desk->nstreams;
    size_t count = 0;
    eventfd_t ignored;

    fds[count++] = (struct pollfd){ .fd = desk->wake_fd, .events = POLLIN };
    if (desk->door)
        fds[count++] = (struct pollfd){ .fd = al_review_door_fd(desk->door), .events = POLLIN };
    if (is_watched)
        fds[count++] = (struct pollfd){ .fd = desk->model->fd, .events = POLLIN };
    for (const struct al_desk_work *work = desk->work; work; work = work->next)
        if (work->job && count < AL_COUNT(fds))
            fds[count++] = (struct pollfd){ .fd = al_review_job_fd(work->job), .events = POLLIN };
    (void)poll(fds, count, is_watched || (desk->door && !desk->always_attached) ? TICK_MS : -1);
    (void)eventfd_read(desk->wake_fd, &ignored);
}

/* Only a rollback keeps a desk that stops. */
static bool must_go_on(const struct al_desk *desk)
{
    for (const struct al_desk_work *work = desk->work; work; work = work->next)
        if (work->job && work->request.kind == AL_DESK_ROLL_BACK)
            return true;
    return false;
}

static void end_all(struct al_desk *desk)
{
    while (desk->nstreams)
        end_stream(desk, 0);
    while (desk->work) {
        struct al_desk_work *work = desk->work;

        desk->work = work->next;
        if (!work->done)
            al_web_answer_message(work->request.exchange, AL_WEB_UNAVAILABLE,
                                  "The server of this page ends.");
        end_work(desk, work);
    }
    al_review_door_free(al_take(&desk->door));
}

static void *run(void *payload)
{
    struct al_desk *desk = payload;

    while (take_inbox(desk) || must_go_on(desk)) {
        bool changed;

        drop_gone(desk);
        open_or_close_door(desk);
        changed = run_door(desk);
        if (desk->work || desk->nstreams)
            changed |= al_model_refresh(desk->model,
                                        desk->door ? al_review_door_questions(desk->door) : NULL);
        if (changed)
            tell_streams(desk);
        serve_all(desk);
        wait_for_something(desk);
    }
    end_all(desk);
    return NULL;
}

int al_desk_new(const struct al_setup *setup, const struct al_strv *dirs, bool always_attached,
                struct al_desk **ret_desk, struct al_error *err)
{
    struct al_desk *desk = al_calloc(1, sizeof(*desk));
    int r;

    desk->setup = setup;
    desk->always_attached = always_attached;
    for (size_t i = 0; i < dirs->count; i++)
        al_strv_add(&desk->dirs, dirs->items[i]);
    (void)pthread_mutex_init(&desk->lock, NULL);
    desk->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    desk->model = al_model_open(setup);
    r = desk->wake_fd < 0 ? errno : pthread_create(&desk->thread, NULL, run, desk);
    if (r != 0) {
        desk->stops = true;
        al_desk_free(desk);
        return al_error_errno(err, r, "the review page cannot be served");
    }
    *ret_desk = desk;
    return 0;
}

void al_desk_stop(struct al_desk *desk)
{
    bool is_first;

    pthread_mutex_lock(&desk->lock);
    is_first = !desk->stops;
    desk->stops = true;
    pthread_mutex_unlock(&desk->lock);
    if (!is_first)
        return;
    (void)eventfd_write(desk->wake_fd, 1);
    (void)pthread_join(desk->thread, NULL);
}

void al_desk_free(struct al_desk *desk)
{
    if (!desk)
        return;
    al_model_close(desk->model);
    al_strv_clear(&desk->dirs);
    al_close(desk->wake_fd);
    (void)pthread_mutex_destroy(&desk->lock);
    free(desk);
}
