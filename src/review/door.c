// SPDX-License-Identifier: Apache-2.0
#include "review/door.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "guard/text.h"
#include "review/door_private.h"
#include "review/message.h"
#include "util/clock.h"

/* What is handled before the caller looks at other things. */
#define EVENTS_MAX 256

static bool watch(const struct al_review_door *door, int fd)
{
    struct epoll_event event = { .events = EPOLLIN };

    return fd >= 0 && epoll_ctl(door->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

void al_door_kick(const struct al_review_door *door)
{
    const uint64_t one = 1;

    (void)!write(door->kick_fd, &one, sizeof(one));
}

struct al_review_door *al_review_door_new(const struct al_strv *dirs)
{
    struct al_review_door *door = al_calloc(1, sizeof(*door));

    door->ndirs = dirs->count;
    door->dirs = al_calloc(dirs->count + 1, sizeof(*door->dirs));
    for (size_t i = 0; i < dirs->count; i++)
        door->dirs[i] =
            (struct al_door_dir){ .path = al_strdup(dirs->items[i]), .fd = -1, .lock_fd = -1 };
    door->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    door->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    door->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    door->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!watch(door, door->inotify_fd) || !watch(door, door->timer_fd) ||
        !watch(door, door->kick_fd)) {
        const int error = errno;

        al_review_door_free(door);
        errno = error;
        return NULL;
    }
    al_door_look(door);
    al_door_kick(door);
    return door;
}

void al_review_door_free(struct al_review_door *door)
{
    if (!door)
        return;
    al_door_clear_requests(door);
    al_door_leave(door);
    al_review_list_clear(&door->questions);
    al_close(door->kick_fd);
    al_close(door->timer_fd);
    al_close(door->inotify_fd);
    al_close(door->epoll_fd);
    free(door->problem);
    free(door);
}

int al_review_door_fd(const struct al_review_door *door)
{
    return door->epoll_fd;
}

const struct al_review_list *al_review_door_questions(const struct al_review_door *door)
{
    return &door->questions;
}

bool al_review_door_is_settled(const struct al_review_door *door)
{
    for (const struct al_review_process *at = door->processes; at; at = at->next)
        if (!at->listed && !at->problem && at->attempts < 2)
            return false;
    return true;
}

const char *al_review_door_problem(const struct al_review_door *door)
{
    return door->problem;
}

/* --- Lines --- */

static void let_go_saying(struct al_review_door *door, struct al_review_process *process,
                          const char *what)
{
    al_auto(al_freep) char *why = al_asprintf("process %ld %s", (long)process->pid, what);

    al_door_let_go(door, process, why);
}

/* What is wrong with one question more of the process; NULL: nothing. */
static const char *check_room(const struct al_review_door *door,
                              const struct al_review_process *process, size_t len)
{
    size_t count = 0, bytes = len;

    for (size_t i = 0; i < door->questions.count; i++) {
        count += door->questions.items[i].pid == process->pid;
        bytes += door->questions.items[i].len;
    }
    if (count >= AL_REVIEW_ENTRIES_MAX)
        return "has more questions than it may";
    return bytes > AL_DOOR_QUESTIONS_MAX_BYTES ? "has longer questions than fit here" : NULL;
}

/* What is wrong with the line; NULL: nothing. */
static const char *serve_line(struct al_review_door *door, struct al_review_process *process,
                              const json_t *line, size_t len)
{
    const char *gone = al_json_get_string(line, "gone"), *problem = NULL;

    if (al_door_serve_answer(door, process, line))
        return NULL;
    if (json_object_get(line, "entry")) {
        problem = check_room(door, process, len);
        if (!problem && !al_review_list_add(&door->questions, process->pid, line, len))
            problem = "has a question that cannot be shown; its version may be another one";
        door->changes |= AL_DOOR_QUESTIONS;
        return problem;
    }
    if (gone) {
        if (al_review_list_remove(&door->questions, process->pid, gone))
            door->changes |= AL_DOOR_QUESTIONS;
        al_door_forget_text(door, gone);
        return NULL;
    }
    if (!json_is_true(json_object_get(line, "end")))
        return "says what airlock review does not know; its version may be another one";
    process->listed = true;
    free(al_take(&process->problem));
    return NULL;
}

/* The process refuses, and says why. */
static bool serve_refusal(struct al_review_door *door, struct al_review_process *process,
                          const json_t *line)
{
    const char *why = al_json_get_string(line, "error");
    al_auto(al_freep) char *what = why ? al_asprintf("refuses: %s", why) : NULL;

    if (!why || json_object_get(line, "ticket"))
        return false;
    let_go_saying(door, process, what);
    return true;
}

void al_door_serve_lines(struct al_review_door *door, struct al_review_process *process)
{
    size_t at = 0, begin = 0;
    json_t *found;

    while (al_review_process_line(process, &at, &found)) {
        al_auto(al_json_decrefp) json_t *line = found;
        const char *problem;

        if (serve_refusal(door, process, line))
            return;
        problem = serve_line(door, process, line, at - begin);
        if (problem) {
            let_go_saying(door, process, problem);
            return;
        }
        begin = at;
    }
    al_review_process_taken(process, at);
    if (process->in.len > AL_REVIEW_LINE_MAX_BYTES)
        let_go_saying(door, process, "sends a longer line than it may");
}

/* --- The loop --- */

static void drain(struct al_review_door *door)
{
    char events[4096];
    uint64_t count;

    (void)!read(door->kick_fd, &count, sizeof(count));
    (void)!read(door->timer_fd, &count, sizeof(count));
    while (read(door->inotify_fd, events, sizeof(events)) > 0)
        door->look_ms = 0;
}

/* When something is due next: a request, an attempt, a look at the directories. */
static int64_t next_due(const struct al_review_door *door, int64_t requests_ms)
{
    int64_t due_ms = requests_ms < door->look_ms ? requests_ms : door->look_ms;

    for (const struct al_review_process *at = door->processes; at; at = at->next)
        if (!(at->fd >= 0 && at->listed) && at->due_ms < due_ms)
            due_ms = at->due_ms;
    return due_ms;
}

static void arm_timer(const struct al_review_door *door, int64_t due_ms)
{
    /* A time of zero would stop the timer. */
    const int64_t at_ms = due_ms > 0 ? due_ms : 1;
    const struct itimerspec timer = { .it_value = { .tv_sec = at_ms / 1000,
                                                    .tv_nsec = at_ms % 1000 * 1000000 } };

    (void)timerfd_settime(door->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL);
}

/* What al_review_door_problem() says from now on. */
static void update_problem(struct al_review_door *door)
{
    const char *problem = door->crowded ? "more processes have questions than can be asked" : NULL;

    for (size_t i = 0; i < door->ndirs && !problem; i++)
        problem = door->dirs[i].problem;
    for (const struct al_review_process *at = door->processes; at && !problem; at = at->next)
        problem = at->problem;
    if (problem ? door->problem && !strcmp(door->problem, problem) : !door->problem)
        return;
    free(door->problem);
    door->problem = al_strdup(problem);
    door->changes |= AL_DOOR_PROBLEMS;
}

static void send_all(struct al_review_door *door)
{
    for (struct al_review_process *at = door->processes; at; at = at->next)
        if (at->fd >= 0 && at->nsent < at->out.len)
            al_door_run_process(door, at);
}

unsigned al_review_door_run(struct al_review_door *door)
{
    struct epoll_event event;
    int64_t requests_ms;
    unsigned changes;

    /* One event at a time: a process that was let go has no further event. */
    for (int i = 0; i < EVENTS_MAX && epoll_wait(door->epoll_fd, &event, 1, 0) == 1; i++) {
        if (event.data.ptr)
            al_door_run_process(door, event.data.ptr);
        else
            drain(door);
    }
    if (door->look_ms <= al_clock_ms())
        al_door_look(door);
    al_door_keep_times(door, al_clock_ms());
    requests_ms = al_door_end_late_requests(door, al_clock_ms());
    al_door_send_text_requests(door);
    send_all(door);
    update_problem(door);
    arm_timer(door, next_due(door, requests_ms));
    changes = door->changes;
    door->changes = 0;
    return changes;
}
