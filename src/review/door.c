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
#include "base/reader.h"
#include "guard/text.h"
#include "review/message.h"
#include "review/place.h"

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

/* A directory of sockets. */
struct dir {
    char *path;
    int fd;        /* -1: it is not there, or cannot be used */
    int lock_fd;   /* -1: there is no lock */
    char *problem; /* one safe line; NULL: none */
};

/* A process with a socket. */
struct process {
    struct process *next;
    pid_t pid;
    size_t dir; /* index of the directory that its socket is in */
    int fd;     /* does not block; -1: not connected */
    struct al_reader in;
    bool listed;       /* it has said what waits since it was connected to */
    bool exists;       /* its socket was there when the directory was last looked at */
    int64_t due_ms;    /* connected and not `listed`: the answer has to be there; not connected: the
                            next attempt */
    unsigned attempts; /* to connect, that failed or came to an end */
    unsigned nbusy;    /* attempts in a row that found no room */
    char *problem;     /* why it was let go, one safe line; NULL: it was not */
};

/* A request that has no answer yet, or a reply that nobody has taken. */
struct request {
    struct request *next;
    struct process *process; /* NULL: it has its reply */
    enum al_review_verb verb;
    int64_t due_ms;
    struct al_review_reply reply;
};

struct al_review_door {
    bool attends;
    int epoll_fd;
    int inotify_fd;
    int timer_fd; /* what is due next */
    struct dir *dirs;
    size_t ndirs;
    int64_t look_ms; /* when the directories are looked at next */
    struct process *processes;
    size_t nprocesses;
    bool crowded; /* there are more processes than AL_DOOR_PROCESSES_MAX */

    struct al_review_list questions;
    char whole_of[AL_REVIEW_ID_CHARS + 1]; /* whose whole text was asked for last; "": nobody's */
    struct al_review_text whole;
    int64_t whole_ticket; /* of the request for it; 0: it was not sent yet */
    unsigned changes;     /* since the last al_review_door_run() */
    int64_t ntickets;
    struct request *requests; /* oldest first */
    char *problem;            /* what al_review_door_problem() says */
};

static void arm_timer(const struct al_review_door *door, int64_t due_ms)
{
    /* A time of zero would stop the timer. */
    const int64_t at_ms = due_ms > 0 ? due_ms : 1;
    const struct itimerspec timer = { .it_value = { .tv_sec = at_ms / 1000,
                                                    .tv_nsec = at_ms % 1000 * 1000000 } };

    (void)timerfd_settime(door->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL);
}

/* Something happened outside of al_review_door_run(): wake whoever polls. */
static void kick(const struct al_review_door *door)
{
    arm_timer(door, 0);
}

/* A request is much smaller than what a socket holds: a process that has no room for it hangs. */
static bool send_to(struct process *process, const struct al_review_request *request)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_review_add_request(request, &line);
    return send(process->fd, line.buf, line.len, MSG_NOSIGNAL) == (ssize_t)line.len;
}

/* The lines of all questions together, in bytes. */
#define QUESTIONS_MAX_BYTES (64u << 20)

static const char no_longer[] = "the question no longer waits: it was answered elsewhere, or its "
                                "call has ended";

/* --- The list --- */

struct al_review_waiting *al_review_list_find(const struct al_review_list *list, const char *id)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(al_json_get_string(list->items[i].entry, "id"), id))
            return &list->items[i];
    return NULL;
}

static void forget_text(struct al_review_door *door)
{
    al_str_clear(&door->whole.text);
    free(al_take(&door->whole.problem));
    door->whole.complete = false;
    door->whole_of[0] = '\0';
    door->whole_ticket = 0;
}

/* Whether an entry has its members.  The process is one of this user, and may be of another
 * version. */
static bool is_entry(const json_t *entry)
{
    static const char *const members[] = { "id",      "time", "repository", "tool",    "operation",
                                           "summary", "risk", "text",       "deadline" };
    const char *id = al_json_get_string(entry, "id");

    for (size_t i = 0; i < AL_COUNT(members); i++)
        if (!al_json_get_string(entry, members[i]))
            return false;
    return strlen(id) == AL_REVIEW_ID_CHARS && !id[strspn(id, "0123456789abcdef")];
}

