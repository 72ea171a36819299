// SPDX-License-Identifier: Apache-2.0
/* What the desk does for each kind of request. */
#include <stdlib.h>
#include <string.h>

#include "cli/review/web/answer.h"
#include "cli/review/web/desk_private.h"
#include "cli/review/web/page.h"
#include "util/clock.h"

static struct al_page_frame frame_of(const struct al_desk *desk, const struct al_desk_work *work)
{
    const char *of_overview = al_overview_get(desk->overview)->problem;

    return (struct al_page_frame){
        .csrf = work->request.csrf.text,
        .notice = work->request.notice,
        .problem = of_overview ? of_overview : al_review_door_problem(desk->door),
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

/* --- Questions --- */

static void serve_overview(struct al_desk *desk, struct al_desk_work *work)
{
    al_auto(al_str_clear) struct al_str page = AL_STR_INIT;
    const struct al_page_frame frame = frame_of(desk, work);
    const struct al_review_list *waiting = al_review_door_questions(desk->door);
    const struct al_overview *overview = al_overview_get(desk->overview);

    if (work->request.kind == AL_DESK_LIVE)
        al_page_overview_main(&frame, waiting, overview, &page);
    else
        al_page_overview(&frame, waiting, overview, &page);
    answer_page(work, AL_WEB_OK, &page);
}

static const struct al_review_waiting *find_question(const struct al_desk *desk,
                                                     const struct al_desk_work *work)
{
    return al_review_list_find(al_review_door_questions(desk->door), work->request.id);
}

static void serve_question(struct al_desk *desk, struct al_desk_work *work)
{
    const struct al_review_waiting *question = find_question(desk, work);
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

void al_desk_take_reply(struct al_desk *desk, const struct al_review_reply *reply)
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
static bool start_job(struct al_desk *desk, struct al_desk_work *work, const char *repository)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const struct al_review_job_request request = {
        .kind = job_kind(work),
        .repository = repository,
        .seq = work->request.seq,
        .newest = work->newest,
        .staged = work->request.id,
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
        .ended = true,
        .succeeded = al_review_job_succeeded(work->job),
        .newest = work->newest,
    };
}

/* A rollback that was refused changed nothing, which the status says too. */
static void answer_execution(struct al_desk *desk, struct al_desk_work *work,
                             const struct al_overview_call *call, const struct al_page_job *job)
{
    const bool is_refused = job && job->kind == AL_REVIEW_JOB_ROLL_BACK && !job->succeeded;
    const struct al_page_frame frame = frame_of(desk, work);
    al_auto(al_str_clear) struct al_str page = AL_STR_INIT;

    al_page_execution(&frame, call, job, work->request.page, &page);
    answer_page(work, is_refused ? AL_WEB_CONFLICT : AL_WEB_OK, &page);
}

static void serve_execution(struct al_desk *desk, struct al_desk_work *work)
{
    const struct al_overview_call *call = al_overview_find(desk->overview, work->request.seq);
    struct al_page_job job;

    if (!call) {
        answer_message(work, AL_WEB_NOT_FOUND,
                       "No execution with this number is kept here; airlock log lists all.");
        return;
    }
    if (!call->checkpointed) {
        answer_execution(desk, work, call, NULL);
        return;
    }
    if (!work->job)
        work->newest = work->request.kind == AL_DESK_ROLL_BACK
                           ? work->request.newest
                           : al_overview_newest(desk->overview, call->path);
    if (!start_job(desk, work, call->path) || !work->job || !al_review_job_run(work->job))
        return;
    job = page_job(work);
    answer_execution(desk, work, call, &job);
}

static const struct al_overview_staged *find_staged(const struct al_overview *overview,
                                                    const char *id)
{
    for (size_t i = 0; i < overview->nstaged; i++)
        if (!strcmp(overview->staged[i].id, id))
            return &overview->staged[i];
    return NULL;
}

static void serve_staged(struct al_desk *desk, struct al_desk_work *work)
{
    const struct al_overview_staged *staged =
        find_staged(al_overview_get(desk->overview), work->request.id);
    const struct al_page_frame frame = frame_of(desk, work);
    al_auto(al_str_clear) struct al_str page = AL_STR_INIT;
    struct al_page_job job;

    if (!staged) {
        answer_message(work, AL_WEB_NOT_FOUND, "There is no such staged commit any more.");
        return;
    }
    if (!start_job(desk, work, NULL) || !work->job || !al_review_job_run(work->job))
        return;
    job = page_job(work);
    al_page_staged(&frame, staged, &job, work->request.page, &page);
    answer_page(work, AL_WEB_OK, &page);
}

void al_desk_serve(struct al_desk *desk, struct al_desk_work *work)
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
        al_desk_add_stream(desk, work);
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
        serve_execution(desk, work);
        break;
    case AL_DESK_STAGED:
        serve_staged(desk, work);
        break;
    }
}
