// SPDX-License-Identifier: Apache-2.0
/* The loop of the screen; and door, model and children, and how these change what is shown. */
#include "review/screen/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "proc/proc.h"
#include "review/screen/private.h"

/*
 * The things that the screen works on: the door to the questions, the overview of the rest, one
 * child at a time that looks up a text or rolls back; and how these change what is shown.
 *
 * - The chosen entry changes by the user, and by the program only when nothing is chosen, or when
 *   this screen has just answered what was.
 * - An answer names the entry that is shown, by its id.
 */

/* A question that the program chose itself can be answered only after so many milliseconds. */
#define SETTLE_MS 500

/* An entry has to stay chosen for this time before a child looks its text up. */
#define REST_MS 150

struct session {
    const struct al_setup *setup;
    struct al_terminal *terminal;
    struct al_review_door *door;
    struct al_model *model;
    struct al_review_notify *notify;
    struct al_screen_view view;
    struct al_review_job *job; /* NULL: none runs */
    enum al_review_job_kind job_kind;
    uint64_t job_seq;     /* the execution that the child is about; 0: none */
    int64_t job_due_ms;   /* the text of the chosen entry is looked up then; 0: it is not due */
    uint64_t newest;      /* the newest execution when a rollback was shown */
    struct al_strv known; /* the ids of the questions that the user was told about */
    bool fresh;           /* another entry is shown than when the screen was last drawn */
    bool tells;           /* what waited at the beginning is known: what comes from now on is new */
    bool rings;           /* the bell is due */
    bool crowded;         /* the last keys were as many as are taken together: there may be more */
    unsigned nempty;      /* reads in a row that gave nothing */
    bool ends;
    int signal; /* that ends the screen; 0: none has */
};

/* --- The list --- */

static void append(struct al_screen_list *list, const char *heading, const struct al_item *item)
{
    list->rows = al_grow(list->rows, list->count, sizeof(*list->rows));
    list->rows[list->count++] = (struct al_screen_row){ .heading = heading, .item = item };
}

/* Make the list anew. */
static void fill_list(struct session *session)
{
    static const char *const headings[AL_ITEM_KINDS] = {
        [AL_ITEM_QUESTION] = "Waiting for an answer",
        [AL_ITEM_RUNNING] = "Running",
        [AL_ITEM_STAGED] = "Staged commits",
        [AL_ITEM_EXECUTION] = "Lately",
    };
    const struct al_model *model = session->model;
    struct al_screen_list *list = &session->view.list;
    const struct al_screen_state *state = &session->view.state;

    list->count = 0;
    list->nwaiting = model->parts[AL_ITEM_QUESTION].count;
    list->nrunning = model->parts[AL_ITEM_RUNNING].count;
    for (enum al_item_kind kind = AL_ITEM_QUESTION; kind < AL_ITEM_KINDS; kind++) {
        const char *heading = kind == AL_ITEM_EXECUTION && state->only_changes
                                  ? "Lately (without what only read)"
                                  : headings[kind];

        for (size_t i = 0; i < model->parts[kind].count; i++) {
            const struct al_item *item = al_model_item(model, kind, i);

            if (!al_item_matches(item, state->filter.buf, state->only_changes))
                continue;
            if (heading)
                append(list, heading, NULL);
            heading = NULL;
            append(list, NULL, item);
        }
    }
}

/* The row of the chosen entry; SIZE_MAX: it is not in the list. */
static size_t find_row(const struct al_screen_view *view)
{
    for (size_t i = 0; i < view->list.count; i++) {
        const struct al_item *item = view->list.rows[i].item;

        if (item && item->kind == view->chosen.kind && !strcmp(item->key, view->chosen.key))
            return i;
    }
    return SIZE_MAX;
}

/* The entry after `row`, or before it. */
static size_t next_entry(const struct al_screen_list *list, size_t row, bool down)
{
    for (size_t at = row; down ? ++at < list->count : at-- > 0;)
        if (list->rows[at].item)
            return at;
    return SIZE_MAX;
}

/* The entry that is `by` entries from a row, as far as there are any; SIZE_MAX: there is none.  Of
 * one that has vanished, `row` is where it was: the entry that took its place is the first one
 * below it. */
