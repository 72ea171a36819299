// SPDX-License-Identifier: Apache-2.0
#include "review/door.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "guard/text.h"
#include "review/door_private.h"

/* The directories of the sockets, and the connections to the processes in them. */

/* Names that are looked at in one directory. */
#define NAMES_MAX 4096

/* A process that has a socket listens on it within some milliseconds. */
#define FIRST_RETRY_MS   10
#define ATTEMPTS_DOUBLED 9

/* A process may have no room for connections that often: some seconds. */
#define BUSY_MAX 7

/* The directories are looked at this often, in milliseconds, whether or not inotify says anything:
 * one may have been removed, and events may have been lost. */
#define LOOK_MS 5000

/* A process that was let go is tried again after this time in milliseconds. */
#define RETRY_MS 5000

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
    /* Without events the directory is looked at every LOOK_MS. */
    (void)inotify_add_watch(door->inotify_fd, path, IN_CREATE | IN_MOVED_TO | IN_DELETE);
}

static void open_dir(struct al_review_door *door, struct al_door_dir *dir)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const bool is_last = dir == &door->dirs[door->ndirs - 1];
    const int r =
        al_review_place_open(dir->path, door->attends, door->attends && is_last, &dir->fd, &err);
    const bool is_wrong = r < 0 && (r != AL_ERR_NOT_FOUND || (door->attends && is_last));

    set_problem(&dir->problem, is_wrong ? err.message : NULL);
    if (r < 0 || !door->attends)
        return;
    watch_dir(door, dir);
    dir->lock_fd = al_review_place_attend(dir->fd);
    if (dir->lock_fd < 0) {
        al_auto(al_freep) char *why =
            al_asprintf("cannot write to '%s': %s", dir->path, strerrordesc_np(-dir->lock_fd));

        set_problem(&dir->problem, why);
    }
}

static void close_dir(struct al_door_dir *dir)
{
    al_close(al_take_fd(&dir->lock_fd));
    al_close(al_take_fd(&dir->fd));
}

static void free_process(struct al_door_process *process)
{
    al_close(process->fd);
    al_reader_clear(&process->in);
    free(process->problem);
    free(process);
}

