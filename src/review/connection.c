// SPDX-License-Identifier: Apache-2.0
#include "review/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "review/message.h"
#include "util/utf8.h"

struct al_review_connection *al_review_connection_new(struct al_review_queue *queue,
                                                      const struct al_review_page *page, int fd)
{
    struct al_review_connection *connection = al_calloc(1, sizeof(*connection));

    connection->queue = queue;
    connection->page = page;
    connection->fd = fd;
    connection->in = AL_STR_INIT;
    connection->out = AL_STR_INIT;
    connection->text = AL_STR_INIT;
    return connection;
}

void al_review_connection_free(struct al_review_connection *connection)
{
    if (connection->attached)
        al_review_detach(connection->queue);
    if (connection->text_of && !connection->has_text)
        al_review_leave_text(connection->queue, connection->text_of);
    al_str_clear(&connection->text);
    al_close(connection->fd);
    al_str_clear(&connection->in);
    al_str_clear(&connection->out);
    free(connection);
}

static bool has_output(const struct al_review_connection *connection)
{
    return connection->nsent < connection->out.len;
}

void al_review_connection_refuse(struct al_review_connection *connection, const char *why)
{
    al_review_add_reply("error", why, strlen(why), 0, &connection->out);
    connection->ends = true;
}

/* Write what the peer takes.  False: it is gone. */
static bool flush(struct al_review_connection *connection)
{
    while (has_output(connection)) {
        const ssize_t n = send(connection->fd, connection->out.buf + connection->nsent,
                               connection->out.len - connection->nsent, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR)
            return errno == EAGAIN;
        connection->nsent += n > 0 ? (size_t)n : 0;
    }
    al_str_clear(&connection->out);
    connection->nsent = 0;
    return true;
}

static void answer(struct al_review_connection *connection, const struct al_review_request *request)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const int r =
        al_review_answer(connection->queue, request->id, request->decision, request->reason, &err);

    const char *why = r == AL_ERR_NOT_FOUND ? request->id : r < 0 ? err.message : NULL;

    al_review_add_reply(r == 0                  ? "ok"
                        : r == AL_ERR_NOT_FOUND ? "gone"
                                                : "error",
                        why, why ? strlen(why) : 0, request->ticket, &connection->out);
}

static void ask_text(struct al_review_connection *connection,
                     const struct al_review_request *request)
{
    static const char busy[] = "another text is on its way; ask for one after the other";

    if (connection->text_of)
        al_review_add_reply("error", busy, strlen(busy), request->ticket, &connection->out);
    else if (al_review_ask_text(connection->queue, request->id, &connection->text_of) < 0)
        al_review_add_reply("gone", request->id, strlen(request->id), request->ticket,
                            &connection->out);
    else
        connection->text_ticket = request->ticket;
}

static void add_link(struct al_review_connection *connection, int64_t ticket)
{
    static const char none[] = "this process serves no review page";
    const struct al_review_page *page = connection->page;
    char *link = page->make_link ? page->make_link(page->payload) : NULL;

    al_review_add_reply(link ? "link" : "error", link ? link : none, strlen(link ? link : none),
                        ticket, &connection->out);
    if (link)
        explicit_bzero(link, strlen(link));
    free(link);
}

static void serve(struct al_review_connection *connection, const char *line, size_t len)
{
    struct al_review_request request;
    const char *problem = NULL;

    if (!al_review_request_read(line, len, &request, &problem)) {
        al_review_connection_refuse(connection, problem);
    } else if (request.verb == AL_REVIEW_ANSWER) {
        answer(connection, &request);
    } else if (request.verb == AL_REVIEW_WHOLE) {
        ask_text(connection, &request);
    } else if (request.verb == AL_REVIEW_LINK) {
        add_link(connection, request.ticket);
    } else {
        connection->lists = true;
        if (!connection->attached)
            connection->from = 0;
        if (request.verb == AL_REVIEW_ATTACH && !connection->attached)
            al_review_attach(connection->queue);
        connection->attached |= request.verb == AL_REVIEW_ATTACH;
    }
    al_review_request_clear(&request);
}

