// SPDX-License-Identifier: Apache-2.0
/* review/server.h: whatever a peer sends, it gets lines of JSON, and a question whose id it
 * does not know goes on waiting. */
#include "review/server.h"

#include <sys/socket.h>

#include "base/json.h"
#include "review/message.h"
#include "tests/fuzz/fuzz.h"

/* Take what the peer is sent; each complete line is an object.  False: there is nothing. */
static bool drain(int fd, struct al_str *pending)
{
    char chunk[4096];
    const ssize_t n = recv(fd, chunk, sizeof(chunk), MSG_DONTWAIT);
    const char *end;

    if (n <= 0)
        return false;
    al_str_add(pending, chunk, (size_t)n);
    while ((end = memchr(pending->buf, '\n', pending->len))) {
        const size_t len = (size_t)(end - pending->buf);
        al_auto(al_json_decrefp) json_t *line =
            json_loadb(pending->buf, len, JSON_REJECT_DUPLICATES, NULL);
        struct al_str rest = AL_STR_INIT;

        fuzz_require(json_is_object(line) && json_object_size(line) >= 1);
        fuzz_require(!json_object_get(line, "ok"));
        al_str_add(&rest, end + 1, pending->len - len - 1);
        al_str_clear(pending);
        *pending = rest;
    }
    return true;
}

/* Send everything, and take what comes, until the connection is at its end or all is served. */
static void converse(struct al_review_connection *connection, int fd, const uint8_t *data,
                     size_t size)
{
    al_auto(al_str_clear) struct al_str pending = AL_STR_INIT;
    bool lives = true, goes_on = true;

    for (size_t sent = 0; lives && goes_on;) {
        const ssize_t n = send(fd, data + sent, size - sent < 5000 ? size - sent : 5000,
                               MSG_DONTWAIT | MSG_NOSIGNAL);

        sent += n > 0 ? (size_t)n : 0;
        lives = al_review_connection_run(connection);
        goes_on = n > 0;
        while (drain(fd, &pending))
            goes_on = true;
    }
    fuzz_require(!pending.len);
    fuzz_require(connection->in.len <= AL_REVIEW_REQUEST_MAX_BYTES + 8192);
}

static const struct al_review_page no_page = { .make_link = NULL };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct al_approval_request request = { .tool = "git_add",
                                                        .operation = "add",
                                                        .summary = "Stage 1 file(s): a.txt",
                                                        .detail = "+two\n",
                                                        .repository = "/r",
                                                        .risk = "medium" };
    struct al_review_queue *queue = al_review_queue_new(600);
    struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    struct al_review_connection *connection;
    struct al_review_entry entry;
    int pair[2];

    fuzz_require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
    fuzz_require(al_review_begin(queue, &request, NULL, NULL, &entry));
    connection = al_review_connection_new(queue, &no_page, pair[0]);
    converse(connection, pair[1], data, size);
    al_review_connection_free(connection);
    al_close(pair[1]);
    fuzz_require(!al_review_is_attached(queue));
    fuzz_require(al_review_has(queue, entry.id));
    fuzz_require(al_review_end(queue, &entry, &answer) == AL_REVIEW_WAITS);
    al_review_queue_free(queue);
    return 0;
}