/* Oldest first; the times have equal lengths. */
static int compare(const json_t *one, const json_t *two)
{
    const int by_time = strcmp(al_json_get_string(one, "time"), al_json_get_string(two, "time"));

    return by_time ? by_time : strcmp(al_json_get_string(one, "id"), al_json_get_string(two, "id"));
}

/* Add the question of a line.  The problem with it; NULL: none. */
static const char *add_question(struct al_review_door *door, const struct process *process,
                                const json_t *line, size_t len)
{
    struct al_review_list *list = &door->questions;
    json_t *entry = json_object_get(line, "entry");
    size_t at = list->count, count = 0, bytes = len;

    for (size_t i = 0; i < list->count; i++) {
        count += list->items[i].pid == process->pid;
        bytes += list->items[i].len;
    }
    if (count >= AL_REVIEW_ENTRIES_MAX)
        return "has more questions than it may";
    if (bytes > QUESTIONS_MAX_BYTES)
        return "has longer questions than fit here";
    if (!is_entry(entry) || al_review_list_find(list, al_json_get_string(entry, "id")))
        return "has a question that cannot be shown; its version may be another one";
    list->items = al_grow(list->items, list->count, sizeof(*list->items));
    while (at > 0 && compare(list->items[at - 1].entry, entry) > 0)
        at--;
    memmove(&list->items[at + 1], &list->items[at], (list->count - at) * sizeof(*list->items));
    list->items[at] = (struct al_review_waiting){
        .pid = process->pid,
        .entry = json_incref(entry),
        .always = al_strdup(al_json_get_string(line, "always")),
        .len = len,
    };
    list->count++;
    door->changes |= AL_DOOR_QUESTIONS;
    return NULL;
}

/* Remove a question of a process; with NULL as its id, all of them. */
static void remove_questions(struct al_review_door *door, pid_t pid, const char *id)
{
    struct al_review_list *list = &door->questions;
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct al_review_waiting *item = &list->items[i];

        if (item->pid != pid || (id && strcmp(al_json_get_string(item->entry, "id"), id) != 0)) {
            list->items[kept++] = *item;
            continue;
        }
        if (!strcmp(door->whole_of, al_json_get_string(item->entry, "id")))
            forget_text(door);
        json_decref(item->entry);
        free(item->always);
        door->changes |= AL_DOOR_QUESTIONS;
    }
    list->count = kept;
}

/* --- Requests and replies --- */

void al_review_reply_clear(struct al_review_reply *reply)
{
    free(al_take(&reply->message));
}

static void remove_request(struct al_review_door *door, struct request *request)
{
    struct request **at = &door->requests;

    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
    free(request);
}

static struct request *add_request(struct al_review_door *door, struct process *process,
                                   enum al_review_verb verb, const char *id)
{
    struct request *request = al_calloc(1, sizeof(*request)), **at = &door->requests;
    const int64_t wait_ms = verb == AL_REVIEW_WHOLE ? AL_DOOR_TEXT_MS : AL_DOOR_STALL_MS;

    *request = (struct request){ .process = process, .verb = verb };
    request->due_ms = al_clock_ms() + wait_ms;
    request->reply.ticket = door->ntickets;
    (void)snprintf(request->reply.id, sizeof(request->reply.id), "%s", id ? id : "");
    while (*at)
        at = &(*at)->next;
    *at = request;
    kick(door); /* it has a time */
    return request;
}

static void set_reply(struct al_review_door *door, struct request *request,
                      enum al_review_outcome outcome, const char *message)
{
    request->process = NULL;
    request->due_ms = INT64_MAX;
    request->reply.outcome = outcome;
    request->reply.message = message ? al_text_join_lines(message) : NULL;
    door->changes |= AL_DOOR_REPLIES;
}

