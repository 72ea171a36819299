// SPDX-License-Identifier: Apache-2.0
/* What an endpoint consists of; for mcp/http/endpoint.c and mcp/http/post.c. */
#ifndef AL_MCP_HTTP_ENDPOINT_STATE_H
#define AL_MCP_HTTP_ENDPOINT_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "mcp/http/account.h"
#include "mcp/http/endpoint.h"
#include "mcp/pool.h"
#include "mcp/service.h"

struct al_endpoint {
    struct al_service service;
    struct al_accounts accounts;
    struct al_pool *pool;
    int drain_ms;
    atomic_bool draining; /**< no request is served any more */

    pthread_t ticker;    /**< sends progress and ends idle sessions */
    int wake_fd;         /**< eventfd that wakes it */
    atomic_bool stopped; /**< it is to end */
};

#endif
