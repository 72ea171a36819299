// SPDX-License-Identifier: Apache-2.0
#include "review/screen/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "base/clock.h"
#include "review/screen/private.h"

/* Keys that are taken together. */
#define BATCH 64

/* How often the model is read when nothing reports changes, in milliseconds. */
#define REFRESH_MS 2000

/* Input that is announced so often, and is never there: the terminal is gone. */
#define EMPTY_READS_MAX 16

#define EXIT_SIGNAL     128

struct loop {
    struct al_terminal *terminal;
    struct al_screen_session session;
    bool crowded;    /* the last keys were as many as are taken together: there may be more */
    unsigned nempty; /* reads in a row that gave nothing */
    int signal;      /* that ends the screen; 0: none has */
};

enum { KEYS, SIGNALS, DOOR, MODEL, JOB, NWAITS };

static void press(struct loop *loop, struct al_screen_key key)
{
    const struct al_screen_action action = al_screen_session_press(&loop->session, key);

    if (action.what == AL_DO_SUSPEND)
        al_terminal_suspend(loop->terminal);
    else if (action.what == AL_DO_REDRAW)
        al_terminal_restart(loop->terminal);
}

/* Take the keys that are there.  `early`: they were typed before the screen was last drawn. */
static void take_keys(struct loop *loop, bool early)
{
    struct al_screen_key keys[BATCH];
    size_t count = 0;
    bool is_alone;

    while (count < BATCH && al_terminal_next_key(loop->terminal, &keys[count]))
        count++;
    is_alone = count == 1 && !early && !loop->crowded;
    loop->nempty = count || early ? 0 : loop->nempty + 1;
    for (size_t i = 0; i < count && !loop->session.ends; i++) {
        keys[i].alone = is_alone;
        press(loop, keys[i]);
    }
    loop->crowded = count == BATCH;
}

static void take_signals(struct loop *loop)
{
    int number = 0;

    switch (al_terminal_take_signals(loop->terminal, &number)) {
    case AL_EVENT_SUSPEND:
        al_terminal_suspend(loop->terminal);
        break;
    case AL_EVENT_REDRAW:
        al_terminal_restart(loop->terminal);
        break;
    case AL_EVENT_END:
        loop->signal = number;
        break;
    case AL_EVENT_NONE:
    default:
        break;
    }
}

/* How long to wait in milliseconds; -1: until something happens. */
static int timeout_of(const struct loop *loop, int model_fd)
{
    const struct al_screen_session *session = &loop->session;
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

static void wait_and_run(struct loop *loop)
{
    struct al_screen_session *session = &loop->session;
    const int model_fd = session->model->fd;
    struct pollfd waits[NWAITS] = {
        [KEYS] = { .fd = al_terminal_key_fd(loop->terminal), .events = POLLIN },
        [SIGNALS] = { .fd = al_terminal_signal_fd(loop->terminal), .events = POLLIN },
        [DOOR] = { .fd = al_review_door_fd(session->door), .events = POLLIN },
        [MODEL] = { .fd = model_fd, .events = POLLIN },
        [JOB] = { .fd = session->job ? al_review_job_fd(session->job) : -1, .events = POLLIN },
    };
    const int n = poll(waits, NWAITS, timeout_of(loop, model_fd));

    if (n < 0 && errno != EINTR)
        loop->signal = SIGHUP;
    if (n < 0)
        return;
    if (waits[SIGNALS].revents)
        take_signals(loop);
    if (waits[DOOR].revents)
        al_screen_session_run_door(session);
    if (waits[MODEL].revents || (model_fd < 0 && n == 0))
        al_screen_session_refresh(session);
    if (waits[JOB].revents)
        al_screen_session_run_job(session);
    al_screen_session_start_due(session);
    /* Another entry is shown only once it is drawn: keys that are there belong to the one before.
     */
    if ((waits[KEYS].revents & POLLIN) && !session->fresh)
        take_keys(loop, false);
    if ((waits[KEYS].revents & (POLLHUP | POLLERR | POLLNVAL)) || loop->nempty > EMPTY_READS_MAX)
        loop->signal = SIGHUP;
}

static void run(struct loop *loop)
{
    struct al_screen_session *session = &loop->session;

    al_screen_session_run_door(session);
    while (!session->ends && !loop->signal) {
        const bool fresh = session->fresh;

        session->fresh = false;
        al_screen_draw(loop->terminal, &session->view);
        if (session->rings)
            al_terminal_ring(loop->terminal);
        session->rings = false;
        if (fresh)
            take_keys(loop, true);
        else
            wait_and_run(loop);
    }
}

int al_review_screen(const struct al_setup *setup, const struct al_strv *dirs, struct al_error *err)
{
    struct loop loop = { .terminal = NULL };
    int r = al_screen_session_open(&loop.session, setup, dirs, err);

    if (r == 0)
        r = al_terminal_open(&loop.terminal, err);
    if (r == 0)
        run(&loop);
    al_terminal_close(loop.terminal);
    al_screen_session_clear(&loop.session);
    return r < 0 ? r : loop.signal ? EXIT_SIGNAL + loop.signal : 0;
}