bool al_review_door_next_reply(struct al_review_door *door, struct al_review_reply *ret_reply)
{
    struct request *first = door->requests;

    while (first && first->process)
        first = first->next;
    if (!first)
        return false;
    *ret_reply = first->reply;
    remove_request(door, first);
    return true;
}

/* The process that has a question; NULL: it does not wait. */
static struct process *find_process(const struct al_review_door *door, const char *id)
{
    const struct al_review_waiting *waiting = al_review_list_find(&door->questions, id);
    struct process *process = waiting ? door->processes : NULL;

    while (process && !(process->pid == waiting->pid && process->fd >= 0))
        process = process->next;
    return process;
}

/* Send a request with the next ticket.  False: the process takes nothing. */
static bool send_request(struct al_review_door *door, struct process *process,
                         struct al_review_request *request)
{
    request->ticket = ++door->ntickets;
    if (!send_to(process, request))
        return false;
    (void)add_request(door, process, request->verb, request->id);
    return true;
}

int64_t al_review_door_answer(struct al_review_door *door, const char *id, enum al_answer decision,
                              const char *reason)
{
    al_auto(al_approval_answer_clear) struct al_approval_answer cut = AL_APPROVAL_ANSWER_INIT;
    struct process *process = find_process(door, id);
    struct al_review_request request = { .verb = AL_REVIEW_ANSWER, .id = id, .decision = decision };

    if (reason)
        al_approval_answer_set_reason(&cut, reason);
    request.reason = cut.reason;
    if (process && send_request(door, process, &request))
        return request.ticket;
    ++door->ntickets;
    set_reply(door, add_request(door, NULL, AL_REVIEW_ANSWER, id),
              process ? AL_REVIEW_WRONG : AL_REVIEW_GONE,
              process ? "its process does not take the answer" : no_longer);
    return door->ntickets;
}

size_t al_review_door_ask_links(struct al_review_door *door)
{
    size_t count = 0;

    for (struct process *at = door->processes; at; at = at->next)
        count += at->fd >= 0 && at->listed &&
                 send_request(door, at, &(struct al_review_request){ .verb = AL_REVIEW_LINK });
    return count;
}

/* --- Whole texts --- */

const struct al_review_text *al_review_door_text(const struct al_review_door *door, const char *id)
{
    return *id && !strcmp(door->whole_of, id) ? &door->whole : NULL;
}

void al_review_door_ask_text(struct al_review_door *door, const char *id)
{
    const struct al_review_text *text = al_review_door_text(door, id);

    if (!al_review_list_find(&door->questions, id) || (text && !text->problem))
        return;
    forget_text(door);
    (void)snprintf(door->whole_of, sizeof(door->whole_of), "%s", id);
    kick(door);
}

/* Send the request for the whole text that is wanted, once its process has answered the one before.
 */
static void send_text_request(struct al_review_door *door)
{
    struct al_review_request request = { .verb = AL_REVIEW_WHOLE, .id = door->whole_of };
    struct process *process = find_process(door, door->whole_of);
    const struct request *sent = door->requests;

    while (sent && !(sent->verb == AL_REVIEW_WHOLE && sent->process == process))
        sent = sent->next;
    if (!sent && !door->whole_ticket && process && send_request(door, process, &request))
        door->whole_ticket = request.ticket;
}

/* Whether a request is for the text that is wanted, as far as that can be shown. */
static bool is_wanted(const struct al_review_door *door, const struct request *request)
{
    return door->whole_ticket == request->reply.ticket && !door->whole.problem;
}

static void fail_text(struct al_review_door *door, const struct request *request,
                      const char *problem)
{
    if (!is_wanted(door, request) || door->whole.complete)
        return;
    door->whole.problem = al_text_join_lines(problem);
    door->changes |= AL_DOOR_TEXTS;
}

/* Add a piece of a text, or drop that of one that is no longer wanted.  Whether further ones come.
 */