static size_t step(const struct al_screen_list *list, size_t row, bool is_gone, int by)
{
    const bool down = by > 0;
    size_t at = row < list->count ? row : list->count, found = SIZE_MAX;

    if (is_gone && down && at > 0)
        at--; /* what is at its place counts as the next */
    for (long left = labs((long)by); left > 0; left--) {
        const size_t next = next_entry(list, at, down);

        if (next == SIZE_MAX)
            break;
        at = found = next;
    }
    if (found == SIZE_MAX && is_gone)
        found = next_entry(list, at, !down);
    return found;
}

static void add_fact(void *payload, const char *label, const char *value, const char *iso)
{
    (void)iso;
    al_strv_addf(payload, "%-11s%s", label, value);
}

/* Set the line for the user. */
static al_printf(2, 3) void note(struct session *session, const char *fmt, ...)
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

struct al_screen_look al_screen_view_look(const struct al_screen_view *view)
{
    const struct al_screen_chosen *chosen = &view->chosen;

    return (struct al_screen_look){
        .kind = chosen->kind,
        .waits = chosen->waits && !chosen->sent,
        .offers_always = chosen->offers_always,
        .settled = al_clock_ms() >= chosen->settles_ms,
        .can_roll_back = chosen->can_roll_back,
        .too_small = view->layout.too_small,
        .previewed = view->previewed,
    };
}

static void end_lookup(struct session *session)
{
    session->job_due_ms = 0;
    if (!session->job || session->job_kind == AL_REVIEW_JOB_ROLL_BACK)
        return;
    al_review_job_free(session->job);
    session->job = NULL;
    session->view.pending = NULL;
}

/* The text of a question in full, if it is there. */
static void take_text(struct session *session)
{
    struct al_screen_view *view = &session->view;
    const struct al_review_text *text;

    if (view->chosen.kind != AL_ITEM_QUESTION || !view->chosen.waits)
        return;
    text = al_review_door_text(session->door, view->chosen.key);
    if (text && text->complete && text->text.len)
        al_page_set_text(&view->page, text->text.buf, text->text.len);
    else if (text && text->problem)
        note(session, "Not shown in full: %s", text->problem);
}

/* Show the chosen entry, which is in the list, from its beginning. */
static void show_entry(struct session *session)
{
    struct al_screen_view *view = &session->view;
    const struct al_item *item = view->list.rows[view->chosen.row].item;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    end_lookup(session);
    view->previewed = false;
    al_page_clear(&view->page);
    al_strv_add(&view->page.head, al_item_title(item));
    if (item->kind == AL_ITEM_QUESTION)
        al_strv_addf(&view->page.head, "risk %s; %s", al_item_get(item, "risk"),
                     al_item_get(item, "why"));
    al_strv_add(&view->page.head, "");
    al_strv_add(&view->page.facts, "");
    al_item_facts(item, add_fact, &view->page.facts);
    al_item_add_text(item, &text);
    al_page_set_text(&view->page, text.buf, text.len);
    session->fresh = true;
    if (item->kind == AL_ITEM_QUESTION) {
        al_review_door_ask_text(session->door, item->key);
        take_text(session);
    } else if (item->kind == AL_ITEM_STAGED || item->checkpointed) {
        session->job_due_ms = al_clock_ms() + REST_MS;
    }
}

/* Choose an entry of the list.  `by_program`: the user did not ask for it. */
static void choose(struct session *session, size_t number, bool by_program)
{
    struct al_screen_view *view = &session->view;
    const struct al_item *item = view->list.rows[number].item;
    struct al_screen_chosen chosen = { .kind = item->kind, .row = number };

    memcpy(chosen.key, item->key, sizeof(chosen.key));
    chosen.waits = item->kind == AL_ITEM_QUESTION;
    chosen.offers_always = item->always;
    chosen.can_roll_back = item->checkpointed;
    chosen.settles_ms = by_program ? al_clock_ms() + SETTLE_MS : 0;
    view->chosen = chosen;
    show_entry(session);
}

/* Find the chosen entry in a list that was made anew. */
static void find_chosen(struct session *session)
{
    struct al_screen_view *view = &session->view;
    struct al_screen_chosen *chosen = &view->chosen;
    const size_t row = find_row(view);

    chosen->gone = row == SIZE_MAX;
    if (!chosen->gone)
        chosen->row = row;
    if (!chosen->waits || al_review_list_find(al_review_door_questions(session->door), chosen->key))
        return;
    chosen->waits = false;
    al_screen_vanished(&view->state);
    if (!chosen->sent)
        note(session, "%s no longer waits: it was answered elsewhere, or it is over", chosen->key);
}

