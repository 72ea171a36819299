// SPDX-License-Identifier: Apache-2.0
#include "review/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Read at once, so that a process that sends without end does not keep others waiting. */
#define CHUNK_BYTES (64u << 10)

struct al_review_process *al_review_process_new(pid_t pid, size_t dir)
{
    struct al_review_process *process = al_calloc(1, sizeof(*process));

    process->pid = pid;
    process->dir = dir;
    process->fd = -1;
    process->in = AL_STR_INIT;
    process->out = AL_STR_INIT;
    return process;
}

void al_review_process_free(struct al_review_process *process)
{
    al_review_process_reset(process);
    free(process->problem);
    free(process);
}

void al_review_process_reset(struct al_review_process *process)
{
    al_str_clear(&process->in);
    al_str_clear(&process->out);
    process->nsent = process->nsearched = 0;
    process->listed = false;
}

bool al_review_process_send(struct al_review_process *process, const struct al_str *request)
{
    if (process->out.len - process->nsent + request->len > AL_REVIEW_REQUESTS_MAX_BYTES)
        return false;
    al_str_add(&process->out, request->buf, request->len);
    return true;
}

/* False: nobody is there any more. */
static bool flush(struct al_review_process *process)
{
    while (process->nsent < process->out.len) {
        const ssize_t n = send(process->fd, process->out.buf + process->nsent,
                               process->out.len - process->nsent, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR)
            return errno == EAGAIN;
        process->nsent += n > 0 ? (size_t)n : 0;
    }
    al_str_reset(&process->out);
    process->nsent = 0;
    return true;
}

/* A process that refuses says why before it ends, so reading goes on when nothing can be sent. */
bool al_review_process_run(struct al_review_process *process)
{
    const bool lives = flush(process);
    ssize_t n;

    al_str_reserve(&process->in, CHUNK_BYTES);
    n = recv(process->fd, process->in.buf + process->in.len, CHUNK_BYTES, 0);
    if (n > 0)
        process->in.buf[process->in.len += (size_t)n] = '\0';
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        return false;
    if (!process->in.len)
        al_str_clear(&process->in);
    return n > 0 || lives;
}

bool al_review_process_line(struct al_review_process *process, size_t *at, json_t **ret_line)
{
    const size_t from = *at > process->nsearched ? *at : process->nsearched;
    const char *begin = process->in.buf + *at;
    const char *end = process->in.len > from
                          ? memchr(process->in.buf + from, '\n', process->in.len - from)
                          : NULL;

    *ret_line = NULL;
    if (!end) {
        process->nsearched = process->in.len;
        return false;
    }
    *ret_line = json_loadb(begin, (size_t)(end - begin), JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(*ret_line))
        al_json_decrefp(ret_line);
    *at = (size_t)(end - process->in.buf) + 1;
    return true;
}

void al_review_process_taken(struct al_review_process *process, size_t at)
{
    struct al_str rest = AL_STR_INIT;

    if (!at)
        return;
    al_str_add(&rest, process->in.buf + at, process->in.len - at);
    al_str_clear(&process->in);
    process->in = rest;
    process->nsearched = process->nsearched > at ? process->nsearched - at : 0;
}
