// SPDX-License-Identifier: Apache-2.0
#include "review/client.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "guard/text.h"
#include "review/message.h"
#include "review/place.h"
#include "review/queue.h"
#include "util/clock.h"
#include "util/fs.h"

/* Sockets that are looked at in one directory. */
#define PROCESSES_MAX 1024

/* How long until a process that had no room is tried again, in milliseconds. */
#define RETRY_MS 10

/* Where the processes are, and what they are asked. */
struct visit {
    const char *request;
    size_t len;
    int64_t patience_ms; /* of each process; 0: AL_REVIEW_ANSWER_MS */
    pid_t only;          /* the process that is asked; 0: all are */
    int64_t deadline_ms; /* of the process that is asked now */
    const bool *is_done; /* no further process is asked once this is true; NULL: all are */
    /* Receives each line of a process.  False: no further line of it is wanted. */
    bool (*on_line)(void *payload, pid_t pid, const json_t *line);
    void *payload;
    al_review_problem_fn *problem;
    void *problem_payload;
};

static void al_printf(2, 3) report(const struct visit *visit, const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&line, fmt, args);
    va_end(args);
    visit->problem(visit->problem_payload, line.buf);
}

/* Wait until the process can be written to or read from.  False: the time is over. */
static bool await(const struct visit *visit, int fd, short events)
{
    struct pollfd ready = { .fd = fd, .events = events };
    const int64_t left_ms = visit->deadline_ms - al_clock_ms();

    return left_ms > 0 && poll(&ready, 1, (int)left_ms) == 1;
}

/* Send what the process takes: one that refuses says why before it reads.  False: the time is over.
 */
