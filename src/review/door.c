// SPDX-License-Identifier: Apache-2.0
#include "review/door.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "guard/text.h"
#include "review/door_private.h"
#include "review/message.h"
#include "util/clock.h"
#include "util/fs.h"

/* The directories of the sockets, and the connections to the processes in them. */

/* Names that are looked at in one directory. */
#define NAMES_MAX 4096

/* A process that has a socket listens on it within some milliseconds. */
#define FIRST_RETRY_MS   10
#define ATTEMPTS_DOUBLED 9

/* A process may have no room for connections that often. */
#define BUSY_MAX 4

static void set_problem(char **problem, const char *text)
{
    char *copy = text ? al_text_join_lines(text) : NULL;

    free(*problem);
    *problem = copy;
}

/* Have events of a directory, by way of its descriptor: its name may be another one's by now. */
static void watch_dir(const struct al_review_door *door, const struct al_door_dir *dir)
{
    char path[40];

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", dir->fd);
    /* Without events the directory is looked at every AL_DOOR_LOOK_MS. */
    (void)inotify_add_watch(door->inotify_fd, path, IN_CREATE | IN_MOVED_TO | IN_DELETE);
}

static void open_dir(struct al_review_door *door, struct al_door_dir *dir)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const bool is_last = dir == &door->dirs[door->ndirs - 1];
    const int r = al_review_place_open(dir->path, true, is_last, &dir->fd, &err);

    set_problem(&dir->problem, r < 0 && (r != AL_ERR_NOT_FOUND || is_last) ? err.message : NULL);
    if (r < 0)
        return;
    watch_dir(door, dir);
    dir->lock_fd = al_review_place_attend(dir->fd, dir->lock);
    if (dir->lock_fd < 0) {
        al_auto(al_freep) char *why =
            al_asprintf("cannot write to '%s': %s", dir->path, strerrordesc_np(-dir->lock_fd));

        set_problem(&dir->problem, why);
    }
}

static void close_dir(struct al_door_dir *dir)
{
    if (dir->lock_fd >= 0)
        al_review_place_leave(dir->fd, dir->lock, al_take_fd(&dir->lock_fd));
    al_close(al_take_fd(&dir->fd));
}

static struct al_review_process *find(const struct al_review_door *door, size_t dir, pid_t pid)
{
    struct al_review_process *process = door->processes;

    while (process && !(process->pid == pid && process->dir == dir))
        process = process->next;
    return process;
}

static void note_socket(struct al_review_door *door, size_t dir, pid_t pid)
{
    struct al_review_process *process = find(door, dir, pid);

    if (!process && door->nprocesses == AL_DOOR_PROCESSES_MAX) {
        door->crowded = true;
        return;
    }
    if (!process) {
        process = al_review_process_new(pid, dir);
        process->next = door->processes;
        door->processes = process;
        door->nprocesses++;
    }
    process->exists = true;
}

static void look_at(struct al_review_door *door, size_t index)
{
    struct al_door_dir *dir = &door->dirs[index];
    al_auto(al_closedirp) DIR *names = NULL;
    const struct dirent *entry;
    struct stat st;

    if (dir->fd >= 0 && (fstat(dir->fd, &st) < 0 || st.st_nlink == 0))
        close_dir(dir); /* it was removed; another one may be made */
    if (dir->fd < 0)
        open_dir(door, dir);
    if (dir->fd < 0)
        return;
    names = al_fs_list_at(dir->fd);
    for (int i = 0; names && i < NAMES_MAX && (entry = readdir(names)); i++)
        if (al_review_place_owner(entry->d_name))
            note_socket(door, index, al_review_place_owner(entry->d_name));
}

void al_door_look(struct al_review_door *door)
{
    door->crowded = false;
    for (struct al_review_process *at = door->processes; at; at = at->next)
        at->exists = false;
    for (size_t i = 0; i < door->ndirs; i++)
        look_at(door, i);
    for (struct al_review_process **at = &door->processes; *at;) {
        struct al_review_process *process = *at;

        if (process->exists || process->fd >= 0) {
            at = &process->next;
            continue;
        }
        *at = process->next;
        door->nprocesses--;
        al_review_process_free(process);
    }
    door->look_ms = al_clock_ms() + AL_DOOR_LOOK_MS;
}

