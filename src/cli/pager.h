// SPDX-License-Identifier: Apache-2.0
/* The user's pager between standard output and the terminal. */
#ifndef AL_CLI_PAGER_H
#define AL_CLI_PAGER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/**
 * Print the output of a command through $PAGER, or through `less -FRX` when that is unset, like
 * git.
 *
 * No pager is started when standard output is not a terminal, when TERM is "dumb", when PAGER is ""
 * or "cat", or when the program does not exist.
 *
 * @param at_end  Let less begin at the end of a text that exceeds the screen.
 */
void al_pager_print(const struct al_str *text, bool at_end);

/**
 * Show a text in the same pager and wait until the user has left it.  Write it without a pager.
 *
 * @param fd  The terminal; becomes the pager's standard output.
 */
void al_pager_show(int fd, const char *text, size_t len);

#endif
