// SPDX-License-Identifier: Apache-2.0
/* Orderly termination on SIGINT, SIGTERM and SIGHUP. */
#ifndef AL_CLI_SIGNALS_H
#define AL_CLI_SIGNALS_H

#include "cli/setup.h"
#include "proc/cancel.h"

/**
 * Start the thread that receives the three signals.  Call before any other thread is started.
 *
 *   first signal, with `cancel`   fires `cancel`; the process goes on
 *   any other signal              kills the children, removes the session's private files and ends
 *                                 the process with 128 + the signal's number
 *
 * The thread also serves the questions of the session (al_setup_review()).
 *
 * @param setup   Must stay valid until al_signals_forget().
 * @param cancel  NULL or a reference, which is taken over and kept until the process ends.
 */
void al_signals_handle(const struct al_setup *setup, struct al_cancel *cancel);

/** Block the three signals, for a server that waits for signals itself.  Call before any other
 * thread is started.  `setup` as for al_signals_handle(). */
void al_signals_block(const struct al_setup *setup);

/** Wait for one of the blocked signals, serve the questions of the session meanwhile, and return
 * its number. */
int al_signals_wait(void);

/** The end of such a server: another SIGINT or SIGTERM ends the process at once, as
 * al_signals_handle() says; SIGHUP is left pending. */
void al_signals_handle_end(const struct al_setup *setup);

/** Leave signals as they are: the thread only serves the questions of the session. */
void al_signals_leave(const struct al_setup *setup);

/** The signal that fired `cancel`; 0: none has. */
int al_signals_caught(void);

/** From now on a signal does not touch the session, which may then be released.  Does not return
 * while a signal is ending the process. */
void al_signals_forget(void);

#endif
