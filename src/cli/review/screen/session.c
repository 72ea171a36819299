// SPDX-License-Identifier: Apache-2.0
#include "cli/review/screen/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/review/screen/about.h"
#include "cli/review/screen/act.h"
#include "proc/proc.h"
#include "util/clock.h"

int al_screen_session_open(struct al_screen_session *session, const struct al_setup *setup,
                           const struct al_strv *dirs, struct al_error *err)
{
    *session = (struct al_screen_session){ .setup = setup,
                                           .view = AL_SCREEN_VIEW_INIT,
                                           .known = AL_STRV_INIT };
    if (al_proc_init(NULL, err) < 0) /* for children; before any thread is started */
        return AL_ERR_EXECUTION;
    session->door = al_review_door_new(dirs);
    if (!session->door)
        return al_error_errno(err, errno, "the questions cannot be watched");
    session->overview = al_overview_open(setup);
    session->notify = al_review_notify_new(setup->config.review.notify, NULL);
    al_screen_session_refresh(session);
    return 0;
}

void al_screen_session_clear(struct al_screen_session *session)
{
    al_review_job_free(session->job);
    al_review_notify_free(session->notify);
    al_overview_close(session->overview);
    al_review_door_free(session->door);
    al_screen_view_clear(&session->view);
    al_strv_clear(&session->known);
}

void al_screen_note(struct al_screen_session *session, const char *fmt, ...)
{
    struct al_str line = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&line, fmt, args);
    va_end(args);
    free(session->view.notice);
    session->view.notice = al_str_detach(&line);
}

/* --- The chosen entry --- */

static void end_lookup(struct al_screen_session *session)
{
    session->job_due_ms = 0;
    if (!session->job || session->job_kind == AL_REVIEW_JOB_ROLL_BACK)
        return;
    al_review_job_free(session->job);
    session->job = NULL;
    session->view.pending = NULL;
}

/* The text of a question in full, if it is there. */
static void take_text(struct al_screen_session *session)
{
    struct al_screen_view *view = &session->view;
    const struct al_review_text *text;

    if (view->chosen.kind != AL_ENTRY_QUESTION || !view->chosen.waits)
        return;
    text = al_review_door_text(session->door, view->chosen.key);
    if (text && text->complete && text->text.len)
        al_page_set_text(&view->page, text->text.buf, text->text.len);
    else if (text && text->problem)
        al_screen_note(session, "Not shown in full: %s", text->problem);
}

void al_screen_show_entry(struct al_screen_session *session)
{
    struct al_screen_view *view = &session->view;
    const struct al_screen_row *row = &view->list.rows[view->chosen.row];
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    end_lookup(session);
    view->previewed = false;
    al_page_clear(&view->page);
    al_screen_about(row, &view->page.about);
    al_screen_first_text(row, &text);
    al_page_set_text(&view->page, text.buf, text.len);
    session->fresh = true;
    if (row->question) {
        al_review_door_ask_text(session->door, row->key);
        take_text(session);
    } else if (row->staged || (row->call && row->call->checkpointed)) {
        session->job_due_ms = al_clock_ms() + AL_SCREEN_REST_MS;
    }
}

void al_screen_choose(struct al_screen_session *session, size_t number, bool by_program)
{
    struct al_screen_view *view = &session->view;
    const struct al_screen_row *row = &view->list.rows[number];
    struct al_screen_chosen chosen = { .kind = row->kind, .row = number };

    memcpy(chosen.key, row->key, sizeof(chosen.key));
    chosen.waits = row->question != NULL;
    chosen.offers_always = row->question && row->question->always;
    chosen.can_roll_back = row->kind == AL_ENTRY_EXECUTION && row->call->checkpointed;
    chosen.settles_ms = by_program ? al_clock_ms() + AL_SCREEN_SETTLE_MS : 0;
    view->chosen = chosen;
    al_screen_show_entry(session);
}

/* Find the chosen entry in a list that was made anew. */
static void find_chosen(struct al_screen_session *session)
{
    struct al_screen_view *view = &session->view;
    struct al_screen_chosen *chosen = &view->chosen;
    const size_t row = al_screen_list_find(&view->list, chosen->kind, chosen->key);

    chosen->gone = row == SIZE_MAX;
    if (!chosen->gone)
        chosen->row = row;
    if (!chosen->waits || al_review_list_find(al_review_door_questions(session->door), chosen->key))
        return;
    chosen->waits = false;
    al_screen_vanished(&view->state);
    if (!chosen->sent)
        al_screen_note(session, "%s no longer waits: it was answered elsewhere, or it is over",
                       chosen->key);
}

void al_screen_list_again(struct al_screen_session *session)
{
    struct al_screen_view *view = &session->view;
    size_t first;

    al_screen_list_fill(&view->list, al_review_door_questions(session->door),
                        al_overview_get(session->overview), view->state.filter.buf,
                        view->state.only_changes);
    if (view->chosen.kind != AL_ENTRY_NONE)
        find_chosen(session);
    if (view->state.mode != AL_SCREEN_BROWSE ||
        (view->chosen.kind != AL_ENTRY_NONE && !view->chosen.answered))
        return;
    first = al_screen_list_first_question(&view->list, view->chosen.key);
    if (first != SIZE_MAX)
        al_screen_choose(session, first, true);
}

/* --- What comes --- */