static bool serve_piece(struct al_review_door *door, struct request *request, const json_t *line)
{
    const json_t *piece = json_object_get(line, "text");
    const bool more = json_is_true(json_object_get(line, "more"));

    request->due_ms = al_clock_ms() + AL_DOOR_TEXT_MS;
    if (!is_wanted(door, request))
        return more;
    if (door->whole.text.len + json_string_length(piece) > AL_REVIEW_WHOLE_MAX_BYTES) {
        fail_text(door, request, "the text is longer than it may be");
        return more;
    }
    al_str_add(&door->whole.text, json_string_value(piece), json_string_length(piece));
    door->whole.complete = !more;
    door->changes |= AL_DOOR_TEXTS;
    return more;
}

/* --- What comes --- */

static void end_request(struct al_review_door *door, struct request *request,
                        enum al_review_outcome outcome, const char *message)
{
    if (request->verb != AL_REVIEW_WHOLE) {
        set_reply(door, request, outcome, message);
        return;
    }
    fail_text(door, request, message ? message : "the process sent no text");
    remove_request(door, request);
}

/* Serve a line that answers a request, unless it comes too late. */
static void serve_answer(struct al_review_door *door, const struct process *process,
                         const json_t *line)
{
    const json_int_t ticket = json_integer_value(json_object_get(line, "ticket"));
    const char *problem = al_json_get_string(line, "error"),
               *link = al_json_get_string(line, "link");
    struct request *request = door->requests;

    while (request && !(request->process == process && request->reply.ticket == ticket))
        request = request->next;
    if (!request)
        return;
    if (request->verb == AL_REVIEW_WHOLE && json_is_string(json_object_get(line, "text"))) {
        if (!serve_piece(door, request, line))
            remove_request(door, request);
    } else if (json_is_true(json_object_get(line, "ok")) || link) {
        end_request(door, request, AL_REVIEW_TAKEN, link);
    } else {
        end_request(door, request, problem ? AL_REVIEW_WRONG : AL_REVIEW_GONE,
                    problem ? problem : no_longer);
    }
}

/* Serve a line of a process, or NULL for one that is no object.  Why it is to be let go; NULL: it
 * is not.  Caller frees. */
static char *serve_line(struct al_review_door *door, struct process *process, const json_t *line,
                        size_t len)
{
    const char *gone = al_json_get_string(line, "gone"), *why = al_json_get_string(line, "error");

    if (json_is_integer(json_object_get(line, "ticket"))) {
        serve_answer(door, process, line);
    } else if (why) {
        return al_asprintf("refuses: %s", why);
    } else if (json_object_get(line, "entry")) {
        return al_strdup(add_question(door, process, line, len));
    } else if (gone) {
        remove_questions(door, process->pid, gone);
    } else if (json_is_true(json_object_get(line, "end"))) {
        process->listed = true;
        free(al_take(&process->problem));
    } else {
        return al_strdup("says what airlock review does not know; its version may be another one");
    }
    return NULL;
}

/* The connection to a process has ended: so have its questions and requests. */
static void forget(struct al_review_door *door, const struct process *process, const char *problem)
{
    struct request *next;

    for (struct request *at = door->requests; at; at = next) {
        next = at->next;
        if (at->process == process)
            end_request(door, at, problem ? AL_REVIEW_WRONG : AL_REVIEW_GONE,
                        problem ? problem : no_longer);
    }
    remove_questions(door, process->pid, NULL);
}

static void clear(struct al_review_door *door)
{
    while (door->requests) {
        al_review_reply_clear(&door->requests->reply);
        remove_request(door, door->requests);
    }
    while (door->questions.count)
        remove_questions(door, door->questions.items[0].pid, NULL);
    free(al_take(&door->questions.items));
    forget_text(door);
}

/* --- Directories and processes --- */

static void set_problem(char **problem, const char *text)
{
    char *copy = text ? al_text_join_lines(text) : NULL;

    free(*problem);
    *problem = copy;
}

/* Have events of a directory, by way of its descriptor: its name may be another one's by now. */
static void watch_dir(const struct al_review_door *door, const struct dir *dir)
{
    char path[40];

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", dir->fd);
    /* The directory is looked at every LOOK_MS without events. */
    (void)inotify_add_watch(door->inotify_fd, path, IN_CREATE | IN_MOVED_TO | IN_DELETE);
}

