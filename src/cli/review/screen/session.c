// SPDX-License-Identifier: Apache-2.0
#include "cli/review/screen/session.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/review/screen/draw.h"
#include "cli/review/screen/list.h"
#include "proc/proc.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/str.h"

/* "label     value", unless there is no value. */
static void add(struct al_strv *lines, const char *label, const char *value)
{
    if (value && *value)
        al_strv_addf(lines, "%-11s%s", label, value);
}

static void about_question(const struct al_review_waiting *question, struct al_strv *lines)
{
    static const char *const labels[][2] = {
        { "repository", "repository" },
        { "tool", "tool" },
        { "operation", "operation" },
        { "risk", "risk" },
        { "why", "why" },
        { "agent", "agent" },
        { "client", "client" },
        { "asked", "time" },
        { "until", "deadline" },
    };

    add(lines, "id", al_json_get_string(question->entry, "id"));
    for (size_t i = 0; i < AL_COUNT(labels); i++)
        add(lines, labels[i][0], al_json_get_string(question->entry, labels[i][1]));
    add(lines, "always", question->always);
}

static void about_call(const struct al_overview_call *call, struct al_strv *lines)
{
    al_auto(al_freep) char *seq = call->seq ? al_asprintf("%" PRIu64, call->seq) : NULL;
    al_auto(al_freep) char *process = call->pid ? al_asprintf("%ld", call->pid) : NULL;
    al_auto(al_freep) char *tool =
        al_asprintf("%s%s%s", call->tool, *call->operation ? ", " : "", call->operation);
    al_auto(al_freep) char *took =
        call->seq ? al_asprintf("%" PRId64 " ms", call->duration_ms) : NULL;
    al_auto(al_freep) char *decided =
        al_asprintf("%s%s%s", call->decision, *call->decided_by ? ", by " : "", call->decided_by);

    add(lines, "number", seq);
    add(lines, "process", process);
    add(lines, "repository", call->repository);
    add(lines, "tool", tool);
    add(lines, "agent", call->agent);
    add(lines, "began", call->time);
    if (!call->seq)
        return;
    add(lines, "took", took);
    add(lines, "decision", decided);
    add(lines, "outcome", call->outcome);
}

/* Append the lines about an entry; the first is its heading. */
static void screen_about(const struct al_screen_row *row, struct al_strv *lines)
{
    al_strv_add(lines, row->text ? row->text : "");
    if (row->question)
        about_question(row->question, lines);
    else if (row->call)
        about_call(row->call, lines);
    else if (row->staged)
        add(lines, "id", row->staged->id);
    if (row->staged) {
        add(lines, "staged", row->staged->time);
        add(lines, "worker", row->staged->worker);
    }
    al_strv_add(lines, "");
}

/* Append the text that is known at once: the excerpt of a question, the result of an execution. */
static void screen_first_text(const struct al_screen_row *row, struct al_str *text)
{
    const char *excerpt;

    if (row->call) {
        al_str_adds(text, row->call->result);
    } else if (row->staged) {
        al_str_adds(text, row->staged->text);
    } else if (row->question) {
        excerpt = al_json_get_string(row->question->entry, "text");
        al_str_adds(text, excerpt ? excerpt : "");
    }
}

/* Set the line for the user. */
static void screen_note(struct al_screen_session *session, const char *fmt, ...) al_printf(2, 3);

/* Choose an entry of the list.  `by_program`: the user did not ask for it. */
static void screen_choose(struct al_screen_session *session, size_t number, bool by_program);

/* Show the chosen entry, which is in the list, from its beginning. */
static void screen_show_entry(struct al_screen_session *session);

/* Make the list anew, and find the chosen entry in it. */
static void screen_list_again(struct al_screen_session *session);

/* Start a child in place of one that only looks something up. */
static void screen_start_job(struct al_screen_session *session,
                             const struct al_review_job_request *request, const char *pending);

/* What the keys of the screen do. */

static void choose_by(struct al_screen_session *session, int by)
{
    struct al_screen_view *view = &session->view;
    const bool none = view->chosen.kind == AL_ENTRY_NONE;
    const size_t row = al_screen_list_step(&view->list, none ? 0 : view->chosen.row,
                                           none || view->chosen.gone, by);

    if (row != SIZE_MAX && (row != view->chosen.row || view->chosen.gone || none))
        screen_choose(session, row, false);
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
        screen_note(session,
                    call ? "A rollback runs; wait for it" : "This execution is no longer listed");
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
    screen_start_job(session, &request,
                     looks ? "Looking up what would change ..." : "Rolling back ...");
}

static void quit(struct al_screen_session *session)
{
    if (session->job && session->job_kind == AL_REVIEW_JOB_ROLL_BACK)
        screen_note(session, "A rollback runs; wait for it");
    else
        session->ends = true;
}

static void leave_preview(struct al_screen_session *session)
{
    if (!session->view.chosen.gone)
        screen_show_entry(session);
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
        screen_list_again(session);
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

static void screen_note(struct al_screen_session *session, const char *fmt, ...)
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
        screen_note(session, "Not shown in full: %s", text->problem);
}

static void screen_show_entry(struct al_screen_session *session)
{
    struct al_screen_view *view = &session->view;
    const struct al_screen_row *row = &view->list.rows[view->chosen.row];
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    end_lookup(session);
    view->previewed = false;
    al_page_clear(&view->page);
    screen_about(row, &view->page.about);
    screen_first_text(row, &text);
    al_page_set_text(&view->page, text.buf, text.len);
    session->fresh = true;
    if (row->question) {
        al_review_door_ask_text(session->door, row->key);
        take_text(session);
    } else if (row->staged || (row->call && row->call->checkpointed)) {
        session->job_due_ms = al_clock_ms() + AL_SCREEN_REST_MS;
    }
}

static void screen_choose(struct al_screen_session *session, size_t number, bool by_program)
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
    screen_show_entry(session);
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
        screen_note(session, "%s no longer waits: it was answered elsewhere, or it is over",
                    chosen->key);
}

static void screen_list_again(struct al_screen_session *session)
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
        screen_choose(session, first, true);
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
    al_review_notify_send(
        session->notify, questions->count,
        al_json_get_string(questions->items[questions->count - 1].entry, "summary"));
}

static void take_reply(struct al_screen_session *session, const struct al_review_reply *reply)
{
    struct al_screen_chosen *chosen = &session->view.chosen;
    const bool is_chosen = chosen->kind == AL_ENTRY_QUESTION && !strcmp(chosen->key, reply->id);

    session->view.pending = NULL;
    if (reply->outcome == AL_REVIEW_TAKEN) {
        if (is_chosen)
            chosen->answered = true;
        screen_list_again(session);
        screen_note(session, "Answered: %s", reply->id);
        return;
    }
    if (is_chosen)
        chosen->sent = false;
    screen_note(session, "%s: %s", reply->id,
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
    screen_list_again(session);
}

/* --- Children --- */

static void screen_start_job(struct al_screen_session *session,
                             const struct al_review_job_request *request, const char *pending)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    end_lookup(session);
    if (al_review_job_start(session->setup, request, &session->job, &err) < 0) {
        screen_note(session, "%s", err.message);
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
    screen_start_job(session, &request, "Looking up what changed ...");
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
    screen_note(session,
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