static void try_later(struct al_review_process *process, int64_t now_ms)
{
    if (process->attempts < ATTEMPTS_DOUBLED)
        process->due_ms = now_ms + ((int64_t)FIRST_RETRY_MS << process->attempts++);
    else
        process->due_ms = now_ms + AL_DOOR_RETRY_MS;
}

static void connect_to(struct al_review_door *door, struct al_review_process *process,
                       int64_t now_ms)
{
    static const char request[] = "{\"do\":\"attach\"}\n";
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT, .data.ptr = process };
    const struct al_door_dir *dir = &door->dirs[process->dir];
    const int fd = dir->fd < 0 ? -ENOENT : al_review_place_connect(dir->fd, process->pid);

    if (fd >= 0 && epoll_ctl(door->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0) {
        al_review_process_reset(process);
        process->fd = fd;
        process->due_ms = now_ms + AL_DOOR_STALL_MS;
        al_str_adds(&process->out, request);
        return;
    }
    al_close(fd);
    try_later(process, now_ms);
    if (fd != -ENOENT && fd != -ECONNREFUSED && (fd != -EAGAIN || process->attempts > BUSY_MAX)) {
        al_auto(al_freep) char *why = al_asprintf("process %ld cannot be asked: %s",
                                                  (long)process->pid, strerrordesc_np(-fd));

        set_problem(&process->problem, why);
    }
}

void al_door_keep_times(struct al_review_door *door, int64_t now_ms)
{
    for (struct al_review_process *at = door->processes; at; at = at->next) {
        if (at->due_ms > now_ms || (at->fd >= 0 && at->listed))
            continue;
        if (at->fd >= 0) {
            al_auto(al_freep) char *why = al_asprintf("process %ld does not answer", (long)at->pid);

            al_door_let_go(door, at, why);
        } else {
            connect_to(door, at, now_ms);
        }
    }
}

void al_door_let_go(struct al_review_door *door, struct al_review_process *process,
                    const char *problem)
{
    const int64_t now_ms = al_clock_ms();

    /* Closing it is not enough: a child that is being started has a copy until its execve. */
    (void)epoll_ctl(door->epoll_fd, EPOLL_CTL_DEL, process->fd, NULL);
    al_close(al_take_fd(&process->fd));
    al_review_process_reset(process);
    al_door_end_requests(door, process, problem);
    for (size_t i = 0; i < door->questions.count; i++)
        if (door->questions.items[i].pid == process->pid)
            al_door_forget_text(door, al_json_get_string(door->questions.items[i].entry, "id"));
    if (al_review_list_remove(&door->questions, process->pid, NULL))
        door->changes |= AL_DOOR_QUESTIONS;
    if (problem || !process->problem)
        set_problem(&process->problem, problem);
    if (process->problem)
        process->due_ms = now_ms + AL_DOOR_RETRY_MS;
    else
        try_later(process, now_ms);
    door->look_ms = now_ms; /* its socket may be gone */
}

void al_door_run_process(struct al_review_door *door, struct al_review_process *process)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = process };
    const int fd = process->fd;
    const bool lives = al_review_process_run(process);

    al_door_serve_lines(door, process);
    if (process->fd != fd)
        return; /* it was let go */
    if (!lives) {
        al_door_let_go(door, process, NULL);
        return;
    }
    if (process->nsent < process->out.len)
        event.events |= EPOLLOUT;
    (void)epoll_ctl(door->epoll_fd, EPOLL_CTL_MOD, fd, &event);
}

void al_door_leave(struct al_review_door *door)
{
    while (door->processes) {
        struct al_review_process *process = door->processes;

        door->processes = process->next;
        al_close(process->fd);
        al_review_process_free(process);
    }
    for (size_t i = 0; i < door->ndirs; i++) {
        close_dir(&door->dirs[i]);
        free(door->dirs[i].path);
        free(door->dirs[i].problem);
    }
    free(door->dirs);
}

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
