// SPDX-License-Identifier: Apache-2.0
/* The requests of browsers that may see the page, each on a thread of its own. */
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "review/command/job.h"
#include "review/command/model.h"
#include "review/door.h"
#include "review/message.h"
#include "review/web/private.h"

/* The time between a stream's looks at its browser, and at a model that reports no changes. */
#define TICK_MS 500

/* The longest time that a page waits for a whole text; git makes it. */
#define TEXT_MS 20000

/* The time that a stream's door outlives it: a page that loads itself again has a new one. */
#define LINGER_MS 5000

/* Wait for a descriptor.  False: the time is over, or the site ends. */
static bool await(const struct al_site *site, int fd, int64_t until_ms)
{
    struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
                            { .fd = site->stop_fd, .events = POLLIN } };
    const int64_t left_ms = until_ms - al_clock_ms();

    (void)poll(fds, AL_COUNT(fds), left_ms < 0 ? 0 : left_ms < INT_MAX ? (int)left_ms : INT_MAX);
    return !fds[1].revents && al_clock_ms() < until_ms;
}

static void refresh(struct al_visit *visit)
{
    (void)al_model_refresh(visit->model, al_review_door_questions(visit->door));
    visit->frame.csrf = visit->csrf.text;
    visit->frame.problem =
        visit->model->problem ? visit->model->problem : al_review_door_problem(visit->door);
}

/* --- What waits --- */

static void serve_overview(struct al_visit *visit)
{
    al_auto(al_str_clear) struct al_str page = AL_STR_INIT;

    refresh(visit);
    al_page_overview(&visit->frame, visit->model, visit->kind == AL_VISIT_LIVE, &page);
    al_web_answer_page(visit->exchange, 200, &page);
}

/* Wait for the whole text of the question; NULL: it no longer waits. */
static const struct al_review_text *await_text(struct al_visit *visit)
{
    const int64_t until_ms = al_clock_ms() + TEXT_MS;
    const struct al_review_text *text;

    al_review_door_ask_text(visit->door, visit->id);
    while ((text = al_review_door_text(visit->door, visit->id)) && !text->complete &&
           !text->problem && await(visit->site, al_review_door_fd(visit->door), until_ms))
        (void)al_review_door_run(visit->door);
    return text;
}

static void serve_question(struct al_visit *visit)
{
    const struct al_review_text *text = await_text(visit);
    al_auto(al_str_clear) struct al_str page = AL_STR_INIT;
    const struct al_item *question;

    refresh(visit);
    question = al_model_find(visit->model, AL_ITEM_QUESTION, visit->id);
    if (!question) {
        al_web_answer_message(visit->exchange, 404,
                              "This question no longer waits: it was answered, or it is over.");
        return;
    }
    al_page_question(&visit->frame, question, text, visit->page, &page);
    al_web_answer_page(visit->exchange, 200, &page);
}

static void serve_answer(struct al_visit *visit)
{
    /* The page of /review says what came of it. */
    al_auto(al_freep) char *page = al_asprintf("/review?said=%s", al_answer_word(visit->decision));
    struct al_review_reply reply;

    (void)al_review_door_answer(visit->door, visit->id, visit->decision, visit->reason);
    al_review_door_await_reply(visit->door, &reply);
    if (reply.outcome == AL_REVIEW_TAKEN)
        al_web_answer_elsewhere(visit->exchange, page);
    else
        al_web_answer_message(visit->exchange, 409, reply.message);
    al_review_reply_clear(&reply);
}

/* --- Executions and staged commits --- */

/* A rollback that was refused changed nothing, which the status says too. */
static void answer_entry(const struct al_visit *visit, const struct al_item *item,
                         const struct al_page_job *job)
{
    const bool is_refused = job && job->kind == AL_REVIEW_JOB_ROLL_BACK && !job->succeeded;
    al_auto(al_str_clear) struct al_str page = AL_STR_INIT;

    al_page_entry(&visit->frame, item, job, visit->page, &page);
    al_web_answer_page(visit->exchange, is_refused ? 409 : 200, &page);
}

/* Wait for the end of a job.  False: the site ends, and only a rollback keeps it. */
static bool await_job(const struct al_visit *visit, struct al_review_job *job)
{
    while (!al_review_job_has_ended(job)) {
        struct pollfd ended = { .fd = al_review_job_fd(job), .events = POLLIN };

        if (visit->kind == AL_VISIT_ROLL_BACK)
            (void)poll(&ended, 1, -1);
        else if (!await(visit->site, ended.fd, INT64_MAX))
            return false;
    }
    return true;
}

static void run_job(const struct al_visit *visit, const struct al_item *item)
{
    static const enum al_review_job_kind kinds[] = {
        [AL_VISIT_EXECUTION] = AL_REVIEW_JOB_CHANGES,
        [AL_VISIT_PREVIEW] = AL_REVIEW_JOB_PREVIEW,
        [AL_VISIT_ROLL_BACK] = AL_REVIEW_JOB_ROLL_BACK,
        [AL_VISIT_STAGED] = AL_REVIEW_JOB_STAGED,
    };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const enum al_review_job_kind kind = kinds[visit->kind];
    const uint64_t newest = visit->newest || kind == AL_REVIEW_JOB_STAGED
                                ? visit->newest
                                : al_model_newest(visit->model, item->path);
    struct al_review_job *job;

    if (al_review_job_start(visit->site->setup, kind, item, newest, &job, &err) < 0) {
        al_web_answer_message(visit->exchange, 500, err.message);
        return;
    }
    if (await_job(visit, job))
        answer_entry(visit, item,
                     &(struct al_page_job){ .kind = kind,
                                            .text = al_review_job_text(job),
                                            .succeeded = al_review_job_succeeded(job),
                                            .newest = newest });
    else
        al_web_answer_message(visit->exchange, 503, "The server of this page ends.");
    al_review_job_free(job);
}

