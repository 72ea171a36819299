// SPDX-License-Identifier: Apache-2.0
/*
 * A call pipeline without git: al_call_run() over six toy tools, so that the server's threads can
 * be tested alone.
 *
 *   echo  gives its arguments back
 *   gate  waits until a test opens the gate, or the call is cancelled
 *   ask   asks the approvers in order and gives the answer
 *   big   gives `bytes` bytes
 *   look  waits like gate, but does no more than read
 *   stuck waits for fake_free_stuck() whatever happens, and only reads
 */
#ifndef TESTS_MCP_FAKE_PIPELINE_H
#define TESTS_MCP_FAKE_PIPELINE_H

#include <stddef.h>

struct al_session;

/* A session with the toy tools, as if the process had just begun. */
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
