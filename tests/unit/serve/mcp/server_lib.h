// SPDX-License-Identifier: Apache-2.0
/* Fixtures for tests of the server: one with fake tools, over pipes or sockets. */
#ifndef TESTS_UNIT_MCP_SERVER_LIB_H
#define TESTS_UNIT_MCP_SERVER_LIB_H

#include "tests/lib/assert.h"
#include "tests/mcp/client.h"
#include "tests/mcp/fake_pipeline.h"

#define CALL                                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\"}}"

static inline int setup(void **state)
{
    *state = client_start(fake_session(), false);
    return 0;
}

static inline int setup_sockets(void **state)
{
    *state = client_start(fake_session(), true);
    return 0;
}

static inline int teardown(void **state)
{
    client_finish(*state);
    return 0;
}

/* For tests that end the server themselves. */
static inline int no_teardown(void **state)
{
    (void)state;
    return 0;
}

#define SERVER_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define SOCKET_TEST(name) cmocka_unit_test_setup_teardown(name, setup_sockets, teardown)
#define ENDING_TEST(name) cmocka_unit_test_setup_teardown(name, setup, no_teardown)

#endif
