// SPDX-License-Identifier: Apache-2.0
/* The user's pager between our standard output and the terminal. */
#ifndef AL_CLI_PAGER_H
#define AL_CLI_PAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** A running pager; pid -1: there is none. */
struct al_pager {
    pid_t pid;
};

#define AL_PAGER_INIT ((struct al_pager){ .pid = -1 })

/**
 * From here on standard output goes through $PAGER, or `less -FRX` when that is not set, as git
 * does it.  Nothing happens where standard output is no terminal, TERM is "dumb", PAGER is "" or
 * "cat", or there is no such program.  What depends on the terminal (width, colours) is asked
 * before.
 *
 * @param at_end  less begins at the end of the text, which does not fit on the screen.
 */
void al_pager_start(struct al_pager *pager, bool at_end);

/** End the output and wait until the user has left the pager. */
void al_pager_end(struct al_pager *pager);

/**
 * Show a text on a terminal, through the same pager, and wait until the user has left it.  Without
 * a pager it is written there.
 *
 * @param fd  The terminal; the pager's standard output.
 */
void al_pager_show(int fd, const char *text, size_t len);

#endif
