// SPDX-License-Identifier: Apache-2.0
/* What the keys of the screen do. */
#include "cli/review/screen/act.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/review/screen/draw.h"

static void choose_by(struct al_screen_session *session, int by)
{
    struct al_screen_view *view = &session->view;
    const bool none = view->chosen.kind == AL_ENTRY_NONE;
    const size_t row = al_screen_list_step(&view->list, none ? 0 : view->chosen.row,
                                           none || view->chosen.gone, by);

    if (row != SIZE_MAX && (row != view->chosen.row || view->chosen.gone || none))
        al_screen_choose(session, row, false);
}

static void scroll(struct al_screen_session *session, struct al_screen_action action)
{
    struct al_screen_view *view = &session->view;
    const size_t columns = al_screen_page_columns(view), rows = (size_t)view->layout.text.rows;

    if (action.what == AL_DO_SCROLL)
        al_page_scroll(&view->page, columns, rows, action.by);
    else if (action.by == INT_MIN)
        al_page_to_begin(&view->page);
    else if (action.by == INT_MAX)
        al_page_to_end(&view->page, columns, rows);
    else
        al_page_scroll(&view->page, columns, rows, action.by * (long)(rows > 1 ? rows - 1 : 1));
}

static void answer(struct al_screen_session *session, enum al_answer decision)
{
    struct al_screen_view *view = &session->view;
    const char *reason = view->state.input.len ? view->state.input.buf : NULL;

    view->chosen.sent = true;
    view->pending = "Answering ...";
    (void)al_review_door_answer(session->door, view->chosen.key, decision,
                                decision == AL_ANSWER_REJECT ? reason : NULL);
}

/* The execution that is chosen; NULL: it is no longer kept. */
static const struct al_overview_call *chosen_call(const struct al_screen_session *session)
{
    return al_overview_find(session->overview, strtoull(session->view.chosen.key, NULL, 10));
}

static void start_rollback(struct al_screen_session *session, enum al_review_job_kind kind)
{
    const struct al_overview_call *call = chosen_call(session);
    struct al_review_job_request request = { .kind = kind };
    struct al_screen_view *view = &session->view;
    const bool looks = kind == AL_REVIEW_JOB_PREVIEW;

    view->previewed = false;
    if (!call || (session->job && session->job_kind == AL_REVIEW_JOB_ROLL_BACK)) {
        view->state.mode = AL_SCREEN_BROWSE;
        al_screen_note(session, call ? "A rollback runs; wait for it"
                                     : "This execution is no longer listed");
        return;
    }
    if (looks)
        session->newest = al_overview_newest(session->overview, call->path);
    request.repository = call->path;
    request.seq = call->seq;
    request.newest = session->newest;
    al_page_set_text(&view->page, "", 0);
    al_page_to_begin(&view->page);
    al_strv_clear(&view->page.about);
    al_strv_addf(&view->page.about,
                 looks ? "What going back to before execution %s would change:"
                       : "Going back to before execution %s:",
                 view->chosen.key);
    al_strv_add(&view->page.about, "");
    al_screen_start_job(session, &request,
                        looks ? "Looking up what would change ..." : "Rolling back ...");
}

static void quit(struct al_screen_session *session)
{
    if (session->job && session->job_kind == AL_REVIEW_JOB_ROLL_BACK)
        al_screen_note(session, "A rollback runs; wait for it");
    else
        session->ends = true;
}

static void leave_preview(struct al_screen_session *session)
{
    if (!session->view.chosen.gone)
        al_screen_show_entry(session);
}

static void act(struct al_screen_session *session, struct al_screen_action action)
{
    switch (action.what) {
    case AL_DO_SELECT:
        choose_by(session, action.by);
        break;
    case AL_DO_SCROLL:
    case AL_DO_PAGE:
        scroll(session, action);
        break;
    case AL_DO_APPROVE:
        answer(session, AL_ANSWER_ONCE);
        break;
    case AL_DO_ALWAYS:
        answer(session, AL_ANSWER_ALWAYS);
        break;
    case AL_DO_REJECT:
        answer(session, AL_ANSWER_REJECT);
        break;
    case AL_DO_PREVIEW:
        start_rollback(session, AL_REVIEW_JOB_PREVIEW);
        break;
    case AL_DO_ROLL_BACK:
        start_rollback(session, AL_REVIEW_JOB_ROLL_BACK);
        break;
    case AL_DO_LEAVE_PREVIEW:
        leave_preview(session);
        break;
    case AL_DO_FILTER:
    case AL_DO_CHANGES:
        al_screen_list_again(session);
        break;
    case AL_DO_QUIT:
        quit(session);
        break;
    case AL_DO_NOTHING:
    case AL_DO_SUSPEND:
    case AL_DO_REDRAW:
    default:
        break;
    }
}

struct al_screen_action al_screen_session_press(struct al_screen_session *session,
                                                struct al_screen_key key)
{
    struct al_screen_view *view = &session->view;
    const struct al_screen_look look = al_screen_view_look(view);
    struct al_screen_action action;

    free(al_take(&view->notice));
    action = al_screen_press(&view->state, &look, key);
    act(session, action);
    return action;
}