/* An execution, or a staged commit. */
static void serve_entry(struct al_visit *visit)
{
    const bool is_staged = visit->kind == AL_VISIT_STAGED;
    const struct al_item *item;

    refresh(visit);
    item = al_model_find(visit->model, is_staged ? AL_ITEM_STAGED : AL_ITEM_EXECUTION, visit->id);
    if (!item) {
        al_web_answer_message(
            visit->exchange, 404,
            is_staged ? "There is no such staged commit any more."
                      : "No execution with this number is kept here; airlock log lists all.");
    } else if (!is_staged && !item->checkpointed) {
        answer_entry(visit, item, NULL);
    } else {
        while (sem_wait(&visit->site->jobs) < 0)
            continue;
        run_job(visit, item);
        (void)sem_post(&visit->site->jobs);
    }
}

/* --- The event stream --- */

/* False: the browser has gone. */
static bool tell(struct al_http_exchange *stream, uint64_t version)
{
    char event[64] = "";

    if (version)
        (void)snprintf(event, sizeof(event), "event: change\ndata: %llu\n\n",
                       (unsigned long long)version);
    return al_http_send(stream, event, strlen(event));
}

/* Tell the browser of changes until it leaves. */
static void follow(struct al_visit *visit)
{
    static const struct al_http_header type[] = { { "Content-Type", "text/event-stream" } };
    struct pollfd fds[] = { { .fd = visit->site->stop_fd, .events = POLLIN },
                            { .fd = al_review_door_fd(visit->door), .events = POLLIN },
                            { .fd = visit->model->fd, .events = POLLIN } };
    uint64_t version = 0;
    bool changed;
    int64_t until_ms;

    al_http_begin_stream(visit->exchange, 200, type, AL_COUNT(type));
    /* The headers go out with the first bytes. */
    (void)al_http_send(visit->exchange, ":\n\n", 3);
    do {
        changed = al_review_door_run(visit->door) & (AL_DOOR_QUESTIONS | AL_DOOR_PROBLEMS);
        changed |= al_model_refresh(visit->model, al_review_door_questions(visit->door));
        version += changed;
        if (!tell(visit->exchange, changed ? version : 0))
            break;
        (void)poll(fds, AL_COUNT(fds), TICK_MS);
    } while (!fds[0].revents);
    al_http_end_stream(visit->exchange);
    until_ms = al_clock_ms() + LINGER_MS;
    while (await(visit->site, al_review_door_fd(visit->door), until_ms))
        (void)al_review_door_run(visit->door);
}

/* Be there for calls until the site ends, whether or not a browser is. */
static void attend(const struct al_visit *visit)
{
    do
        (void)al_review_door_run(visit->door);
    while (await(visit->site, al_review_door_fd(visit->door), INT64_MAX));
}

/* --- A thread --- */

static void serve(struct al_visit *visit)
{
    switch (visit->kind) {
    case AL_VISIT_OVERVIEW:
    case AL_VISIT_LIVE:
        serve_overview(visit);
        break;
    case AL_VISIT_QUESTION:
        serve_question(visit);
        break;
    case AL_VISIT_ANSWER:
        serve_answer(visit);
        break;
    case AL_VISIT_EXECUTION:
    case AL_VISIT_PREVIEW:
    case AL_VISIT_ROLL_BACK:
    case AL_VISIT_STAGED:
        serve_entry(visit);
        break;
    case AL_VISIT_EVENTS:
        follow(visit);
        break;
    case AL_VISIT_ATTEND:
        attend(visit);
        break;
    case AL_VISIT_STYLE:
    case AL_VISIT_SCRIPT:
        break;
    }
}

static void *thread_main(void *payload)
{
    struct al_visit *visit = payload;
    struct al_site *site = visit->site;
    const bool is_stream = visit->kind == AL_VISIT_EVENTS;
    size_t *count = is_stream ? &site->nstreams : &site->nvisits;

    if (!visit->door) /* of a stream it is attached: calls wait for the browser */
        visit->door =
            is_stream ? al_review_door_new(&site->dirs) : al_review_door_peek(&site->dirs);
    visit->model = al_model_open(site->setup);
    if (visit->door)
        serve(visit);
    else if (visit->exchange)
        al_web_answer_message(visit->exchange, 500, "The questions cannot be watched.");
    al_visit_free(visit);
    al_hold(&site->lock);
    --*count;
    (void)pthread_cond_signal(&site->left);
    return NULL;
}

bool al_visit_start(struct al_visit *visit)
{
    struct al_site *site = visit->site;
    const bool is_stream = visit->kind == AL_VISIT_EVENTS;
    size_t *count = is_stream ? &site->nstreams : &site->nvisits;
    pthread_t thread;

    al_hold(&site->lock);
    if (site->stops || *count == (is_stream ? AL_STREAMS_MAX : AL_VISITS_MAX) ||
        pthread_create(&thread, NULL, thread_main, visit) != 0)
        return false;
    (void)pthread_detach(thread);
    ++*count;
    return true;
}

void al_visit_free(struct al_visit *visit)
{
    if (visit->exchange)
        al_http_unref(visit->exchange);
    al_model_close(visit->model);
    al_review_door_free(visit->door);
    free(visit->id);
    free(visit->reason);
    free((char *)visit->frame.filter);
    free(visit);
}
