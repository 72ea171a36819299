// SPDX-License-Identifier: Apache-2.0
/*
 * The way of the messages for one request: to standard output, or into its HTTP response.
 *
 *   message                                          function
 *   progress of a request, a question to the client  al_sink_send(), any number of times
 *   the answer, or that there is none                al_sink_answer(), once for each request
 *   no answer, but messages as long as it is open    al_sink_stay_open(), instead of an answer
 *
 * Threads: any.  No function blocks, so the callers may hold locks of their own.
 */
#ifndef AL_BASE_SINK_H
#define AL_BASE_SINK_H

#include <stdbool.h>

#include "base/jsonrpc.h"
#include "base/str.h"

/** The answer to a request. */
struct al_rpc_answer {
    struct al_str *line;   /**< without a line end; NULL: the request is not answered */
    enum al_rpc_code code; /**< of an error; AL_RPC_OK: a result, a batch, or nothing */
    bool is_busy;          /**< an error that the same request may not meet later: too much runs */
};

/** The first member of what implements it. */
struct al_message_sink {
    /** Send a message before the answer.  The line is borrowed and may be changed. */
    void (*send)(struct al_message_sink *sink, struct al_str *line);
    /** Answer.  The caller does not use the sink for this request again. */
    void (*answer)(struct al_message_sink *sink, const struct al_rpc_answer *answer);
    /** The request gets messages, but no answer.  NULL: the sink is open anyway. */
    void (*stay_open)(struct al_message_sink *sink);
};

/** Send a message before the answer. */
static inline void al_sink_send(struct al_message_sink *sink, struct al_str *line)
{
    sink->send(sink, line);
}

/** Answer, once for each request. */
static inline void al_sink_answer(struct al_message_sink *sink, const struct al_rpc_answer *answer)
{
    sink->answer(sink, answer);
}

/** Keep the sink open for messages of a request that is not answered. */
static inline void al_sink_stay_open(struct al_message_sink *sink)
{
    if (sink->stay_open)
        sink->stay_open(sink);
}

#endif