static void note_socket(struct al_review_door *door, size_t dir, pid_t pid)
{
    struct al_door_process *process = door->processes;

    while (process && !(process->pid == pid && process->dir == dir))
        process = process->next;
    if (!process && door->nprocesses == AL_DOOR_PROCESSES_MAX) {
        door->crowded = true;
        return;
    }
    if (!process) {
        process = al_calloc(1, sizeof(*process));
        *process = (struct al_door_process){
            .next = door->processes, .pid = pid, .dir = dir, .fd = -1, .in = AL_READER_INIT(-1)
        };
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

/* Look for processes that are new and for those that are gone. */
static void look(struct al_review_door *door)
{
    door->crowded = false;
    for (struct al_door_process *at = door->processes; at; at = at->next)
        at->exists = false;
    for (size_t i = 0; i < door->ndirs; i++)
        look_at(door, i);
    for (struct al_door_process **at = &door->processes; *at;) {
        struct al_door_process *process = *at;

        if (process->exists || process->fd >= 0) {
            at = &process->next;
            continue;
        }
        *at = process->next;
        door->nprocesses--;
        free_process(process);
    }
    door->look_ms = al_clock_ms() + LOOK_MS;
}

static void try_later(struct al_door_process *process, int64_t now_ms)
{
    if (process->attempts < ATTEMPTS_DOUBLED)
        process->due_ms = now_ms + ((int64_t)FIRST_RETRY_MS << process->attempts++);
    else
        process->due_ms = now_ms + RETRY_MS;
}

static void connect_to(struct al_review_door *door, struct al_door_process *process, int64_t now_ms)
{
    const struct al_review_request request = { .verb = door->attends ? AL_REVIEW_ATTACH
                                                                     : AL_REVIEW_LIST };
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = process };
    const struct al_door_dir *dir = &door->dirs[process->dir];
    const int fd = dir->fd < 0 ? -ENOENT : al_review_place_connect(dir->fd, process->pid);

    if (fd >= 0 && epoll_ctl(door->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0) {
        process->fd = process->in.fd = fd;
        process->due_ms = now_ms + AL_DOOR_STALL_MS;
        process->nbusy = 0;
        (void)al_door_send(process, &request); /* what it cannot be told, it does not answer */
        return;
    }
    al_close(fd);
    if (fd == -EAGAIN && process->nbusy < BUSY_MAX) {
        process->due_ms = now_ms + ((int64_t)FIRST_RETRY_MS << process->nbusy++);
        return;
    }
    try_later(process, now_ms);
    if (fd != -ENOENT && fd != -ECONNREFUSED) {
        al_auto(al_freep) char *why =
            al_asprintf("process %ld cannot be asked: %s", (long)process->pid,
                        fd == -EAGAIN ? "too many others ask it" : strerrordesc_np(-fd));

        set_problem(&process->problem, why);
    }
}

/* Let a process go that says, or does, what it must not. */
static void let_go_saying(struct al_review_door *door, struct al_door_process *process,
                          const char *what)
{
    al_auto(al_freep) char *why = al_asprintf("process %ld %s", (long)process->pid, what);

    al_door_let_go(door, process, why);
}

/* Connect to the processes whose time has come, let those go that do not answer. */
static void keep_times(struct al_review_door *door, int64_t now_ms)
{
    for (struct al_door_process *at = door->processes; at; at = at->next) {
        if (at->due_ms > now_ms || (at->fd >= 0 && at->listed))
            continue;
        if (at->fd >= 0)
            let_go_saying(door, at, "does not answer");
        else
            connect_to(door, at, now_ms);
    }
}

void al_door_let_go(struct al_review_door *door, struct al_door_process *process,
                    const char *problem)
{
    const int64_t now_ms = al_clock_ms();

    /* Closing it is not enough: a child that is being started has a copy until its execve. */
    (void)epoll_ctl(door->epoll_fd, EPOLL_CTL_DEL, process->fd, NULL);
    al_close(al_take_fd(&process->fd));
    al_reader_clear(&process->in);
    process->listed = false;
    al_door_forget(door, process, problem);
    if (problem || !process->problem)
        set_problem(&process->problem, problem);
    if (process->problem)
        process->due_ms = now_ms + RETRY_MS;
    else
        try_later(process, now_ms);
    door->look_ms = now_ms; /* its socket may be gone */
}

/* --- Connections --- */

/* A request is much smaller than what a socket holds: a process that has no room for it hangs. */
bool al_door_send(struct al_door_process *process, const struct al_review_request *request)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_review_add_request(request, &line);
    return send(process->fd, line.buf, line.len, MSG_NOSIGNAL) == (ssize_t)line.len;
}

/* Serve the lines that are complete.  Why the process is to be let go; NULL: it is not.  Caller
 * frees. */
static char *serve_lines(struct al_review_door *door, struct al_door_process *process)
{
    const char *text;
    char *problem = NULL;
    size_t len;

    while (!problem && al_reader_next(&process->in, &text, &len) == AL_LINE_READY) {
        json_t *line = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);

        problem = al_door_serve(door, process, line, len);
        json_decref(line);
    }
    if (!problem && process->in.buf.len - process->in.start > AL_REVIEW_LINE_MAX_BYTES)
        problem = al_strdup("sends a longer line than it may");
    return problem;
}

/* Reads once, so that a process that sends without end does not keep others waiting. */
static void run_process(struct al_review_door *door, struct al_door_process *process)
{
    al_auto(al_freep) char *problem = NULL;

    al_reader_fill(&process->in);
    if (process->in.ended) {
        al_door_let_go(door, process, NULL);
        return;
    }
    problem = serve_lines(door, process);
    if (problem)
        let_go_saying(door, process, problem);
}

/* What is handled before the caller looks at other things. */
#define EVENTS_MAX 256