/* Serve the next request that is complete.  False: there is none. */
static bool serve_next(struct al_review_connection *connection)
{
    const char *end = memchr(connection->in.buf, '\n', connection->in.len);
    const size_t len = end ? (size_t)(end - connection->in.buf) : connection->in.len;
    struct al_str rest = AL_STR_INIT;

    if (len > AL_REVIEW_REQUEST_MAX_BYTES) {
        al_review_connection_refuse(connection, "the request is too long");
        return true;
    }
    if (!end)
        return false;
    serve(connection, connection->in.buf, len);
    al_str_add(&rest, end + 1, connection->in.len - len - 1);
    al_str_clear(&connection->in);
    connection->in = rest;
    return true;
}

/* Say which questions no longer wait. */
static void add_gone(struct al_review_connection *connection)
{
    size_t kept = 0;

    for (size_t i = 0; i < connection->nshown; i++) {
        if (al_review_has(connection->queue, connection->shown[i].serial))
            connection->shown[kept++] = connection->shown[i];
        else
            al_review_add_reply("gone", connection->shown[i].id, AL_REVIEW_ID_CHARS, 0,
                                &connection->out);
    }
    connection->nshown = kept;
}

/* Add the next piece of the text. */
static void add_piece(struct al_review_connection *connection)
{
    const char *at = connection->text.buf + connection->ntext;
    const size_t left = connection->text.len - connection->ntext;
    const size_t len =
        left > AL_REVIEW_PIECE_MAX_BYTES ? al_utf8_floor(at, AL_REVIEW_PIECE_MAX_BYTES) : left;

    al_review_add_piece(at, len, len < left, connection->text_ticket, &connection->out);
    connection->ntext += len;
    if (len < left)
        return;
    al_str_clear(&connection->text);
    connection->ntext = 0;
    connection->text_of = 0;
    connection->has_text = false;
}

/* Go on with the text that was asked for.  False: it is not there, or none was asked for. */
static bool add_text(struct al_review_connection *connection)
{
    const uint64_t serial = connection->text_of;
    enum al_review_whole found = AL_REVIEW_WHOLE_HERE;

    if (!serial)
        return false;
    if (!connection->has_text)
        found = al_review_take_text(connection->queue, serial, &connection->text);
    if (found == AL_REVIEW_WHOLE_COMES)
        return false;
    connection->has_text = found == AL_REVIEW_WHOLE_HERE;
    if (connection->has_text) {
        add_piece(connection);
        return true;
    }
    connection->text_of = 0;
    al_review_add_reply(found == AL_REVIEW_WHOLE_GONE ? "gone" : "error", connection->text.buf,
                        connection->text.len, connection->text_ticket, &connection->out);
    al_str_clear(&connection->text);
    return true;
}

/* Add the next question that was not sent, or the end of the list.  False: nothing is due. */
static bool add_next(struct al_review_connection *connection)
{
    struct al_review_shown next;

    if (connection->attached)
        add_gone(connection);
    if (has_output(connection) || add_text(connection))
        return true;
    /* When all that fit are shown, a further one is told after that which is gone. */
    if ((connection->lists || connection->attached) && connection->nshown < AL_REVIEW_ENTRIES_MAX &&
        al_review_next(connection->queue, connection->from, &connection->out, &next.serial,
                       next.id)) {
        connection->from = next.serial + 1;
        if (connection->attached)
            connection->shown[connection->nshown++] = next;
        return true;
    }
    if (!connection->lists)
        return false;
    connection->lists = false;
    al_str_adds(&connection->out, "{\"end\":true}\n");
    return true;
}

/* Read once.  False: the peer is gone. */
static bool fill(struct al_review_connection *connection)
{
    char chunk[4096];
    const ssize_t n = recv(connection->fd, chunk, sizeof(chunk), 0);

    if (n > 0)
        al_str_add(&connection->in, chunk, (size_t)n);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Reads once, so that a peer that sends without end does not keep others waiting. */
bool al_review_connection_run(struct al_review_connection *connection)
{
    bool was_read = false;

    for (;;) {
        if (!flush(connection))
            return false;
        if (has_output(connection))
            return true; /* nothing more is read before the peer has taken it */
        if (connection->ends)
            return false;
        if (add_next(connection) || serve_next(connection))
            continue;
        if (was_read)
            return true;
        if (!fill(connection))
            return false;
        was_read = true;
    }
}

uint32_t al_review_connection_events(const struct al_review_connection *connection)
{
    return has_output(connection) ? EPOLLOUT : EPOLLIN;
}