/* Make the list anew, and find the chosen entry in it. */
static void list_again(struct session *session)
{
    struct al_screen_view *view = &session->view;
    size_t first = 1; /* the heading is before it */

    fill_list(session);
    if (view->chosen.kind != AL_ITEM_NONE)
        find_chosen(session);
    if (view->state.mode != AL_SCREEN_BROWSE ||
        (view->chosen.kind != AL_ITEM_NONE && !view->chosen.answered))
        return;
    /* The oldest question, but not the one that was just answered. */
    if (first < view->list.count && find_row(view) == first)
        first++;
    if (first < view->list.count && view->list.rows[first].item &&
        view->list.rows[first].item->kind == AL_ITEM_QUESTION)
        choose(session, first, true);
}

/* Start a child in place of one that only looks something up. */
static void start_job(struct session *session, enum al_review_job_kind kind,
                      const struct al_item *item, const char *pending)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    end_lookup(session);
    if (al_review_job_start(session->setup, kind, item, session->newest, &session->job, &err) < 0) {
        note(session, "%s", err.message);
        return;
    }
    session->job_kind = kind;
    session->job_seq = item->seq;
    session->view.pending = pending;
}

/* --- What the keys do --- */

static void choose_by(struct session *session, int by)
{
    struct al_screen_view *view = &session->view;
    const bool none = view->chosen.kind == AL_ITEM_NONE;
    const size_t row =
        step(&view->list, none ? 0 : view->chosen.row, none || view->chosen.gone, by);

    if (row != SIZE_MAX && (row != view->chosen.row || view->chosen.gone || none))
        choose(session, row, false);
}

static void scroll(struct session *session, struct al_screen_action action)
{
    struct al_screen_view *view = &session->view;
    const int rows = view->layout.text.rows;
    const long page = rows > 1 ? rows - 1 : 1;

    al_page_scroll(&view->page, al_screen_page_columns(view), (size_t)rows,
                   action.what == AL_DO_PAGE ? action.by * page : action.by);
}

static void answer(struct session *session, enum al_answer decision)
{
    struct al_screen_view *view = &session->view;
    const char *reason = view->state.input.len ? view->state.input.buf : NULL;

    view->chosen.sent = true;
    view->pending = "Answering ...";
    (void)al_review_door_answer(session->door, view->chosen.key, decision,
                                decision == AL_ANSWER_REJECT ? reason : NULL);
}

static void start_rollback(struct session *session, enum al_review_job_kind kind)
{
    const struct al_item *call =
        al_model_find(session->model, AL_ITEM_EXECUTION, session->view.chosen.key);
    struct al_screen_view *view = &session->view;
    const bool looks = kind == AL_REVIEW_JOB_PREVIEW;

    view->previewed = false;
    if (!call || (session->job && session->job_kind == AL_REVIEW_JOB_ROLL_BACK)) {
        view->state.mode = AL_SCREEN_BROWSE;
        note(session, call ? "A rollback runs; wait for it" : "This execution is no longer listed");
        return;
    }
    if (looks)
        session->newest = al_model_newest(session->model, call->path);
    al_page_clear(&view->page);
    al_strv_addf(&view->page.head,
                 looks ? "What going back to before execution %s would change:"
                       : "Going back to before execution %s:",
                 view->chosen.key);
    al_strv_add(&view->page.head, "");
    al_page_set_text(&view->page, "", 0);
    start_job(session, kind, call, looks ? "Looking up what would change ..." : "Rolling back ...");
}

static void quit(struct session *session)
{
    if (session->job && session->job_kind == AL_REVIEW_JOB_ROLL_BACK)
        note(session, "A rollback runs; wait for it");
    else
        session->ends = true;
}

static void act(struct session *session, struct al_screen_action action)
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
        if (!session->view.chosen.gone)
            show_entry(session);
        break;
    case AL_DO_FILTER:
    case AL_DO_CHANGES:
        list_again(session);
        break;
    case AL_DO_SUSPEND:
        al_terminal_suspend(session->terminal);
        break;
    case AL_DO_REDRAW:
        al_terminal_restart(session->terminal);
        break;
    case AL_DO_QUIT:
        quit(session);
        break;
    case AL_DO_NOTHING:
    default:
        break;
    }
}