/* Tell the user about questions that are new. */
static void tell(struct al_screen_session *session)
{
    const struct al_review_list *questions = al_review_door_questions(session->door);
    struct al_strv now = AL_STRV_INIT;
    size_t news = 0;

    for (size_t i = 0; i < questions->count; i++) {
        const char *id = al_json_get_string(questions->items[i].entry, "id");

        al_strv_add(&now, id ? id : "");
        news += id && !al_strv_contains(&session->known, id);
    }
    al_strv_clear(&session->known);
    session->known = now;
    if (!news || !session->tells)
        return;
    if (session->setup->config.review.notify == AL_NOTIFY_BELL)
        session->rings = true;
    al_review_notify_send(session->notify, questions);
}

static void take_reply(struct al_screen_session *session, const struct al_review_reply *reply)
{
    struct al_screen_chosen *chosen = &session->view.chosen;
    const bool is_chosen = chosen->kind == AL_ENTRY_QUESTION && !strcmp(chosen->key, reply->id);

    session->view.pending = NULL;
    if (reply->outcome == AL_REVIEW_TAKEN) {
        if (is_chosen)
            chosen->answered = true;
        al_screen_list_again(session);
        al_screen_note(session, "Answered: %s", reply->id);
        return;
    }
    if (is_chosen)
        chosen->sent = false;
    al_screen_note(session, "%s: %s", reply->id,
                   reply->message ? reply->message : "it no longer waits");
}

/* What cannot be shown.  Each is borrowed until its source is read again. */
static void take_problem(struct al_screen_session *session)
{
    const char *problem = al_review_door_problem(session->door);

    session->view.problem = problem ? problem : al_overview_get(session->overview)->problem;
}

void al_screen_session_run_door(struct al_screen_session *session)
{
    const unsigned changes = al_review_door_run(session->door);
    struct al_screen_view *view = &session->view;
    struct al_review_reply reply;

    while (al_review_door_next_reply(session->door, &reply)) {
        take_reply(session, &reply);
        al_review_reply_clear(&reply);
    }
    if (changes & AL_DOOR_QUESTIONS) {
        tell(session);
        al_screen_session_refresh(session);
    }
    if (changes & AL_DOOR_TEXTS)
        take_text(session);
    take_problem(session);
    view->knows_all = al_review_door_is_settled(session->door);
    session->tells = session->tells || view->knows_all;
}

void al_screen_session_refresh(struct al_screen_session *session)
{
    (void)al_overview_refresh(session->overview, al_review_door_questions(session->door));
    take_problem(session);
    al_screen_list_again(session);
}

/* --- Children --- */

void al_screen_start_job(struct al_screen_session *session,
                         const struct al_review_job_request *request, const char *pending)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    end_lookup(session);
    if (al_review_job_start(session->setup, request, &session->job, &err) < 0) {
        al_screen_note(session, "%s", err.message);
        return;
    }
    session->job_kind = request->kind;
    session->job_seq = request->seq;
    session->view.pending = pending;
}

void al_screen_session_start_due(struct al_screen_session *session)
{
    struct al_review_job_request request = { .kind = AL_REVIEW_JOB_CHANGES };
    const struct al_screen_row *row;

    if (!session->job_due_ms || session->job || al_clock_ms() < session->job_due_ms)
        return;
    session->job_due_ms = 0;
    if (session->view.chosen.gone)
        return;
    row = &session->view.list.rows[session->view.chosen.row];
    if (row->staged) {
        request.kind = AL_REVIEW_JOB_STAGED;
        request.staged = row->staged->id;
    } else {
        request.repository = row->call->path;
        request.seq = row->call->seq;
    }
    al_screen_start_job(session, &request, "Looking up what changed ...");
}

/* Show the text of a child behind what is known. */
static void append_text(struct al_screen_session *session, const struct al_str *found)
{
    struct al_page *page = &session->view.page;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_add(&text, page->text.buf, page->text.len);
    if (text.len)
        al_str_adds(&text, text.buf[text.len - 1] == '\n' ? "\n" : "\n\n");
    al_str_add(&text, found->buf, found->len);
    al_page_set_text(page, text.buf, text.len);
}

/* A rollback has ended.  The user may look at another entry by now, which keeps its own text. */
static void end_rollback(struct al_screen_session *session, const struct al_str *text,
                         bool succeeded)
{
    const struct al_screen_chosen *chosen = &session->view.chosen;

    if (chosen->kind == AL_ENTRY_EXECUTION && strtoull(chosen->key, NULL, 10) == session->job_seq)
        al_page_set_text(&session->view.page, text->buf, text->len);
    al_screen_note(session,
                   succeeded ? "Rolled back to before execution %" PRIu64
                             : "Execution %" PRIu64 " was not rolled back; u says why",
                   session->job_seq);
}

void al_screen_session_run_job(struct al_screen_session *session)
{
    struct al_screen_view *view = &session->view;
    const struct al_str *text;
    bool succeeded;

    if (!session->job || !al_review_job_run(session->job))
        return;
    text = al_review_job_text(session->job);
    succeeded = al_review_job_succeeded(session->job);
    view->pending = NULL;
    if (session->job_kind == AL_REVIEW_JOB_PREVIEW) {
        al_page_set_text(&view->page, text->buf, text->len);
        view->previewed = succeeded;
        session->fresh = true;
    } else if (session->job_kind == AL_REVIEW_JOB_ROLL_BACK) {
        end_rollback(session, text, succeeded);
    } else {
        append_text(session, text);
    }
    al_review_job_free(session->job);
    session->job = NULL;
}