static void open_dir(struct al_review_door *door, struct dir *dir)
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

static void close_dir(struct dir *dir)
{
    al_close(al_take_fd(&dir->lock_fd));
    al_close(al_take_fd(&dir->fd));
}

static void free_process(struct process *process)
{
    al_close(process->fd);
    al_reader_clear(&process->in);
    free(process->problem);
    free(process);
}

static void note_socket(struct al_review_door *door, size_t dir, pid_t pid)
{
    struct process *process = door->processes;

    while (process && !(process->pid == pid && process->dir == dir))
        process = process->next;
    if (!process && door->nprocesses == AL_DOOR_PROCESSES_MAX) {
        door->crowded = true;
        return;
    }
    if (!process) {
        process = al_calloc(1, sizeof(*process));
        *process = (struct process){
            .next = door->processes, .pid = pid, .dir = dir, .fd = -1, .in = AL_READER_INIT(-1)
        };
        door->processes = process;
        door->nprocesses++;
    }
    process->exists = true;
}

static void look_at(struct al_review_door *door, size_t index)
{
    struct dir *dir = &door->dirs[index];
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
    for (struct process *at = door->processes; at; at = at->next)
        at->exists = false;
    for (size_t i = 0; i < door->ndirs; i++)
        look_at(door, i);
    for (struct process **at = &door->processes; *at;) {
        struct process *process = *at;

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

static void try_later(struct process *process, int64_t now_ms)
{
    if (process->attempts < ATTEMPTS_DOUBLED)
        process->due_ms = now_ms + ((int64_t)FIRST_RETRY_MS << process->attempts++);
    else
        process->due_ms = now_ms + RETRY_MS;
}

static void connect_to(struct al_review_door *door, struct process *process, int64_t now_ms)
{
    const struct al_review_request request = { .verb = door->attends ? AL_REVIEW_ATTACH
                                                                     : AL_REVIEW_LIST };
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = process };
    const struct dir *dir = &door->dirs[process->dir];
    const int fd = dir->fd < 0 ? -ENOENT : al_review_place_connect(dir->fd, process->pid);

    if (fd >= 0 && epoll_ctl(door->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0) {
        process->fd = process->in.fd = fd;
        process->due_ms = now_ms + AL_DOOR_STALL_MS;
        process->nbusy = 0;
        (void)send_to(process, &request); /* what it cannot be told, it does not answer */
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

/* Close the connection.  `problem` says why, as a safe line; NULL: the process has ended it. */
static void let_go(struct al_review_door *door, struct process *process, const char *problem)
{
    const int64_t now_ms = al_clock_ms();

    /* Closing it is not enough: a child that is being started has a copy until its execve. */
    (void)epoll_ctl(door->epoll_fd, EPOLL_CTL_DEL, process->fd, NULL);
    al_close(al_take_fd(&process->fd));
    al_reader_clear(&process->in);
    process->listed = false;
    forget(door, process, problem);
    if (problem || !process->problem)
        set_problem(&process->problem, problem);
    if (process->problem)
        process->due_ms = now_ms + RETRY_MS;
    else
        try_later(process, now_ms);
    door->look_ms = now_ms; /* its socket may be gone */
}

/* Let a process go that says, or does, what it must not. */
static void let_go_saying(struct al_review_door *door, struct process *process, const char *what)
{
    al_auto(al_freep) char *why = al_asprintf("process %ld %s", (long)process->pid, what);

    let_go(door, process, why);
}

/* Connect to the processes whose time has come, let those go that do not answer. */
static void keep_times(struct al_review_door *door, int64_t now_ms)
{
    for (struct process *at = door->processes; at; at = at->next) {
        if (at->due_ms > now_ms || (at->fd >= 0 && at->listed))
            continue;
        if (at->fd >= 0)
            let_go_saying(door, at, "does not answer");
        else
            connect_to(door, at, now_ms);
    }
}

/* --- Connections --- */

/* Serve the lines that are complete.  Why the process is to be let go; NULL: it is not.  Caller
 * frees. */
static char *serve_lines(struct al_review_door *door, struct process *process)
{
    const char *text;
    char *problem = NULL;
    size_t len;

    while (!problem && al_reader_next(&process->in, &text, &len) == AL_LINE_READY) {
        json_t *line = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);

        problem = serve_line(door, process, line, len);
        json_decref(line);
    }
    if (!problem && process->in.buf.len - process->in.start > AL_REVIEW_LINE_MAX_BYTES)
        problem = al_strdup("sends a longer line than it may");
    return problem;
}

/* Reads once, so that a process that sends without end does not keep others waiting. */
static void run_process(struct al_review_door *door, struct process *process)
{
    al_auto(al_freep) char *problem = NULL;

    al_reader_fill(&process->in);
    if (process->in.ended) {
        let_go(door, process, NULL);
        return;
    }
    problem = serve_lines(door, process);
    if (problem)
        let_go_saying(door, process, problem);
}

/* The events that are handled before the caller looks at other things. */
#define EVENTS_MAX 256

static bool watch(const struct al_review_door *door, int fd)
{
    struct epoll_event event = { .events = EPOLLIN };

    return fd >= 0 && epoll_ctl(door->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static struct al_review_door *open_door(const struct al_strv *dirs, bool attends)
{
    struct al_review_door *door = al_calloc(1, sizeof(*door));

    door->attends = attends;
    door->whole.text = AL_STR_INIT;
    door->ndirs = dirs->count;
    door->dirs = al_calloc(dirs->count + 1, sizeof(*door->dirs));
    for (size_t i = 0; i < dirs->count; i++)
        door->dirs[i] = (struct dir){ .path = al_strdup(dirs->items[i]), .fd = -1, .lock_fd = -1 };
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
    kick(door);
    return door;
}

void al_review_door_free(struct al_review_door *door)
{
    if (!door)
        return;
    clear(door);
    while (door->processes) {
        struct process *process = door->processes;

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
    for (const struct process *at = door->processes; at; at = at->next)
        if (!at->listed && !at->problem && at->attempts < 2)
            return false;
    return true;
}

const char *al_review_door_problem(const struct al_review_door *door)
{
    return door->problem;
}

/* Give up the requests whose time is over. */
static void end_late_requests(struct al_review_door *door, int64_t now_ms)
{
    struct request *at = door->requests;

    while (at) {
        if (at->due_ms > now_ms) {
            at = at->next;
        } else if (at->verb == AL_REVIEW_WHOLE) {
            end_request(door, at, AL_REVIEW_WRONG, "its process does not send the text");
            at = door->requests;
        } else {
            al_auto(al_freep) char *why =
                al_asprintf("process %ld does not answer; what you decided may still count when it "
                            "goes on",
                            (long)at->process->pid);

            let_go(door, at->process, why);
            at = door->requests;
        }
    }
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

/* The time when something is due next: a request, an attempt, a look at the directories. */
static int64_t next_due(const struct al_review_door *door)
{
    int64_t due_ms = door->look_ms;

    for (const struct request *at = door->requests; at; at = at->next)
        if (at->due_ms < due_ms)
            due_ms = at->due_ms;
    for (const struct process *at = door->processes; at; at = at->next)
        if (!(at->fd >= 0 && at->listed) && at->due_ms < due_ms)
            due_ms = at->due_ms;
    return due_ms;
}

static void add_problem(const char *problem, struct al_str *all)
{
    if (problem)
        al_str_addf(all, "%s%s", all->len ? "; " : "", problem);
}

/* The text of al_review_door_problem() from now on. */
static void update_problem(struct al_review_door *door)
{
    struct al_str all = AL_STR_INIT;
    char *problem;

    add_problem(door->crowded ? "more processes have questions than can be asked" : NULL, &all);
    for (size_t i = 0; i < door->ndirs; i++)
        add_problem(door->dirs[i].problem, &all);
    for (const struct process *at = door->processes; at; at = at->next)
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
    end_late_requests(door, al_clock_ms());
    send_text_request(door);
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