static void press(struct session *session, struct al_screen_key key)
{
    struct al_screen_view *view = &session->view;
    const struct al_screen_look look = al_screen_view_look(view);

    free(al_take(&view->notice));
    act(session, al_screen_press(&view->state, &look, key));
}

/* Say which texts cannot be shown.  Each is borrowed until its source is read again. */
static void take_problem(struct session *session)
{
    const char *problem = al_review_door_problem(session->door);

    session->view.problem = problem ? problem : session->model->problem;
}

static void session_refresh(struct session *session)
{
    (void)al_model_refresh(session->model, al_review_door_questions(session->door));
    take_problem(session);
    list_again(session);
}

static int session_open(struct session *session, const struct al_setup *setup,
                        const struct al_strv *dirs, struct al_error *err)
{
    *session =
        (struct session){ .setup = setup, .view = AL_SCREEN_VIEW_INIT, .known = AL_STRV_INIT };
    if (al_proc_init(NULL, err) < 0) /* for children; before any thread is started */
        return AL_ERR_EXECUTION;
    session->door = al_review_door_new(dirs);
    if (!session->door)
        return al_error_errno(err, errno, "the questions cannot be watched");
    session->model = al_model_open(setup);
    session->notify = al_review_notify_new(setup->config.review.notify, NULL);
    session_refresh(session);
    return 0;
}

static void session_clear(struct session *session)
{
    al_review_job_free(session->job);
    al_review_notify_free(session->notify);
    al_model_close(session->model);
    al_review_door_free(session->door);
    al_screen_state_clear(&session->view.state);
    al_page_clear(&session->view.page);
    free(session->view.list.rows);
    free(session->view.notice);
    al_strv_clear(&session->known);
}

/* --- What comes --- */

/* Tell the user about questions that are new. */
static void tell(struct session *session)
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

static void take_reply(struct session *session, const struct al_review_reply *reply)
{
    struct al_screen_chosen *chosen = &session->view.chosen;
    const bool is_chosen = chosen->kind == AL_ITEM_QUESTION && !strcmp(chosen->key, reply->id);

    session->view.pending = NULL;
    if (reply->outcome == AL_REVIEW_TAKEN) {
        if (is_chosen)
            chosen->answered = true;
        list_again(session);
        note(session, "Answered: %s", reply->id);
        return;
    }
    if (is_chosen)
        chosen->sent = false;
    note(session, "%s: %s", reply->id, reply->message ? reply->message : "it no longer waits");
}

static void session_run_door(struct session *session)
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
        session_refresh(session);
    }
    if (changes & AL_DOOR_TEXTS)
        take_text(session);
    take_problem(session);
    view->knows_all = al_review_door_is_settled(session->door);
    session->tells = session->tells || view->knows_all;
}

/* --- Children --- */

static void session_start_due(struct session *session)
{
    const struct al_item *item;

    if (!session->job_due_ms || session->job || al_clock_ms() < session->job_due_ms)
        return;
    session->job_due_ms = 0;
    if (session->view.chosen.gone)
        return;
    item = session->view.list.rows[session->view.chosen.row].item;
    start_job(session, item->kind == AL_ITEM_STAGED ? AL_REVIEW_JOB_STAGED : AL_REVIEW_JOB_CHANGES,
              item, "Looking up what changed ...");
}

/* Show the text of a child behind what is known. */
static void append_text(struct session *session, const struct al_str *found)
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
static void end_rollback(struct session *session, const struct al_str *text, bool succeeded)
{
    const struct al_screen_chosen *chosen = &session->view.chosen;

    if (chosen->kind == AL_ITEM_EXECUTION && strtoull(chosen->key, NULL, 10) == session->job_seq)
        al_page_set_text(&session->view.page, text->buf, text->len);
    note(session,
         succeeded ? "Rolled back to before execution %" PRIu64
                   : "Execution %" PRIu64 " was not rolled back; u says why",
         session->job_seq);
}

