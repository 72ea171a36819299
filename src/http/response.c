// SPDX-License-Identifier: Apache-2.0
#include "http/response.h"

#include "http/loop.h"
#include "util/clock.h"

/* A body up to this size is written together with the headers.  A larger one is written in blocks
 * of this size, so that a client that takes some of it is seen to. */
#define BLOCK_BYTES ((size_t)64 * 1024)

static ssize_t on_take(void *cls, uint64_t position, char *ret_bytes, size_t max)
{
    struct al_http_exchange *exchange = cls;
    struct al_http_connection *connection = exchange->connection;
    int64_t r = connection->cut ? -2 : al_http_exchange_take(exchange, ret_bytes, max);

    (void)position;
    if (r == -1)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (r < 0)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (r > 0) {
        connection->taken_bytes += (uint64_t)r;
        al_http_connection_enter(connection, AL_HTTP_WRITING);
        return (ssize_t)r;
    }
    /* See respond_or_wait(). */
    if (!connection->yielded) {
        connection->yielded = true;
        return 0;
    }
    connection->suspended = true;
    connection->server->library->suspend_connection(connection->library);
    return 0;
}

static struct MHD_Response *make(struct al_http_exchange *exchange)
{
    const struct al_http_library *library = exchange->server->library;

    if (exchange->stream)
        return library->create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, on_take, exchange,
                                                      NULL);
    if (exchange->out.len > BLOCK_BYTES)
        return library->create_response_from_callback(exchange->out.len, BLOCK_BYTES, on_take,
                                                      exchange, NULL);
    /* The buffer stays until the library says that the response is out. */
    return library->create_response_from_buffer(exchange->out.len, exchange->out.buf,
                                                MHD_RESPMEM_PERSISTENT);
}

enum MHD_Result al_http_respond(struct al_http_exchange *exchange)
{
    const struct al_http_library *library = exchange->server->library;
    struct al_http_connection *connection = exchange->connection;
    struct MHD_Response *response = make(exchange);
    enum MHD_Result r = response ? MHD_YES : MHD_NO;

    for (size_t i = 0; r == MHD_YES && i < exchange->names.count; i++)
        r = library->add_response_header(response, exchange->names.items[i],
                                         exchange->values.items[i]);
    if (r == MHD_YES && (exchange->close || exchange->server->draining))
        r = library->add_response_header(response, "Connection", "close");
    exchange->responding = true;
    al_http_connection_enter(connection, AL_HTTP_WRITING);
    if (r == MHD_YES)
        r = library->queue_response(connection->library, exchange->status, response);
    if (response)
        library->destroy_response(response);
    return r;
}