static bool send_request(const struct visit *visit, int fd)
{
    for (size_t sent = 0; sent < visit->len;) {
        ssize_t n;

        if (!await(visit, fd, POLLOUT))
            return false;
        n = send(fd, visit->request + sent, visit->len - sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return true;
        sent += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* The lines that are complete, in order.  False: no further line is wanted. */
static bool take_lines(const struct visit *visit, pid_t pid, struct al_str *in)
{
    const char *at = in->buf, *end;
    struct al_str rest = AL_STR_INIT;
    bool goes_on = true;

    while (goes_on && (end = memchr(at, '\n', in->len - (size_t)(at - in->buf)))) {
        al_auto(al_json_decrefp) json_t *line =
            json_loadb(at, (size_t)(end - at), JSON_REJECT_DUPLICATES, NULL);

        goes_on = json_is_object(line) && visit->on_line(visit->payload, pid, line);
        at = end + 1;
    }
    al_str_add(&rest, at, in->len - (size_t)(at - in->buf));
    al_str_clear(in);
    *in = rest;
    return goes_on;
}

/* A process that others ask too may have no room for a connection at once. */
static int connect_to(const struct visit *visit, int dir_fd, pid_t pid)
{
    int fd = al_review_place_connect(dir_fd, pid);

    while (fd == -EAGAIN && al_clock_ms() < visit->deadline_ms) {
        (void)poll(NULL, 0, RETRY_MS);
        fd = al_review_place_connect(dir_fd, pid);
    }
    return fd;
}

static void visit_process(struct visit *visit, int dir_fd, pid_t pid)
{
    al_auto(al_closep) int fd = -1;
    al_auto(al_str_clear) struct al_str in = AL_STR_INIT;
    char chunk[16384];
    ssize_t n = 1;

    visit->deadline_ms =
        al_clock_ms() + (visit->patience_ms ? visit->patience_ms : AL_REVIEW_ANSWER_MS);
    fd = connect_to(visit, dir_fd, pid);
    if (fd == -ECONNREFUSED || fd == -ENOENT)
        return; /* it has ended */
    if (fd < 0) {
        report(visit, "process %ld cannot be asked: %s", (long)pid,
               fd == -EAGAIN ? "too many others ask it" : strerrordesc_np(-fd));
        return;
    }
    if (!send_request(visit, fd)) {
        report(visit, "process %ld does not answer", (long)pid);
        return;
    }
    while (n > 0 && in.len <= AL_REVIEW_LINE_MAX_BYTES) {
        if (!await(visit, fd, POLLIN)) {
            report(visit, "process %ld does not answer", (long)pid);
            return;
        }
        n = recv(fd, chunk, sizeof(chunk), 0);
        if (n > 0)
            al_str_add(&in, chunk, (size_t)n);
        if (n > 0 && memchr(chunk, '\n', (size_t)n) && !take_lines(visit, pid, &in))
            return;
    }
}

static void visit_named(struct visit *visit, int dir_fd, pid_t pid)
{
    if (!visit->only || visit->only == pid)
        visit_process(visit, dir_fd, pid);
}

static void visit_dir(struct visit *visit, const char *path)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_closep) int dir_fd = -1;
    al_auto(al_closedirp) DIR *dir = NULL;
    const struct dirent *entry;
    const int r = al_review_place_open(path, false, false, &dir_fd, &err);

    if (r < 0) {
        if (r != AL_ERR_NOT_FOUND)
            report(visit, "%s", err.message);
        return;
    }
    dir = al_fs_list_at(dir_fd);
    for (int i = 0; dir && i < PROCESSES_MAX && (entry = readdir(dir)); i++)
        if (!(visit->is_done && *visit->is_done) && al_review_place_owner(entry->d_name))
            visit_named(visit, dir_fd, al_review_place_owner(entry->d_name));
}

static void visit_all(struct visit *visit, const struct al_strv *dirs)
{
    for (size_t i = 0; i < dirs->count; i++)
        visit_dir(visit, dirs->items[i]);
}

struct listing {
    const struct visit *visit;
    struct al_review_list *list;
};

static bool add_line(void *payload, pid_t pid, const json_t *line)
{
    struct listing *listing = payload;
    const char *problem = al_json_get_string(line, "error");

    if (problem) {
        al_auto(al_freep) char *safe = al_text_join_lines(problem);

        report(listing->visit, "process %ld: %s", (long)pid, safe);
    }
    return al_review_list_add(listing->list, pid, line, 0); /* else the end of the list */
}

void al_review_list_all(const struct al_strv *dirs, struct al_review_list *ret_list,
                        al_review_problem_fn *problem, void *payload)
{
    static const char request[] = "{\"do\":\"list\"}\n";
    struct visit visit = { .request = request,
                           .len = strlen(request),
                           .on_line = add_line,
                           .problem = problem,
                           .problem_payload = payload };
    struct listing listing = { &visit, ret_list };

    *ret_list = AL_REVIEW_LIST_INIT;
    visit.payload = &listing;
    visit_all(&visit, dirs);
}

/* A whole text on its way. */
struct reading {
    struct al_str *text;
    bool done;
    char *problem;
    bool gone;
};

static bool take_piece(void *payload, pid_t pid, const json_t *line)
{
    struct reading *reading = payload;
    const json_t *piece = json_object_get(line, "text");
    const char *problem = al_json_get_string(line, "error");

    (void)pid;
    if (json_is_string(piece) &&
        reading->text->len + json_string_length(piece) <= AL_REVIEW_WHOLE_MAX_BYTES) {
        al_str_add(reading->text, json_string_value(piece), json_string_length(piece));
        reading->done = !json_is_true(json_object_get(line, "more"));
        return !reading->done;
    }
    reading->gone = json_object_get(line, "gone") != NULL;
    if (problem)
        reading->problem = al_text_join_lines(problem);
    return false;
}

int al_review_read_text(const struct al_strv *dirs, pid_t pid, const char *id,
                        struct al_str *ret_text, al_review_problem_fn *problem, void *payload,
                        struct al_error *err)
{
    al_auto(al_str_clear) struct al_str request = AL_STR_INIT;
    struct reading reading = { .text = ret_text };
    struct visit visit = { .patience_ms = AL_REVIEW_TEXT_MS,
                           .only = pid,
                           .is_done = &reading.done,
                           .on_line = take_piece,
                           .payload = &reading,
                           .problem = problem,
                           .problem_payload = payload };

    al_review_add_text_request(id, 0, &request);
    visit.request = request.buf;
    visit.len = request.len;
    visit_all(&visit, dirs);
    al_auto(al_freep) char *why = reading.problem;

    if (reading.done)
        return 0;
    if (reading.gone)
        return al_error_set(err, AL_ERR_NOT_FOUND, "the question no longer waits");
    return al_error_set(err, AL_ERR_EXECUTION, "%s", why ? why : "its process sent no text");
}

/* What the processes said to an answer. */
struct answering {
    bool done;
    char *problem;
};

static bool take_reply(void *payload, pid_t pid, const json_t *line)
{
    struct answering *answering = payload;
    const char *problem = al_json_get_string(line, "error");

    (void)pid;
    answering->done |= json_is_true(json_object_get(line, "ok"));
    if (problem && !answering->problem)
        answering->problem = al_text_join_lines(problem);
    return false;
}

/* Only the process that has the question takes the answer. */
int al_review_send_answer(const struct al_strv *dirs, const char *id, enum al_answer decision,
                          const char *reason, al_review_problem_fn *problem, void *payload,
                          struct al_error *err)
{
    al_auto(al_str_clear) struct al_str request = AL_STR_INIT;
    al_auto(al_approval_answer_clear) struct al_approval_answer cut = AL_APPROVAL_ANSWER_INIT;
    struct answering answering = { .problem = NULL };
    struct visit visit = { .is_done = &answering.done,
                           .on_line = take_reply,
                           .payload = &answering,
                           .problem = problem,
                           .problem_payload = payload };

    if (reason)
        al_approval_answer_set_reason(&cut, reason);
    al_review_add_answer(id, decision, cut.reason, 0, &request);
    visit.request = request.buf;
    visit.len = request.len;
    visit_all(&visit, dirs);
    al_auto(al_freep) char *why = answering.problem;

    if (answering.done)
        return 0;
    if (why)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s", why);
    al_auto(al_freep) char *safe = al_text_sanitize_line(id);

    return al_error_set(err, AL_ERR_NOT_FOUND, "no question '%s' waits", safe);
}

/* A link that a server has. */
struct linking {
    bool done;
    char *link;
};

/* Other servers have no page, which is no problem. */
static bool take_link(void *payload, pid_t pid, const json_t *line)
{
    struct linking *linking = payload;
    const char *link = al_json_get_string(line, "link");

    (void)pid;
    if (link && (al_starts_with(link, "http://") || al_starts_with(link, "https://"))) {
        linking->link = al_text_sanitize_line(link);
        linking->done = true;
    }
    return false;
}

char *al_review_find_link(const struct al_strv *dirs, al_review_problem_fn *problem, void *payload)
{
    static const char request[] = "{\"do\":\"link\"}\n";
    struct linking linking = { .link = NULL };
    struct visit visit = { .request = request,
                           .len = strlen(request),
                           .is_done = &linking.done,
                           .on_line = take_link,
                           .payload = &linking,
                           .problem = problem,
                           .problem_payload = payload };

    visit_all(&visit, dirs);
    return linking.link;
}
