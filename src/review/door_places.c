// SPDX-License-Identifier: Apache-2.0
/* The directories of the sockets, and the connections to the processes in them. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/text.h"
#include "review/door_private.h"
#include "review/message.h"
#include "util/clock.h"
#include "util/fs.h"

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
