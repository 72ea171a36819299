// SPDX-License-Identifier: Apache-2.0
/*
 * A call pipeline without git, to test the server's threads alone: al_call_run() with seven tools.
 *
 *   tool   read-only  what it does
 *   echo   yes        returns its arguments
 *   gate   no         waits until a test opens the gate or the call is cancelled
 *   ask    yes        asks the approver and returns the answer
 *   big    yes        returns `bytes` bytes
 *   look   yes        waits like gate
 *   stuck  yes        waits for fake_free_stuck(), even when cancelled
 *   change no         waits like gate, and is said to change something
 */
#ifndef TESTS_MCP_FAKE_PIPELINE_H
#define TESTS_MCP_FAKE_PIPELINE_H

#include <stddef.h>

struct al_session;

/* A session with these tools; all counters are 0 again. */
const struct al_session *fake_session(void);

/* Wait until `count` calls have reached the gate since fake_session(). */
void fake_wait_at_gate(unsigned count);

/* Let `count` calls through. */
void fake_open_gate(unsigned count);

/* Let one stuck call go on. */
void fake_free_stuck(void);

/* Wait until `count` calls have seen their cancellation. */
void fake_wait_cancelled(unsigned count);

/* Calls of any tool since fake_session(). */
unsigned fake_calls(void);

/* Threads that ran them. */
unsigned fake_threads(void);

#endif