static void session_run_job(struct session *session)
{
    struct al_screen_view *view = &session->view;
    const struct al_str *text;
    bool succeeded;

    if (!session->job || !al_review_job_has_ended(session->job))
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

/* --- The loop --- */

/* Keys that are taken together. */
#define BATCH 64

/* The time between two readings of the model when nothing reports changes, in milliseconds. */
#define REFRESH_MS 2000

/* Input that is announced so often, and is never there: the terminal is gone. */
#define EMPTY_READS_MAX 16

#define EXIT_SIGNAL     128

enum { KEYS, SIGNALS, DOOR, MODEL, JOB, NWAITS };

/* Take the keys that are there.  `early`: they were typed before the screen was last drawn. */
static void take_keys(struct session *session, bool early)
{
    struct al_screen_key keys[BATCH];
    size_t count = 0;
    bool is_alone;

    while (count < BATCH && al_terminal_next_key(session->terminal, &keys[count]))
        count++;
    is_alone = count == 1 && !early && !session->crowded;
    session->nempty = count || early ? 0 : session->nempty + 1;
    for (size_t i = 0; i < count && !session->ends; i++) {
        keys[i].alone = is_alone;
        press(session, keys[i]);
    }
    session->crowded = count == BATCH;
}

static void take_signals(struct session *session)
{
    int number;

    while (!session->signal && (number = al_terminal_next_signal())) {
        if (number == SIGTSTP)
            al_terminal_suspend(session->terminal);
        else if (number == SIGWINCH || number == SIGCONT)
            al_terminal_restart(session->terminal);
        else
            session->signal = number;
    }
}

/* The time to wait in milliseconds; -1: until something happens. */
static int timeout_of(const struct session *session, int model_fd)
{
    const int64_t now = al_clock_ms();
    int64_t until = model_fd < 0 ? now + REFRESH_MS : INT64_MAX;

    if (session->job_due_ms && !session->job && session->job_due_ms < until)
        until = session->job_due_ms;
    if (session->view.chosen.settles_ms > now && session->view.chosen.settles_ms < until)
        until = session->view.chosen.settles_ms;
    if (until == INT64_MAX)
        return -1;
    return until > now ? (int)(until - now) : 0;
}

static void wait_and_run(struct session *session)
{
    const int model_fd = session->model->fd;
    struct pollfd waits[NWAITS] = {
        [KEYS] = { .fd = al_terminal_key_fd(session->terminal), .events = POLLIN },
        [SIGNALS] = { .fd = al_terminal_signal_fd(), .events = POLLIN },
        [DOOR] = { .fd = al_review_door_fd(session->door), .events = POLLIN },
        [MODEL] = { .fd = model_fd, .events = POLLIN },
        [JOB] = { .fd = session->job ? al_review_job_fd(session->job) : -1, .events = POLLIN },
    };
    const int n = poll(waits, NWAITS, timeout_of(session, model_fd));

    if (n < 0 && errno != EINTR)
        session->signal = SIGHUP;
    if (n < 0)
        return;
    if (waits[SIGNALS].revents)
        take_signals(session);
    if (waits[DOOR].revents)
        session_run_door(session);
    if (waits[MODEL].revents || (model_fd < 0 && n == 0))
        session_refresh(session);
    if (waits[JOB].revents)
        session_run_job(session);
    session_start_due(session);
    /* Another entry is shown only once it is drawn: keys that are there belong to the one before.
     */
    if ((waits[KEYS].revents & POLLIN) && !session->fresh)
        take_keys(session, false);
    if ((waits[KEYS].revents & (POLLHUP | POLLERR | POLLNVAL)) || session->nempty > EMPTY_READS_MAX)
        session->signal = SIGHUP;
}

static void run(struct session *session)
{
    session_run_door(session);
    while (!session->ends && !session->signal) {
        const bool fresh = session->fresh;

        session->fresh = false;
        al_screen_draw(session->terminal, &session->view);
        if (session->rings)
            al_terminal_ring(session->terminal);
        session->rings = false;
        if (fresh)
            take_keys(session, true);
        else
            wait_and_run(session);
    }
}

int al_review_screen(const struct al_setup *setup, const struct al_strv *dirs, struct al_error *err)
{
    struct session session;
    int r = session_open(&session, setup, dirs, err);

    if (r == 0)
        r = al_terminal_open(&session.terminal, err);
    if (r == 0)
        run(&session);
    al_terminal_close(session.terminal);
    session_clear(&session);
    return r < 0 ? r : session.signal ? EXIT_SIGNAL + session.signal : 0;
}