static bool watch(const struct al_review_door *door, int fd)
{
    struct epoll_event event = { .events = EPOLLIN };

    return fd >= 0 && epoll_ctl(door->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void arm_timer(const struct al_review_door *door, int64_t due_ms)
{
    /* A time of zero would stop the timer. */
    const int64_t at_ms = due_ms > 0 ? due_ms : 1;
    const struct itimerspec timer = { .it_value = { .tv_sec = at_ms / 1000,
                                                    .tv_nsec = at_ms % 1000 * 1000000 } };

    (void)timerfd_settime(door->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL);
}

void al_door_kick(const struct al_review_door *door)
{
    arm_timer(door, 0);
}

static struct al_review_door *open_door(const struct al_strv *dirs, bool attends)
{
    struct al_review_door *door = al_calloc(1, sizeof(*door));

    door->attends = attends;
    door->whole.text = AL_STR_INIT;
    door->ndirs = dirs->count;
    door->dirs = al_calloc(dirs->count + 1, sizeof(*door->dirs));
    for (size_t i = 0; i < dirs->count; i++)
        door->dirs[i] =
            (struct al_door_dir){ .path = al_strdup(dirs->items[i]), .fd = -1, .lock_fd = -1 };
    door->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    door->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    door->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (!watch(door, door->inotify_fd) || !watch(door, door->timer_fd)) {
        const int error = errno;

        al_review_door_free(door);
        errno = error;
        return NULL;
    }
    look(door);
    al_door_kick(door);
    return door;
}

void al_review_door_free(struct al_review_door *door)
{
    if (!door)
        return;
    al_door_clear(door);
    while (door->processes) {
        struct al_door_process *process = door->processes;

        door->processes = process->next;
        free_process(process);
    }
    for (size_t i = 0; i < door->ndirs; i++) {
        close_dir(&door->dirs[i]);
        free(door->dirs[i].path);
        free(door->dirs[i].problem);
    }
    free(door->dirs);
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
    for (const struct al_door_process *at = door->processes; at; at = at->next)
        if (!at->listed && !at->problem && at->attempts < 2)
            return false;
    return true;
}

const char *al_review_door_problem(const struct al_review_door *door)
{
    return door->problem;
}

/* --- The loop --- */

static void drain(struct al_review_door *door)
{
    char events[4096];
    uint64_t count;

    (void)!read(door->timer_fd, &count, sizeof(count));
    while (read(door->inotify_fd, events, sizeof(events)) > 0)
        door->look_ms = 0;
}

/* When something is due next: a request, an attempt, a look at the directories. */
static int64_t next_due(const struct al_review_door *door)
{
    int64_t due_ms = door->look_ms;

    for (const struct al_door_request *at = door->requests; at; at = at->next)
        if (at->due_ms < due_ms)
            due_ms = at->due_ms;
    for (const struct al_door_process *at = door->processes; at; at = at->next)
        if (!(at->fd >= 0 && at->listed) && at->due_ms < due_ms)
            due_ms = at->due_ms;
    return due_ms;
}

static void add_problem(const char *problem, struct al_str *all)
{
    if (problem)
        al_str_addf(all, "%s%s", all->len ? "; " : "", problem);
}

/* What al_review_door_problem() says from now on. */
static void update_problem(struct al_review_door *door)
{
    struct al_str all = AL_STR_INIT;
    char *problem;

    add_problem(door->crowded ? "more processes have questions than can be asked" : NULL, &all);
    for (size_t i = 0; i < door->ndirs; i++)
        add_problem(door->dirs[i].problem, &all);
    for (const struct al_door_process *at = door->processes; at; at = at->next)
        add_problem(at->problem, &all);
    problem = all.len ? al_str_detach(&all) : NULL;
    if (problem ? !door->problem || strcmp(door->problem, problem) != 0 : door->problem != NULL)
        door->changes |= AL_DOOR_PROBLEMS;
    free(door->problem);
    door->problem = problem;
}

unsigned al_review_door_run(struct al_review_door *door)
{
    struct epoll_event event;
    unsigned changes;

    /* One event at a time: a process that was let go has no further event. */
    for (int i = 0; i < EVENTS_MAX && epoll_wait(door->epoll_fd, &event, 1, 0) == 1; i++) {
        if (event.data.ptr)
            run_process(door, event.data.ptr);
        else
            drain(door);
    }
    if (door->look_ms <= al_clock_ms())
        look(door);
    keep_times(door, al_clock_ms());
    al_door_end_late_requests(door, al_clock_ms());
    al_door_send_text_request(door);
    update_problem(door);
    arm_timer(door, next_due(door));
    changes = door->changes;
    door->changes = 0;
    return changes;
}

void al_review_door_wait(struct al_review_door *door)
{
    struct pollfd wait = { .fd = door->epoll_fd, .events = POLLIN };

    (void)poll(&wait, 1, -1);
    (void)al_review_door_run(door);
}

void al_review_door_await_reply(struct al_review_door *door, struct al_review_reply *ret_reply)
{
    while (!al_review_door_next_reply(door, ret_reply))
        al_review_door_wait(door);
}

struct al_review_door *al_review_door_new(const struct al_strv *dirs)
{
    return open_door(dirs, true);
}

struct al_review_door *al_review_door_peek(const struct al_strv *dirs)
{
    struct al_review_door *door = open_door(dirs, false);

    if (!door)
        return NULL;
    do
        al_review_door_wait(door);
    while (!al_review_door_is_settled(door));
    return door;
}
